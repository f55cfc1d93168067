// Computes sizes of tensors without overflow.
#include "compiler/importer/ElementType.h"
#include "compiler/support/ElementTypes.h"
#include "llvm/Support/MathExtras.h"

namespace ingot::importer {

llvm::StringRef elementName(int32_t type) { return support::elementType(type).name; }

unsigned elementBits(int32_t type) { return support::elementType(type).bits; }

std::optional<int64_t> byteCount(int32_t type, int64_t elements) {
  int64_t bits = 0;
  if (elementBits(type) == 0 || llvm::MulOverflow<int64_t>(elements, elementBits(type), bits)) {
    return std::nullopt;
  }
  return bits / 8 + (bits % 8 != 0);
}

} // namespace ingot::importer
