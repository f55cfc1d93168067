#include "compiler/support/Dims.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

namespace ingot::support {

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

std::string dimsText(llvm::ArrayRef<int64_t> dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size() && i < 12; ++i) {
    text += (i ? ", " : "") + std::to_string(dims[i]);
  }
  return text + (dims.size() > 12 ? ", ...]" : "]");
}

} // namespace ingot::support
