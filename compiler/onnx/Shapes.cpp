#include "compiler/onnx/Shapes.h"
#include <algorithm>

using namespace mlir;

namespace ingot::onnx {

RankedTensorType tensorOf(ArrayRef<int64_t> shape, Type element) { return RankedTensorType::get(shape, element); }
UnrankedTensorType unrankedOf(Type element) { return UnrankedTensorType::get(element); }

std::optional<SmallVector<int64_t>> broadcast(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  SmallVector<int64_t> result(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < result.size(); ++i) {
    int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1, y = i < b.size() ? b[b.size() - 1 - i] : 1;
    int64_t &r = result[result.size() - 1 - i];
    if (x == y || y == 1) {
      r = x;
    } else if (x == 1) {
      r = y;
    } else if (ShapedType::isDynamic(x) || ShapedType::isDynamic(y)) {
      r = ShapedType::isDynamic(x) ? y : x; // the known one, which is not 1, decides
    } else {
      return std::nullopt;
    }
  }
  return result;
}

std::optional<int64_t> normalAxis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) {
    return std::nullopt;
  }
  return axis < 0 ? axis + rank : axis;
}

int64_t elements(ArrayRef<int64_t> shape) {
  int64_t n = 1;
  for (int64_t d : shape) {
    n *= d;
  }
  return n;
}

int64_t elementBytes(Type element) {
  if (element.isInteger(1)) {
    return 1;
  }
  return (element.getIntOrFloatBitWidth() + 7) / 8;
}

} // namespace ingot::onnx
