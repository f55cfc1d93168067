// Sizes of tensors, computed without overflow.
#include "compiler/importer/ElementType.h"
#include "compiler/support/ElementTypes.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

namespace ingot::importer {

llvm::StringRef elementName(int32_t type) { return support::elementType(type).name; }

unsigned elementBits(int32_t type) { return support::elementType(type).bits; }

std::optional<int64_t> elementCount(llvm::ArrayRef<int64_t> dims) {
  int64_t product = 1;
  bool zero = false;
  for (int64_t dim : dims) {
    if (dim < 0) {
      return std::nullopt;
    }
    zero |= dim == 0;
    if (llvm::MulOverflow(product, std::max<int64_t>(dim, 1), product)) {
      return std::nullopt;
    }
  }
  return zero ? 0 : product;
}

std::optional<int64_t> byteCount(int32_t type, int64_t elements) {
  int64_t bits = 0;
  if (elementBits(type) == 0 || llvm::MulOverflow<int64_t>(elements, elementBits(type), bits)) {
    return std::nullopt;
  }
  return bits / 8 + (bits % 8 != 0);
}

std::string dimsText(llvm::ArrayRef<int64_t> dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size() && i < 12; ++i) {
    text += (i ? ", " : "") + std::to_string(dims[i]);
  }
  return text + (dims.size() > 12 ? ", ...]" : "]");
}

} // namespace ingot::importer
