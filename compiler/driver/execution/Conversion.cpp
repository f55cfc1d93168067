#include "compiler/driver/execution/Conversion.h"
#include "compiler/driver/Text.h"
#include "compiler/support/ElementTypes.h"
#include "compiler/support/Number.h"
#include <bit>
#include <cmath>
#include <cstring>

namespace ingot::driver {
namespace {

using support::ElementKind;
using support::ElementType;

bool isNumber(const ElementType &type) {
  bool isKind = type.isFloat() || type.kind == ElementKind::Signed || type.kind == ElementKind::Unsigned ||
                type.kind == ElementKind::Bool;
  return isKind && type.bits >= 8;
}

/// An element as a float, and as an integer where it is one: 64 bits of an integer do not fit a double.
struct Element {
  double real = 0;
  uint64_t whole = 0; ///< its bits, extended by its sign
  bool isInteger = false, isNegative = false;
};

Element decode(const ElementType &type, uint64_t bits) {
  if (type.isFloat()) {
    double real = type.bits == 64 ? std::bit_cast<double>(bits) : type.format.decode(bits);
    constexpr double kMost = 18446744073709551616.0; // 2^64
    bool isInteger = real == std::trunc(real) && std::fabs(real) < kMost / 2;
    return {real, isInteger ? uint64_t(int64_t(real)) : 0, isInteger, real < 0};
  }
  if (type.kind == ElementKind::Signed) {
    auto whole = int64_t(bits << (64 - type.bits)) >> (64 - type.bits);
    return {double(whole), uint64_t(whole), true, whole < 0};
  }
  return {double(bits), bits, true, false};
}

/// Returns whether an integer or boolean type holds an element as it is.
bool holds(const ElementType &type, const Element &element) {
  if (!element.isInteger) {
    return false;
  }
  if (type.kind == ElementKind::Bool) {
    return !element.isNegative && element.whole <= 1;
  }
  bool isSigned = type.kind == ElementKind::Signed;
  if (element.isNegative) {
    return isSigned && int64_t(element.whole) >= -(int64_t(1) << (type.bits - 1));
  }
  return element.whole <= (isSigned ? (uint64_t(1) << (type.bits - 1)) - 1 : ~uint64_t(0) >> (64 - type.bits));
}

uint64_t encode(const ElementType &type, const Element &element) {
  if (!type.isFloat()) {
    return element.whole;
  }
  return type.bits == 64 ? std::bit_cast<uint64_t>(element.real) : type.format.encode(element.real);
}

} // namespace

llvm::Expected<importer::HostTensor> convertedTo(int32_t number, const importer::HostTensor &tensor) {
  const ElementType &from = support::elementType(tensor.type), &to = support::elementType(number);
  if (!isNumber(from) || !isNumber(to)) {
    return llvm::createStringError("has elements of " + from.name + ", which cannot be converted to " + to.name);
  }
  importer::HostTensor result = tensor;
  result.type = number;
  size_t read = from.bits / 8, written = to.bits / 8, count = tensor.bytes.size() / read;
  result.bytes.assign(count * written, 0);
  for (size_t i = 0; i < count; ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, tensor.bytes.data() + i * read, read);
    Element element = decode(from, bits);
    if (!to.isFloat() && !holds(to, element)) {
      return llvm::createStringError("has " + numberText(element.real) + ", which " + to.name + " cannot hold");
    }
    uint64_t code = encode(to, element);
    bool isLost = to.isFloat() && std::isfinite(element.real) && !std::isfinite(decode(to, code).real);
    if (isLost) {
      return llvm::createStringError("has " + numberText(element.real) + ", which is beyond " + to.name);
    }
    std::memcpy(result.bytes.data() + i * written, &code, written);
  }
  return result;
}

} // namespace ingot::driver
