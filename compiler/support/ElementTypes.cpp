#include "compiler/support/ElementTypes.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <limits>

namespace ingot::support {

using enum ElementKind;

static constexpr ElementType table[] = {
    {0, ElementKind::None, 0, "", "", "", {}},
    {1, Float, 32, "float32", "float", "float", {8, 23, 127}},
    {2, Unsigned, 8, "uint8", "uint8_t", "std::uint8_t", {}},
    {3, Signed, 8, "int8", "int8_t", "std::int8_t", {}},
    {4, Unsigned, 16, "uint16", "uint16_t", "std::uint16_t", {}},
    {5, Signed, 16, "int16", "int16_t", "std::int16_t", {}},
    {6, Signed, 32, "int32", "int32_t", "std::int32_t", {}},
    {7, Signed, 64, "int64", "int64_t", "std::int64_t", {}},
    {8, String, 128, "string", "ingot_string", "String", {}},
    {9, Bool, 8, "bool", "uint8_t", "bool", {}},
    {10, Float, 16, "float16", "uint16_t", "Float16", {5, 10, 15}},
    {11, Float, 64, "float64", "double", "double", {11, 52, 1023}},
    {12, Unsigned, 32, "uint32", "uint32_t", "std::uint32_t", {}},
    {13, Unsigned, 64, "uint64", "uint64_t", "std::uint64_t", {}},
    {14, Complex, 64, "complex64", "", "", {}},
    {15, Complex, 128, "complex128", "", "", {}},
    {16, Float, 16, "bfloat16", "uint16_t", "BFloat16", {8, 7, 127}},
    {17, Float, 8, "float8e4m3fn", "uint8_t", "Float8E4M3FN", {4, 3, 7, Specials::OneNaN}},
    {18, Float, 8, "float8e4m3fnuz", "uint8_t", "Float8E4M3FNUZ", {4, 3, 8, Specials::Unsigned}},
    {19, Float, 8, "float8e5m2", "uint8_t", "Float8E5M2", {5, 2, 15}},
    {20, Float, 8, "float8e5m2fnuz", "uint8_t", "Float8E5M2FNUZ", {5, 2, 16, Specials::Unsigned}},
    {21, Unsigned, 4, "uint4", "uint8_t", "UInt4x2", {}},
    {22, Signed, 4, "int4", "uint8_t", "Int4x2", {}},
    {23, Float, 4, "float4e2m1", "uint8_t", "Float4E2M1x2", {2, 1, 1, Specials::None}},
    {24, Float, 8, "float8e8m0", "uint8_t", "Float8E8M0", {8, 0, 127, Specials::Powers}},
    {25, Unsigned, 2, "uint2", "uint8_t", "UInt2x4", {}},
    {26, Signed, 2, "int2", "uint8_t", "Int2x4", {}},
};

llvm::ArrayRef<ElementType> elementTypes() { return table; }

const ElementType &elementType(int32_t number) {
  return table[number > 0 && number < static_cast<int32_t>(std::size(table)) ? number : 0];
}

const ElementType &elementType(const llvm::fltSemantics &semantics) {
  const auto *row = llvm::find_if(table, [&](const ElementType &row) {
    bool power = row.format.specials == Specials::Powers;
    return row.isFloat() && row.bits == llvm::APFloat::semanticsSizeInBits(semantics) &&
           row.format.mantissa + 1 == llvm::APFloat::semanticsPrecision(semantics) &&
           (power || 1 - row.format.bias == llvm::APFloat::semanticsMinExponent(semantics));
  });
  return row == std::end(table) ? table[0] : *row;
}

uint64_t FloatFormat::nan() const {
  switch (specials) {
  case Specials::Ieee: // a quiet NaN has the mantissa's highest bit
    return (((uint64_t(1) << exponent) - 1) << mantissa) | uint64_t(1) << (mantissa - 1);
  case Specials::Unsigned:
    return uint64_t(1) << (bits() - 1);
  default:
    return magnitudeMask();
  }
}

uint64_t FloatFormat::largestCode() const {
  switch (specials) {
  case Specials::Ieee:
    return (((uint64_t(1) << exponent) - 1) << mantissa) - 1;
  case Specials::OneNaN:
  case Specials::Powers:
    return magnitudeMask() - 1;
  default:
    return magnitudeMask();
  }
}

double FloatFormat::largest() const { return decode(largestCode()); }

double FloatFormat::decode(uint64_t code) const {
  if (specials == Specials::Powers) {
    return code == nan() ? NAN : std::ldexp(1.0, static_cast<int>(code) - bias);
  }
  bool negative = code >> (bits() - 1) & 1;
  uint64_t magnitude = code & magnitudeMask(), fraction = magnitude & ((uint64_t(1) << mantissa) - 1);
  int power = static_cast<int>(magnitude >> mantissa);
  if ((specials == Specials::Unsigned && code == nan()) ||
      (specials == Specials::OneNaN && magnitude == magnitudeMask())) {
    return NAN;
  }
  if (specials == Specials::Ieee && magnitude > largestCode()) {
    double infinity = std::numeric_limits<double>::infinity();
    return fraction ? NAN : negative ? -infinity : infinity;
  }
  double value = power
                     ? std::ldexp(static_cast<double>(fraction | uint64_t(1) << mantissa), power - bias - int(mantissa))
                     : std::ldexp(static_cast<double>(fraction), 1 - bias - int(mantissa));
  return negative ? -value : value;
}

uint64_t FloatFormat::encode(double value) const {
  bool negative = std::signbit(value);
  if (std::isnan(value)) {
    return hasNaN() ? nan() : uint64_t(1) << (bits() - 1);
  }
  double magnitude = std::fabs(value);
  if (specials == Specials::Powers) {
    int power = magnitude == 0 || negative ? -bias : std::isinf(magnitude) ? bias + 1 : std::ilogb(magnitude);
    power += magnitude >= std::ldexp(1.5, power) && !std::isinf(magnitude); // ties are rounded away from zero
    return power > bias ? nan() : static_cast<uint64_t>(std::max(power, -bias) + bias);
  }
  uint64_t code = largestCode() + 1; // the code of a value that is too large
  if (std::isfinite(magnitude)) {
    // The last bit of the result is worth 2^unit; rounding up may carry into the exponent, which is right as it is.
    int power = magnitude == 0 ? 1 - bias : std::max(std::ilogb(magnitude), 1 - bias), unit = power - int(mantissa);
    auto digits = static_cast<uint64_t>(std::nearbyint(std::ldexp(magnitude, -unit)));
    code = (static_cast<uint64_t>(power + bias - 1) << mantissa) + digits;
  }
  if (code > largestCode()) {
    code = hasInfinity() ? largestCode() + 1 : hasNaN() ? nan() : largestCode();
    if (specials == Specials::Unsigned) {
      return code;
    }
  }
  bool zeroWithoutSign = code == 0 && specials == Specials::Unsigned;
  return code | (negative && !zeroWithoutSign ? uint64_t(1) << (bits() - 1) : 0);
}

} // namespace ingot::support
