// The table of element types: ONNX's numbers (TensorProto.DataType), bits, names, and the formats of floats with their
// conversion to and from double. An element type is added by a row here and by its MLIR type in
// compiler/onnx/ElementTypes.cpp.
//
// In memory an element takes its bits rounded up to bytes. Types below a byte are packed as ONNX packs them, the first
// element in the lowest bits, in what the caller passes and gets; inside of a run each has a byte of its own. Floats
// narrower than 32 bits are computed in float32, values in registers are float32, and what is summed is summed in it.
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
  Ieee,     ///< infinities and NaNs have the highest exponent
  OneNaN,   ///< no infinity; NaN is all ones behind the sign
  Unsigned, ///< no infinity, no negative zero; NaN has the code that it would have ("UZ")
  None,     ///< numbers only
  Powers,   ///< no sign, no mantissa, no zero: powers of two, and NaN in the highest code
};

/// The bits of a float from the highest: a sign, an exponent, a mantissa.
struct FloatFormat {
  unsigned exponent = 0, mantissa = 0;
  int bias = 0;
  Specials specials = Specials::Ieee;

  unsigned bits() const { return exponent + mantissa + (specials == Specials::Powers ? 0 : 1); }
  uint64_t magnitudeMask() const { return (uint64_t(1) << (exponent + mantissa)) - 1; }
  bool hasInfinity() const { return specials == Specials::Ieee; }
  bool hasNaN() const { return specials != Specials::None; }
  uint64_t nan() const;         ///< a code of NaN, where there is one
  uint64_t largestCode() const; ///< of the largest number
  double largest() const;

  double decode(uint64_t code) const;
  /// The nearest, ties to even. What is too large is infinity, or NaN, or where there is neither the largest number.
  /// NaN becomes -0 where there is none.
  uint64_t encode(double value) const;
};

enum class ElementKind : uint8_t { None, Float, Signed, Unsigned, Bool, Complex, String };

struct ElementType {
  int32_t number; ///< ONNX's
  ElementKind kind;
  unsigned bits;        ///< of an element at the interface of a model, and (but for strings) in a file; 0: none
  llvm::StringRef name; ///< ONNX's and numpy's
  llvm::StringRef c;    ///< of one element, or of a byte with several; empty: not at an interface
  llvm::StringRef cpp;  ///< the same in ingot.hpp, in namespace std or ingot
  FloatFormat format;   ///< of floats

  bool isFloat() const { return kind == ElementKind::Float; }
  /// A float with fewer bits than it is computed in.
  bool isNarrowFloat() const { return isFloat() && bits < 32; }
  /// Several elements share a byte.
  bool isPacked() const { return bits != 0 && bits < 8; }
  int64_t pack() const { return isPacked() ? 8 / bits : 1; } ///< how many share a byte
};

/// The row of a number; the first row, which has no name, for a number that is not in the table.
const ElementType &elementType(int32_t number);
/// The row of a float as LLVM describes it.
const ElementType &elementType(const llvm::fltSemantics &semantics);
/// All rows, each at the place of its number.
llvm::ArrayRef<ElementType> elementTypes();

} // namespace ingot::support
