#include "compiler/driver/execution/Similarity.h"
#include "compiler/support/ElementTypes.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace ingot::driver {

void Similarity::add(llvm::ArrayRef<float> expected, llvm::ArrayRef<float> got) {
  if (expected.size() != got.size()) { // the size depends on data, so elements have no partner
    lost += int64_t(std::max(expected.size(), got.size()));
    return;
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    double a = expected[i], b = got[i];
    if (!std::isfinite(a) || !std::isfinite(b)) {
      lost += a == b || (std::isnan(a) && std::isnan(b)) ? 0 : 1; // masks are infinite in both
      continue;
    }
    product += a * b, squares += a * a, others += b * b, errors += (a - b) * (a - b);
    ++compared;
  }
}

double Similarity::cosine() const {
  if (lost == 0 && errors == 0) {
    return 1;
  }
  return lost == 0 && squares > 0 && others > 0 ? product / std::sqrt(squares * others) : 0;
}

double Similarity::sqnr() const {
  constexpr double kMost = 200;
  if (lost > 0) {
    return -HUGE_VAL;
  }
  return errors == 0 ? kMost : std::min(kMost, 10 * std::log10(squares / errors));
}

std::string Similarity::text() const {
  if (isEmpty()) {
    return "nothing finite to compare";
  }
  if (lost > 0) {
    return "lost: " + std::to_string(lost) + " of " + std::to_string(compared + lost) +
           " elements are finite, or there, in one of the two models only";
  }
  if (errors > 0 && squares == 0) {
    return "0 in the float model, and not here";
  }
  return isEqual() ? "equal" : llvm::formatv("cosine {0:f6}, {1:f1} dB", cosine(), sqnr()).str();
}

int64_t differing(const importer::HostTensor &expected, const importer::HostTensor &got) {
  bool areStrings = !expected.strings.empty() || !got.strings.empty();
  // The bytes of packed types are compared.
  size_t step = std::max<size_t>(support::elementType(expected.type).bits / 8, 1);
  size_t count = areStrings ? expected.strings.size() : expected.bytes.size() / step;
  if (expected.dims != got.dims || expected.type != got.type) {
    return int64_t(std::max<size_t>(count, 1));
  }
  int64_t differ = 0;
  for (size_t i = 0; i < count; ++i) {
    differ += areStrings ? expected.strings[i] != got.strings[i]
                         : std::memcmp(&expected.bytes[i * step], &got.bytes[i * step], step) != 0;
  }
  return differ;
}

std::vector<float> floatsOf(const importer::HostTensor &tensor) {
  const support::ElementType &type = support::elementType(tensor.type);
  std::vector<float> values;
  if (type.bits < 8) {
    return values;
  }
  size_t step = type.bits / 8;
  values.resize(tensor.bytes.size() / step);
  if (type.isFloat() && type.bits == 32) {
    std::memcpy(values.data(), tensor.bytes.data(), values.size() * step);
    return values;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, tensor.bytes.data() + i * step, step);
    int64_t whole = int64_t(bits << (64 - type.bits)) >> (64 - type.bits);
    values[i] = !type.isFloat()   ? float(type.kind == support::ElementKind::Signed ? double(whole) : double(bits))
                : type.bits == 64 ? float(std::bit_cast<double>(bits))
                                  : float(type.format.decode(bits));
  }
  return values;
}

Floats::Floats(const importer::HostTensor &tensor) {
  const support::ElementType &type = support::elementType(tensor.type);
  if (type.isFloat() && type.bits == 32) {
    elements = {reinterpret_cast<const float *>(tensor.bytes.data()), tensor.bytes.size() / sizeof(float)};
  } else {
    converted = floatsOf(tensor), elements = converted;
  }
}

importer::HostTensor narrowed(const importer::HostTensor &tensor, int32_t type) {
  importer::HostTensor result = tensor;
  result.type = type;
  result.bytes.clear();
  for (float value : floatsOf(tensor)) {
    auto code = uint16_t(support::elementType(type).format.encode(value));
    result.bytes.insert(result.bytes.end(), {char(code), char(code >> 8)});
  }
  return result;
}

} // namespace ingot::driver
