#include "compiler/quantize/Quantize.h"
#include "compiler/onnx/Quantization.h"
#include "compiler/onnx/ops/Quantize.h"

using namespace mlir;

namespace ingot::quantize {

bool isQuantized(func::FuncOp function) {
  return function
      .walk([](Operation *op) {
        return isa<onnx::QuantizeOp, onnx::DequantizeOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult useIntegers(func::FuncOp function, bool strict) {
  onnx::setQuantizationDone(function);
  return success();
}

} // namespace ingot::quantize
