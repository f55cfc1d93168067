// Copies elements between strided views of constants. All movements of constants (Transpose, Slice, Concat, Pad, ...)
// are such copies, and so is gatherStrided(), which makes a constant of the elements that a view sees.
#include "compiler/onnx/constants/Evaluate.h"
#include <cstring>

using namespace mlir;

namespace ingot::onnx {

SmallVector<int64_t> rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size());
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step *= shape[i];
  }
  return strides;
}

Sizes rowMajorStrides(ArrayRef<Size> shape) {
  Sizes strides(shape.size());
  Size step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step = step * shape[i];
  }
  return strides;
}

SmallVector<int64_t> numbersOf(ArrayRef<Size> sizes) {
  return llvm::map_to_vector(sizes, [](const Size &s) { return s.number(); });
}

namespace {
/// A copy in progress: the loops that are left once the contiguous innermost run has been split off.
struct Copy {
  const char *from;
  char *to;
  ArrayRef<int64_t> sizes, sourceStrides, targetStrides;
  int64_t elementBytes, runBytes;

  void run(size_t d, int64_t source, int64_t target) const {
    if (d == sizes.size()) {
      std::memcpy(to + target * elementBytes, from + source * elementBytes, runBytes);
      return;
    }
    for (int64_t i = 0; i < sizes[d]; ++i) {
      run(d + 1, source + i * sourceStrides[d], target + i * targetStrides[d]);
    }
  }
};
} // namespace

/// The innermost axes along which both sides are contiguous become one memcpy. So weights that are only reshaped, or
/// cut along their first axis, are copied at the speed of memory.
void copyStrided(ArrayRef<char> from, const support::Strided<int64_t> &source, MutableArrayRef<char> to,
                 const support::Strided<int64_t> &target, ArrayRef<int64_t> sizes, int64_t elementBytes) {
  if (llvm::is_contained(sizes, 0)) {
    return;
  }
  int64_t run = 1;
  size_t outer = sizes.size();
  while (outer > 0 &&
         (sizes[outer - 1] == 1 || (source.strides[outer - 1] == run && target.strides[outer - 1] == run))) {
    run *= sizes[--outer];
  }
  Copy copy{from.data(),    to.data(),    sizes.take_front(outer), source.strides,
            target.strides, elementBytes, run * elementBytes};
  copy.run(0, source.offset, target.offset);
}

ElementsAttr gatherStrided(ElementsAttr a, RankedTensorType type, const support::Strided<int64_t> &source,
                           ArrayRef<int64_t> sizes) {
  std::vector<char> storage;
  ArrayRef<char> from = bytesOf(a, storage);
  int64_t bytes = elementBytes(type.getElementType());
  std::vector<char> out(elements(sizes) * bytes);
  copyStrided(from, source, out, {0, rowMajorStrides(sizes)}, sizes, bytes);
  return constantFromBytes(type, std::move(out));
}
ElementsAttr gatherStrided(ElementsAttr a, RankedTensorType type, const support::Strided<int64_t> &source) {
  return gatherStrided(a, type, source, type.getShape());
}

/// A resource keeps its bytes, so that a reshaped weight takes no memory a second time.
ElementsAttr reshaped(ElementsAttr a, RankedTensorType type) {
  if (auto dense = dyn_cast<DenseElementsAttr>(a)) {
    return dense.isSplat() ? dense.resizeSplat(type) : dense.reshape(type);
  }
  auto resource = cast<DenseResourceElementsAttr>(a);
  return DenseResourceElementsAttr::get(type, resource.getRawHandle());
}

ElementsAttr splatConstant(RankedTensorType type, ElementsAttr one) {
  std::vector<char> storage;
  ArrayRef<char> bytes = bytesOf(one, storage);
  auto dense =
      cast<DenseElementsAttr>(constantFromBytes(tensorOf({1}, type.getElementType()), {bytes.begin(), bytes.end()}));
  return type.getNumElements() == 0 ? constantFromBytes(type, {}) : ElementsAttr(dense.resizeSplat(type));
}

} // namespace ingot::onnx
