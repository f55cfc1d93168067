// Looks up constants: it walks over the points of the space as an odometer counts, the last axis fastest.
#include "compiler/onnx/elements/Lookup.h"
#include "compiler/onnx/sizes/Shapes.h"

namespace ingot::onnx {

std::optional<std::vector<int64_t>> offsetsOf(const Lookup &lookup, llvm::ArrayRef<int64_t> shape,
                                              llvm::ArrayRef<int64_t> indices) {
  std::vector<int64_t> offsets(elements(shape));
  llvm::SmallVector<int64_t> at(shape.size(), 0);
  for (int64_t &offset : offsets) {
    int64_t where = 0;
    offset = 0;
    for (size_t d = 0; d < at.size(); ++d) {
      offset += at[d] * lookup.dataStrides[d].number();
      where += at[d] * lookup.indexStrides[d].number();
    }
    for (const Lookup::Part &part : lookup.parts) {
      int64_t index = indices[where + part.offset], size = part.size.number();
      if (index < -size || index >= size) {
        return std::nullopt;
      }
      offset += (index < 0 ? index + size : index) * part.stride.number();
    }
    for (size_t d = at.size(); d-- > 0 && ++at[d] == shape[d];) {
      at[d] = 0;
    }
  }
  return offsets;
}

} // namespace ingot::onnx
