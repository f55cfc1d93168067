// Has the table of element types: ONNX's numbers (TensorProto.DataType), bits, names, and the formats of floats with
// their conversion to and from double. An element type is added by a row here and by its MLIR type in
// compiler/onnx/ElementTypes.cpp.
//
// In memory an element takes its bits rounded up to bytes. What the caller passes and gets has types below a byte
// packed as ONNX packs them, with the first element in the lowest bits; inside of a run each element has a byte of its
// own. Floats narrower than 32 bits are computed and summed in float32, which is also their type in registers.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace llvm {
struct fltSemantics;
}

namespace ingot::support {

/// What the codes of a float mean besides numbers.
enum class Specials : uint8_t {
  Ieee,     ///< infinities and NaNs have the highest exponent, as IEEE 754 has it
  OneNaN,   ///< no infinity; NaN has all ones behind the sign
  Unsigned, ///< no infinity, no negative zero; NaN has the code that negative zero would have ("UZ")
  None,     ///< numbers only
  Powers,   ///< no sign, no mantissa, no zero: powers of two, and NaN in the highest code
};

/// The format of a float. From the highest bit it has a sign, `exponent` bits and `mantissa` bits. A normal number with
/// the codes e and m there is (1 + m / 2^mantissa) * 2^(e - bias).
struct FloatFormat {
  unsigned exponent = 0, mantissa = 0;
  int bias = 0;
  Specials specials = Specials::Ieee;

  unsigned bits() const { return exponent + mantissa + (specials == Specials::Powers ? 0 : 1); }
  uint64_t magnitudeMask() const { return (uint64_t(1) << (exponent + mantissa)) - 1; }
  bool hasInfinity() const { return specials == Specials::Ieee; }
  bool hasNaN() const { return specials != Specials::None; }
  uint64_t nan() const;         ///< a code of NaN, if the format has one
  uint64_t largestCode() const; ///< the code of the largest number
  double largest() const;

  double decode(uint64_t code) const;
  /// Returns the code of the nearest number, ties to even. A value that is too large becomes infinity, or NaN, or the
  /// largest number, whichever of them the format has first. NaN becomes -0 where the format has none.
  uint64_t encode(double value) const;
};

/// What the elements of a type are.
enum class ElementKind : uint8_t { None, Float, Signed, Unsigned, Bool, Complex, String };

/// A row of the table.
struct ElementType {
  int32_t number; ///< ONNX's number of the type
  ElementKind kind;
  unsigned bits;        ///< bits of an element at the interface of a model, and (but for strings) in a file; 0: none
  llvm::StringRef name; ///< the name that ONNX and numpy use
  llvm::StringRef c;    ///< C's type of one element, or of a byte with several; empty: not at an interface
  llvm::StringRef cpp;  ///< the type in ingot.hpp of what `c` is, in namespace std or ingot
  FloatFormat format;   ///< the format of a float

  bool isFloat() const { return kind == ElementKind::Float; }
  /// Returns whether this is a float with fewer bits than it is computed in.
  bool isNarrowFloat() const { return isFloat() && bits < 32; }
  /// Returns whether several elements share a byte.
  bool isPacked() const { return bits != 0 && bits < 8; }
  int64_t pack() const { return isPacked() ? 8 / bits : 1; } ///< how many elements share a byte
};

/// Returns the row of a number; the first row, which has no name, for a number that is not in the table.
const ElementType &elementType(int32_t number);
/// Returns the row of a float that LLVM describes so.
const ElementType &elementType(const llvm::fltSemantics &semantics);
/// Returns all rows, each at the place of its number.
llvm::ArrayRef<ElementType> elementTypes();

} // namespace ingot::support
