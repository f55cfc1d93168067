// The table of element types, and sizes computed without overflow.
#include "compiler/importer/ElementType.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

namespace ingot::importer {

namespace {
struct Row {
  const char *name;
  unsigned bits;
};
} // namespace

static constexpr Row kTypes[] = {{"", 0},
                                 {"float32", 32},
                                 {"uint8", 8},
                                 {"int8", 8},
                                 {"uint16", 16},
                                 {"int16", 16},
                                 {"int32", 32},
                                 {"int64", 64},
                                 {"string", 0},
                                 {"bool", 8},
                                 {"float16", 16},
                                 {"float64", 64},
                                 {"uint32", 32},
                                 {"uint64", 64},
                                 {"complex64", 64},
                                 {"complex128", 128},
                                 {"bfloat16", 16},
                                 {"float8e4m3fn", 8},
                                 {"float8e4m3fnuz", 8},
                                 {"float8e5m2", 8},
                                 {"float8e5m2fnuz", 8},
                                 {"uint4", 4},
                                 {"int4", 4},
                                 {"float4e2m1", 4},
                                 {"float8e8m0", 8},
                                 {"uint2", 2},
                                 {"int2", 2}};

static const Row &row(int32_t type) {
  return type >= 0 && type < int32_t(std::size(kTypes)) ? kTypes[type] : kTypes[0];
}

llvm::StringRef elementName(int32_t type) { return row(type).name; }

unsigned elementBits(int32_t type) { return row(type).bits; }

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
