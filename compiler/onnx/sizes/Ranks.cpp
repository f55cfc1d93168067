// A result whose sizes are not known still has a rank where an operand, or the length of a list of axes, tells it. A
// rank taken from a length is limited, since a hostile model may give a list as long as memory is large.
#include "compiler/onnx/sizes/Ranks.h"
#include "compiler/onnx/Onnx.h"

using namespace mlir;

namespace ingot::onnx {

Type typeOfRank(std::optional<int64_t> rank, Type element) {
  return rank ? Type(tensorOf(SmallVector<int64_t>(*rank, ShapedType::kDynamic), element)) : unrankedOf(element);
}

FailureOr<Type> typeOfRank(Operation *op, std::optional<int64_t> rank, Type element) {
  constexpr int64_t most = 64; // no model has them, but a list of lengths may be as long as memory is large
  if (rank > most) {
    return op->emitOpError("gives a tensor of ") << *rank << " dimensions, more than " << most << " are unsupported";
  }
  return typeOfRank(rank, element);
}

LogicalResult push(SmallVectorImpl<Type> &types, const FailureOr<Type> &type) {
  return failed(type) ? failure() : (types.push_back(*type), success());
}

std::optional<int64_t> knownRank(Value v) {
  auto type = ranked(v);
  return type ? std::optional(type.getRank()) : std::nullopt;
}

std::optional<int64_t> commonRank(ValueRange values) {
  for (Value v : values) {
    if (auto rank = knownRank(v)) {
      return rank;
    }
  }
  return std::nullopt;
}

std::optional<int64_t> entriesOf(Value list) {
  auto type = present(list) ? ranked(list) : RankedTensorType();
  bool known = type && type.getRank() == 1 && type.hasStaticShape();
  return known ? std::optional(type.getDimSize(0)) : std::nullopt;
}

} // namespace ingot::onnx
