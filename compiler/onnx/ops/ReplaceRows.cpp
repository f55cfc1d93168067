// Infers the type of ReplaceRows: [n, ...] becomes [max(n - removed, 0) + put, ...], where `put` is the number of rows
// put in. Where `removed` depends on data, graph/ReadSizes makes it a size first. The rows must be like the data along
// all other axes.
#include "compiler/onnx/ops/ReplaceRows.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/constants/Constants.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/ReplaceRows.cpp.inc"
#include "compiler/onnx/sizes/Ranks.h"

using namespace mlir;

namespace ingot::onnx {

LogicalResult ReplaceRowsOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto data = ranked(getData()), rows = present(getRows()) ? ranked(getRows()) : RankedTensorType();
  if (!data || (present(getRows()) && !rows)) {
    types.push_back(typeOfRank(knownRank(data ? Value(getData()) : Value(getRows())), elementOf(getData())));
    return success();
  }
  if (data.getRank() == 0 || (rows && rows.getRank() != data.getRank())) {
    return emitOpError("needs rows of the rank of ") << data;
  }
  Sizes sizes = sizesOf(data), put = rows ? sizesOf(rows) : Sizes(sizes.size(), 0);
  sizes[0] = max(sizes[0] - numberIn(getRemoved()), 0) + put[0];
  for (size_t i = 1; rows && i < sizes.size(); ++i) {
    if (failed(require(*this, sizes[i], put[i]))) {
      return emitOpError("has rows that differ along axis ") << i;
    }
  }
  types.push_back(sizedType(sizes, data.getElementType()));
  return success();
}

bool ReplaceRowsOp::isParameter(unsigned operand) { return operand == 3; }

void registerReplaceRows(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/ReplaceRows.cpp.inc"
      >();
}

} // namespace ingot::onnx
