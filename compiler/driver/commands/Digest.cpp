#include "compiler/driver/commands/Digest.h"
#include "compiler/importer/ElementType.h"
#include "compiler/support/ElementTypes.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace ingot::driver {

std::string Digest::digits(llvm::ArrayRef<uint8_t> bytes) { return llvm::toHex(bytes, /*LowerCase=*/true); }

/// Whether the bits of a float are those of a NaN.
static bool isNaN(uint64_t bits, const support::ElementType &type) {
  return std::isnan(type.bits == 64   ? std::bit_cast<double>(bits)
                    : type.bits == 32 ? std::bit_cast<float>(static_cast<uint32_t>(bits))
                                      : type.format.decode(bits));
}

void Digest::add(const importer::HostTensor &tensor) {
  hash.update(importer::elementName(tensor.type).str() + importer::dimsText(tensor.dims) + "\n");
  for (const std::string &string : tensor.strings) {
    hash.update(std::to_string(string.size()) + "\n" + string);
  }
  const support::ElementType &type = support::elementType(tensor.type);
  std::vector<char> bytes(tensor.bytes.begin(), tensor.bytes.end());
  size_t step = type.bits / 8; // floats below a byte have no NaN
  for (size_t at = 0; type.isFloat() && step > 0 && at + step <= bytes.size(); at += step) {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + at, step);
    if (isNaN(bits, type)) {
      std::fill_n(bytes.begin() + at, step, char(0xff));
    }
  }
  hash.update(llvm::StringRef(bytes.data(), bytes.size()));
}

} // namespace ingot::driver
