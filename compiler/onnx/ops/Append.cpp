// Checks that the rows fit into the cache, behind those before them.
//
// Rows of [4, 1, 64] that are put at place n of axis 1 into a cache of [4, 16, 64] require n + 1 <= 16.
#include "compiler/onnx/ops/Append.h"
#include "compiler/onnx/Family.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Append.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

LogicalResult AppendOp::inferTypes(SmallVectorImpl<Type> &types) {
  types.push_back(getCache().getType());
  Sizes cache = sizesOf(ranked(getCache())), rows = sizesOf(ranked(getRows()));
  int64_t axis = getAxis();
  for (auto [i, capacity, n] : llvm::enumerate(cache, rows)) {
    Size end = n + (static_cast<int64_t>(i) == axis ? place() : Size(0));
    if (failed(static_cast<int64_t>(i) == axis ? require(*this, min(capacity, end), end)
                                               : require(*this, capacity, n))) {
      return emitOpError("has rows that do not fit the cache along axis ") << i;
    }
  }
  return success();
}
LogicalResult AppendOp::verify() {
  return getSizes().getValues().size() == 1 ? success() : emitOpError("needs one size, where the rows begin");
}
Size AppendOp::place() { return getSizes().getValues().front(); }

void registerAppend(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Append.cpp.inc"
      >();
}

} // namespace ingot::onnx
