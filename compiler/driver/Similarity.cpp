#include "compiler/driver/Similarity.h"
#include "compiler/support/ElementTypes.h"
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace ingot::driver {

void Similarity::add(llvm::ArrayRef<float> expected, llvm::ArrayRef<float> got) {
  size_t size = std::min(expected.size(), got.size());
  for (size_t i = 0; i < size; ++i) {
    double a = expected[i], b = got[i];
    if (!std::isfinite(a) || !std::isfinite(b)) {
      if (a == b || (std::isnan(a) && std::isnan(b))) {
        continue; // masks are infinite in both
      }
      errors = HUGE_VAL;
      continue;
    }
    product += a * b, squares += a * a, others += b * b, errors += (a - b) * (a - b);
  }
  count += int64_t(size);
}

double Similarity::cosine() const {
  if (errors == 0) {
    return 1;
  }
  return std::isfinite(errors) && squares > 0 && others > 0 ? product / std::sqrt(squares * others) : 0;
}

double Similarity::sqnr() const {
  constexpr double kMost = 200;
  return errors == 0 ? kMost : std::min(kMost, 10 * std::log10(std::max(squares, 1e-300) / errors));
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
