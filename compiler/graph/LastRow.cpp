#include "compiler/graph/LastRow.h"
#include "compiler/onnx/InterfaceAttributes.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/rewriting/Formula.h"
#include "compiler/onnx/sizes/Declared.h"

using namespace mlir;

namespace ingot::graph {

static LogicalResult keepLastRow(func::FuncOp function, StringRef name) {
  auto i = onnx::outputCalled(function, name);
  if (!i) {
    return emitError(function.getLoc(), "--last-row names no output: '") << name << "'";
  }
  Operation *end = function.getBody().front().getTerminator();
  Value v = end->getOperand(*i);
  auto type = onnx::ranked(v);
  if (!type || type.getRank() < 2) {
    return emitError(v.getLoc(), "--last-row: output '") << name << "' has no rows: it needs two axes or more";
  }
  OpBuilder b(end);
  onnx::Formula f(b, v.getLoc());
  end->setOperand(*i, f.op("Gather", {v, onnx::makeIntegers(b, f.loc, {-1})}, {f.integer("axis", type.getRank() - 2)}));
  function.removeResultAttr(*i, StringAttr::get(function.getContext(), onnx::declaredShapeName));
  function.setType(FunctionType::get(function.getContext(), function.getArgumentTypes(), end->getOperandTypes()));
  return success();
}

LogicalResult keepLastRows(func::FuncOp function, ArrayRef<std::string> names) {
  bool ok = true;
  for (const std::string &name : names) {
    ok &= succeeded(keepLastRow(function, name));
  }
  return success(ok);
}

} // namespace ingot::graph
