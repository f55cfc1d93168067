#include "compiler/graph/Declared.h"
#include "compiler/onnx/Declared.h"

using namespace mlir;

namespace ingot::graph {

void forgetDeclared(func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    function.removeResultAttr(i, StringAttr::get(function.getContext(), onnx::declaredShapeName));
  }
}

LogicalResult compareDeclared(func::FuncOp function) {
  bool fits = true;
  Operation *end = function.getBody().front().getTerminator();
  for (auto [i, v] : llvm::enumerate(end->getOperands())) {
    auto declared = function.getResultAttrOfType<DenseI64ArrayAttr>(i, onnx::declaredShapeName);
    auto name = function.getResultAttrOfType<StringAttr>(i, "onnx.name");
    auto type = onnx::ranked(v);
    if (declared && type && onnx::contradicts(type, declared.asArrayRef())) {
      emitError(v.getLoc()) << onnx::contradictionText(name ? name.getValue() : "", type, declared.asArrayRef());
      fits = false;
    }
  }
  forgetDeclared(function);
  return success(fits);
}

} // namespace ingot::graph
