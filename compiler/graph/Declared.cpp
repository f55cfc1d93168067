#include "compiler/graph/Declared.h"
#include "compiler/onnx/InterfaceAttributes.h"
#include "compiler/onnx/sizes/Declared.h"

using namespace mlir;

namespace ingot::graph {

void forgetDeclared(func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    function.removeResultAttr(i, StringAttr::get(function.getContext(), onnx::declaredShapeName));
  }
}

void compareDeclared(func::FuncOp function) {
  Operation *end = function.getBody().front().getTerminator();
  for (auto [i, v] : llvm::enumerate(end->getOperands())) {
    auto declared = function.getResultAttrOfType<DenseI64ArrayAttr>(i, onnx::declaredShapeName);
    auto name = function.getResultAttrOfType<StringAttr>(i, onnx::interfaceName);
    auto type = onnx::ranked(v);
    if (declared && type && onnx::contradicts(type, declared.asArrayRef())) {
      emitWarning(v.getLoc()) << onnx::contradictionText(name ? name.getValue() : "", type, declared.asArrayRef());
    }
  }
  forgetDeclared(function);
}

} // namespace ingot::graph
