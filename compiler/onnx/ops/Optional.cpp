// Makes it a requirement like those on sizes that an optional input is there: the entry gives a symbol that stands for
// it the value 1 or 0, and refuses a run, or a branch, that needs an input which it was not given.
#include "compiler/onnx/ops/Optional.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/Optional.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Optional.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

std::optional<unsigned> optionalInput(Value v) {
  auto argument = dyn_cast_or_null<BlockArgument>(v);
  auto function = argument ? dyn_cast_or_null<FunctionOpInterface>(argument.getOwner()->getParentOp()) : nullptr;
  if (!function || !function.getArgAttr(argument.getArgNumber(), optionalName)) {
    return std::nullopt;
  }
  return argument.getArgNumber();
}

LogicalResult OptionalHasElementOp::inferTypes(SmallVectorImpl<Type> &types) {
  types.push_back(tensorOf({}, IntegerType::get(getContext(), 1)));
  return success();
}

LogicalResult OptionalGetElementOp::inferTypes(SmallVectorImpl<Type> &types) {
  types.push_back(getX().getType());
  std::optional<unsigned> input = optionalInput(getX());
  return input ? require(*this, Symbol::presence(*input), 1) : success();
}
std::optional<Size> OptionalGetElementOp::viewOffset() { return Size(0); }

void registerOptional(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Optional.cpp.inc"
      >();
}

} // namespace ingot::onnx
