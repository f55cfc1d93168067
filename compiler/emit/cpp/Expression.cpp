// Writes operations as expressions of C++ by a table (rows), which has a row for each operation and kind of operand. A
// row is a pattern of text in which `$` introduces a placeholder; the number is that of the operand:
//
//   $0       the operand's expression, in parentheses where the pattern's operator binds tighter
//   $a0      the same expression as an argument of a function or a cast: never in parentheses
//   $s0      the operand as a signed integer
//   $u0      the operand as an unsigned integer
//   $c0      the operand with the sign that it needs beside the other one in a comparison
//   $f0      a 16-bit float, which C++ holds as uint16_t, converted to float; any other operand as $0
//   $T       the result's type
//   $@name$  a call's function, the helper `name` (Helpers.h); $@name$W$ is name32 for a first operand of 32 bits
//   ~        at the beginning: the pattern is a float, which is rounded to the result's type where that has 16 bits
//
// {"arith.addi", Narrow, "$T($0 + $1)"} makes uint8_t(a + b): C++ promotes narrow integers to int, so sums and products
// are cut to their width again.
#include "compiler/emit/cpp/Expression.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include <charconv>

using namespace mlir;

namespace ingot::emit::cpp {

std::string keyOf(Operation *op) {
  std::string key = op->getName().getStringRef().str();
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    return key + " " + arith::stringifyCmpIPredicate(compare.getPredicate()).str();
  }
  if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    return key + " " + arith::stringifyCmpFPredicate(compare.getPredicate()).str();
  }
  return key;
}

namespace {

/// The kinds of operands that have rows of their own: i1, integers below 32 bits, those from 32 bits on, f32 and f64,
/// 16-bit floats, and all else. They are bits, so that a row may serve several.
enum Kind : unsigned { Bit = 1, Narrow = 2, Wide = 4, Real = 8, NarrowFloat = 16, Other = 32 };
constexpr unsigned integers = Narrow | Wide, all = Bit | Narrow | Wide, reals = Real | NarrowFloat;

struct Row {
  const char *op;
  unsigned kinds;         ///< the kinds of the first operand (of a select: the second) that the row is for
  const char *pattern;    ///< see the head of this file
  Rank rank = Rank::Name; ///< the loosest operator of the pattern outside of parentheses
};

// clang-format off
constexpr Row rows[] = {
    {"arith.addi", Wide, "$0 + $1", Rank::Sum},
    {"arith.addi", Narrow, "$T($0 + $1)"},
    {"arith.addi", Bit, "$0 != $1", Rank::Equal},
    {"arith.subi", Wide, "$0 - $1", Rank::Sum},
    {"arith.subi", Narrow, "$T($0 - $1)"},
    {"arith.subi", Bit, "$0 != $1", Rank::Equal},
    {"arith.muli", Wide, "$0 * $1", Rank::Product},
    {"arith.muli", Narrow, "$T(uint32_t($a0) * $1)"},
    {"arith.muli", Bit, "$0 && $1", Rank::LogicalAnd},
    {"arith.divui", integers, "$u0 / $u1", Rank::Product},
    {"arith.remui", integers, "$u0 % $u1", Rank::Product},
    {"arith.divsi", integers, "$T($s0 / $s1)"},
    {"arith.remsi", integers, "$T($s0 % $s1)"},
    {"arith.andi", integers, "$0 & $1", Rank::And},
    {"arith.ori", integers, "$0 | $1", Rank::Or},
    {"arith.xori", integers, "$0 ^ $1", Rank::Xor},
    {"arith.andi", Bit, "$0 && $1", Rank::LogicalAnd},
    {"arith.ori", Bit, "$0 || $1", Rank::LogicalOr},
    {"arith.xori", Bit, "$0 != $1", Rank::Equal},
    {"arith.shli", Wide, "$u0 << $u1", Rank::Shift},
    {"arith.shli", Narrow, "$T(uint32_t($a0) << $1)"},
    {"arith.shrui", integers, "$u0 >> $u1", Rank::Shift},
    {"arith.shrsi", integers, "$T($s0 >> $u1)"},
    {"arith.maxsi", integers, "$@maxSigned$W$($a0, $a1)"},
    {"arith.minsi", integers, "$@minSigned$W$($a0, $a1)"},
    {"arith.maxui", integers, "$@maxUnsigned$W$($a0, $a1)"},
    {"arith.minui", integers, "$@minUnsigned$W$($a0, $a1)"},
    {"arith.maxsi", Bit, "$0 && $1", Rank::LogicalAnd}, // as a signed i1, true is -1
    {"arith.minsi", Bit, "$0 || $1", Rank::LogicalOr},
    {"arith.maxui", Bit, "$0 || $1", Rank::LogicalOr},
    {"arith.minui", Bit, "$0 && $1", Rank::LogicalAnd},
    {"arith.cmpi eq", all, "$c0 == $c1", Rank::Equal},
    {"arith.cmpi ne", all, "$c0 != $c1", Rank::Equal},
    {"arith.cmpi slt", integers, "$s0 < $s1", Rank::Compare},
    {"arith.cmpi sle", integers, "$s0 <= $s1", Rank::Compare},
    {"arith.cmpi sgt", integers, "$s0 > $s1", Rank::Compare},
    {"arith.cmpi sge", integers, "$s0 >= $s1", Rank::Compare},
    {"arith.cmpi ult", integers, "$u0 < $u1", Rank::Compare},
    {"arith.cmpi ule", integers, "$u0 <= $u1", Rank::Compare},
    {"arith.cmpi ugt", integers, "$u0 > $u1", Rank::Compare},
    {"arith.cmpi uge", integers, "$u0 >= $u1", Rank::Compare},
    {"arith.cmpi slt", Bit, "int($a0) > int($a1)", Rank::Compare}, // as a signed i1, true is -1
    {"arith.cmpi sle", Bit, "int($a0) >= int($a1)", Rank::Compare},
    {"arith.cmpi sgt", Bit, "int($a0) < int($a1)", Rank::Compare},
    {"arith.cmpi sge", Bit, "int($a0) <= int($a1)", Rank::Compare},
    {"arith.cmpi ult", Bit, "int($a0) < int($a1)", Rank::Compare},
    {"arith.cmpi ule", Bit, "int($a0) <= int($a1)", Rank::Compare},
    {"arith.cmpi ugt", Bit, "int($a0) > int($a1)", Rank::Compare},
    {"arith.cmpi uge", Bit, "int($a0) >= int($a1)", Rank::Compare},
    {"arith.select", Wide, "$0 ? $c1 : $c2", Rank::Choice},
    {"arith.select", Narrow, "$T($0 ? $1 : $2)"},
    {"arith.select", Bit | reals | Other, "$0 ? $1 : $2", Rank::Choice},
    {"arith.extui", all, "$T($u0)"},
    {"arith.trunci", integers, "$T($a0)"},
    {"arith.sitofp", integers, "~$T($s0)"},
    {"arith.sitofp", Bit, "~-$T($a0)"},
    {"arith.uitofp", integers, "~$T($u0)"},
    {"arith.uitofp", Bit, "~$T($a0)"},
    {"arith.extf", reals, "$T($f0)"},
    {"arith.truncf", reals, "~$T($f0)"},
    {"arith.addf", Real, "$0 + $1", Rank::Sum},
    {"arith.subf", Real, "$0 - $1", Rank::Sum},
    {"arith.mulf", Real, "$0 * $1", Rank::Product},
    {"arith.divf", Real, "$0 / $1", Rank::Product},
    {"arith.addf", NarrowFloat, "~$f0 + $f1"},
    {"arith.subf", NarrowFloat, "~$f0 - $f1"},
    {"arith.mulf", NarrowFloat, "~$f0 * $f1"},
    {"arith.divf", NarrowFloat, "~$f0 / $f1"},
    {"arith.negf", Real, "-$0", Rank::Unary},
    {"arith.negf", NarrowFloat, "$T($0 ^ 0x8000)"},
    {"arith.maximumf", Real, "$@maximum$($a0, $a1)"},
    {"arith.minimumf", Real, "$@minimum$($a0, $a1)"},
    {"arith.maxnumf", Real, "$@maxNumber$($a0, $a1)"},
    {"arith.minnumf", Real, "$@minNumber$($a0, $a1)"},
    {"arith.cmpf oeq", reals, "$f0 == $f1", Rank::Equal},
    {"arith.cmpf une", reals, "$f0 != $f1", Rank::Equal},
    {"arith.cmpf ogt", reals, "$f0 > $f1", Rank::Compare},
    {"arith.cmpf oge", reals, "$f0 >= $f1", Rank::Compare},
    {"arith.cmpf olt", reals, "$f0 < $f1", Rank::Compare},
    {"arith.cmpf ole", reals, "$f0 <= $f1", Rank::Compare},
    {"arith.cmpf ugt", reals, "!($f0 <= $f1)", Rank::Unary},
    {"arith.cmpf uge", reals, "!($f0 < $f1)", Rank::Unary},
    {"arith.cmpf ult", reals, "!($f0 >= $f1)", Rank::Unary},
    {"arith.cmpf ule", reals, "!($f0 > $f1)", Rank::Unary},
    {"arith.cmpf one", reals, "$@isOther$($f0, $f1)"},
    {"arith.cmpf ueq", reals, "!$@isOther$($f0, $f1)", Rank::Unary},
    {"arith.cmpf ord", reals, "$@isOrdered$($f0, $f1)"},
    {"arith.cmpf uno", reals, "!$@isOrdered$($f0, $f1)", Rank::Unary},
    {"math.absf", Real, "std::fabs($a0)"},
    {"math.sqrt", Real, "std::sqrt($a0)"},
    {"math.floor", Real, "std::floor($a0)"},
    {"math.ceil", Real, "std::ceil($a0)"},
    {"math.trunc", Real, "std::trunc($a0)"},
    {"math.round", Real, "std::round($a0)"},
    {"math.roundeven", Real, "std::nearbyint($a0)"},
    {"math.copysign", Real, "std::copysign($a0, $a1)"},
    {"math.isnan", Real, "std::isnan($a0)"},
    {"math.isinf", Real, "std::isinf($a0)"},
    {"math.isfinite", Real, "std::isfinite($a0)"},
    {"math.isnormal", Real, "std::isnormal($a0)"},
    {"math.absi", integers, "$@absolute$W$($a0)"},
    {"math.ctpop", integers, "$@ones$W$($a0)"},
    {"math.ctlz", integers, "$@leadingZeros$W$($a0)"},
    {"math.cttz", integers, "$@trailingZeros$W$($a0)"},
};
// clang-format on

Kind kindOf(Type type) {
  if (type.isF32() || type.isF64()) {
    return Real;
  }
  if (type.isF16() || type.isBF16()) {
    return NarrowFloat;
  }
  if (!type.isIntOrIndex()) {
    return Other;
  }
  unsigned bits = bitsOf(type);
  return bits == 1 ? Bit : bits < 32 ? Narrow : Wide;
}

const Row *rowOf(Operation *op) {
  static const llvm::StringMap<SmallVector<const Row *, 2>> table = [] {
    llvm::StringMap<SmallVector<const Row *, 2>> rowsOf;
    for (const Row &row : rows) {
      rowsOf[row.op].push_back(&row);
    }
    return rowsOf;
  }();
  auto found = table.find(keyOf(op));
  Type type = op->getOperand(isa<arith::SelectOp>(op) ? 1 : 0).getType();
  if (found != table.end()) {
    for (const Row *row : found->second) {
      if (row->kinds & kindOf(type)) {
        return row;
      }
    }
  }
  return nullptr;
}

/// Returns the loosest rank that an operand of an operator of `rank` may have without parentheses. `first` is the left
/// one: a - b - c needs none, a - (b - c) does. Where C++ needs none but compilers warn, there are some.
Rank loosestIn(Rank rank, bool first) {
  switch (rank) {
  case Rank::Product:
    return first ? Rank::Product : Rank::Unary;
  case Rank::Sum:
    return first ? Rank::Sum : Rank::Product;
  case Rank::Compare:
  case Rank::Equal:
  case Rank::Choice:
    return Rank::Sum;
  case Rank::Unary:
    return Rank::Name;
  case Rank::LogicalAnd:
    return first ? Rank::LogicalAnd : Rank::Equal;
  case Rank::LogicalOr:
    return first ? Rank::LogicalOr : Rank::Equal;
  default:
    return Rank::Unary;
  }
}

/// Replaces the placeholders of a row's pattern for one operation.
class PatternText {
public:
  PatternText(Operation *op, const Row &row, ArrayRef<Expression> operands, Helpers &helpers)
      : op(op), row(row), operands(operands), helpers(helpers) {}

  std::string fill(StringRef pattern) {
    if (pattern.consume_front("~") && kindOf(op->getResult(0).getType()) == NarrowFloat) {
      bool isF16 = op->getResult(0).getType().isF16();
      return helpers.use(isF16 ? "toFloat16" : "toBfloat16") + "(" + fill(pattern) + ")";
    }
    std::string text;
    while (!pattern.empty()) {
      auto [before, rest] = pattern.split('$');
      text += before;
      pattern = rest;
      if (!pattern.empty()) {
        text += part(pattern);
      }
    }
    return text;
  }

private:
  Type typeOf(unsigned operand) { return op->getOperand(operand).getType(); }

  /// Returns the text of the placeholder with which `pattern` begins (its `$` has been removed), and removes it.
  std::string part(StringRef &pattern) {
    char how = pattern.front();
    pattern = pattern.drop_front();
    if (how == '@') {
      return helper(pattern);
    }
    if (how == 'T') {
      Type result = op->getResult(0).getType();
      return kindOf(result) == NarrowFloat ? result.isF16() ? "double" : "float" : typeName(result);
    }
    if (llvm::isDigit(how)) {
      return operand(' ', unsigned(how - '0'));
    }
    unsigned number = unsigned(pattern.front() - '0');
    pattern = pattern.drop_front();
    return operand(how, number);
  }

  std::string helper(StringRef &pattern) {
    auto [name, rest] = pattern.split('$');
    pattern = rest;
    if (pattern.consume_front("W")) {
      pattern.consume_front("$");
      return helpers.use((name + llvm::Twine(bitsOf(typeOf(0)))).str());
    }
    return helpers.use(name);
  }

  std::string operand(char how, unsigned number) {
    const Expression &e = operands[number];
    Type type = typeOf(number);
    Rank loosest = loosestIn(row.rank, number == (isa<arith::SelectOp>(op) ? 1u : 0u));
    if (isa<arith::SelectOp>(op) && number == 0) {
      loosest = Rank::LogicalOr;
    } else if (row.rank == Rank::LogicalOr &&
               e.rank == Rank::LogicalAnd) { // a && b || c is right, but compilers warn of it
      loosest = Rank::Equal;
    }
    switch (how) {
    case 'a':
      return e.text;
    case 's':
      return e.sign == Sign::Unsigned ? asSigned(e, type) : asOperand(e, loosest);
    case 'c':
      if (llvm::none_of(operands, [](const Expression &each) { return each.sign == Sign::Unsigned; })) {
        return asOperand(e, loosest);
      }
      [[fallthrough]];
    case 'u':
      return isUnsignedAlready(e) ? asOperand(e, loosest) : typeName(type) + "(" + e.text + ")";
    case 'f':
      return kindOf(type) == NarrowFloat
                 ? helpers.use(type.isF16() ? "fromFloat16" : "fromBfloat16") + "(" + e.text + ")"
                 : asOperand(e, loosest);
    default:
      return asOperand(e, loosest);
    }
  }

  static bool isUnsignedAlready(const Expression &e) {
    return e.sign == Sign::Unsigned || (e.sign == Sign::Literal && e.text.front() != '-' && e.text.front() != 'I');
  }

  Operation *op;
  const Row &row;
  ArrayRef<Expression> operands;
  Helpers &helpers;
};

/// Returns the sign of a result: sums and products of 64 bits are signed where a signed operand (a counter of a loop)
/// meets signed ones and literals only; all other results are unsigned.
Sign signOf(Operation *op, ArrayRef<Expression> operands) {
  bool keeps = isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op) && bitsOf(op->getResult(0).getType()) == 64;
  bool anySigned = llvm::any_of(operands, [](const Expression &e) { return e.sign == Sign::Signed; });
  bool anyUnsigned = llvm::any_of(operands, [](const Expression &e) { return e.sign == Sign::Unsigned; });
  return keeps && anySigned && !anyUnsigned ? Sign::Signed : Sign::Unsigned;
}

/// Returns an integer converted to the width of the result of `op`: cut, or extended by zeros or (isSigned) by the
/// sign.
Expression widened(Operation *op, const Expression &e, bool isSigned, Helpers &helpers) {
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  Expression result = e;
  if (bitsOf(from) == bitsOf(to)) {
    return result;
  }
  result.rank = Rank::Name, result.sign = Sign::Unsigned;
  if (bitsOf(from) == 1) {
    result.text = isSigned ? typeName(to) + "(-int(" + e.text + "))" : typeName(to) + "(" + e.text + ")";
  } else if (bitsOf(to) == 1) {
    result.text = "(" + asOperand(e, Rank::Unary) + " & 1) != 0";
    result.rank = Rank::Equal;
  } else if (bitsOf(from) > bitsOf(to) || !isSigned) {
    result.text = typeName(to) + "(" + e.text + ")";
  } else {
    result.text = typeName(to) + "(" + asSigned(e, from) + ")";
  }
  return result;
}

/// Returns a float converted to an integer: by a helper to 32 or 64 bits, as processors do it, and cut to the width of
/// the result.
std::optional<Expression> rounded(Operation *op, const Expression &e, Helpers &helpers) {
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  unsigned bits = bitsOf(to);
  bool isSigned = isa<arith::FPToSIOp>(op);
  std::string name = bits == 64                ? isSigned ? "toSigned64" : "toUnsigned64"
                     : bits == 32 && !isSigned ? "toSigned64"
                                               : "toSigned32";
  std::string argument = e.text;
  if (kindOf(from) == NarrowFloat) {
    argument = helpers.use(from.isF16() ? "fromFloat16" : "fromBfloat16") + "(" + argument + ")";
  }
  std::string text = helpers.use(name) + "(" + argument + ")";
  if (bits == 1) {
    return Expression{"(" + text + " & 1) != 0", Rank::Equal};
  }
  return Expression{StringRef(name).ends_with(std::to_string(bits)) ? text : typeName(to) + "(" + text + ")"};
}

/// Returns the bits of a value as another type. Only f32 and f64 need a helper: integers and 16-bit floats are integers
/// in C++ already.
std::optional<Expression> bitcast(Operation *op, const Expression &e, Helpers &helpers) {
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  if (kindOf(from) != Real && kindOf(to) != Real) {
    return e;
  }
  if (kindOf(from) == Real && kindOf(to) == Real) {
    return e;
  }
  std::string name = (kindOf(from) == Real ? "toBits" : "fromBits") + std::to_string(bitsOf(from));
  return Expression{helpers.use(name) + "(" + e.text + ")"};
}

/// Whether a maximum or minimum with this bound is a single comparison: the bound is a constant, not NaN, and if it is
/// zero, it has the sign `negativeZero`, so that zeros of either sign need no care.
bool isPlainBound(Value value, bool negativeZero) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  auto number = constant ? dyn_cast<FloatAttr>(constant.getValue()) : FloatAttr();
  return number && !number.getValue().isNaN() &&
         (!number.getValue().isZero() || number.getValue().isNegative() == negativeZero);
}

/// Returns the expression of an operation that no pattern can say, since it depends on constants, literals or widths;
/// nothing for one that the table may have.
std::optional<Expression> special(Operation *op, ArrayRef<Expression> operands, Helpers &helpers) {
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp>(op)) {
    return widened(op, operands[0], !isa<arith::IndexCastUIOp>(op), helpers);
  }
  if (auto cut = dyn_cast<arith::TruncIOp>(op); cut && cut.getType().isInteger(1)) {
    return widened(op, operands[0], false, helpers);
  }
  if (isa<arith::FPToSIOp, arith::FPToUIOp>(op) && kindOf(op->getOperand(0).getType()) & reals) {
    return rounded(op, operands[0], helpers);
  }
  if (op->getName().getStringRef() == "llvm.intr.expect") { // a hint for branches, without effect on the value
    return operands[0];
  }
  if (isa<arith::AddIOp>(op) && operands[1].sign == Sign::Literal && operands[1].text.front() == '-' &&
      kindOf(op->getResult(0).getType()) == Wide) {
    return Expression{asOperand(operands[0], Rank::Sum) + " - " + operands[1].text.substr(1), Rank::Sum,
                      signOf(op, operands)};
  }
  if (isa<arith::SelectOp>(op) && operands[1].sign == Sign::Literal && operands[2].sign == Sign::Literal) {
    return Expression{typeName(op->getResult(0).getType()) + "(" + asOperand(operands[0], Rank::LogicalOr) + " ? " +
                      operands[1].text + " : " + operands[2].text + ")"};
  }
  if (auto compare = dyn_cast<arith::CmpIOp>(op); compare && operands[1].text == "0") { // compilers warn of u < 0
    arith::CmpIPredicate how = compare.getPredicate();
    if (how == arith::CmpIPredicate::uge || how == arith::CmpIPredicate::ult) {
      return Expression{how == arith::CmpIPredicate::uge ? "true" : "false"};
    }
  }
  if (isa<arith::BitcastOp>(op)) {
    return bitcast(op, operands[0], helpers);
  }
  if (isa<arith::MaximumFOp, arith::MinimumFOp>(op)) {
    bool isMaximum = isa<arith::MaximumFOp>(op);
    if (isPlainBound(op->getOperand(1), /*negativeZero=*/!isMaximum)) {
      return Expression{helpers.use(isMaximum ? "atLeast" : "atMost") + "(" + operands[0].text + ", " +
                        operands[1].text + ")"};
    }
  }
  if (isa<memref::ExtractAlignedPointerAsIndexOp>(op)) {
    return Expression{helpers.use("addressOf") + "(" + operands[0].text + ")"};
  }
  return std::nullopt;
}

/// Returns a float as a literal such as -0.5f or 1e-05f, with the fewest digits that C++ reads as the same number.
template <typename Float> std::string digits(Float number, const char *suffix) {
  char buffer[64];
  auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), number);
  std::string text(buffer, end);
  bool isReal = StringRef(text).find_first_of(".e") != StringRef::npos;
  return text + (isReal ? "" : ".0") + suffix;
}

Expression realLiteral(Type type, const APFloat &value, Helpers &helpers) {
  if (value.isNaN() || value.isInfinity()) {
    std::string bits = "0x" + llvm::utohexstr(value.bitcastToAPInt().getZExtValue(), /*LowerCase=*/true) + "u";
    return {helpers.use(type.isF64() ? "fromBits64" : "fromBits32") + "(" + bits + ")"};
  }
  std::string text = type.isF64() ? digits(value.convertToDouble(), "") : digits(value.convertToFloat(), "f");
  return {text, text.front() == '-' ? Rank::Unary : Rank::Name};
}

/// Returns an integer as a literal that its width reads as the same bits; narrow ones are never negative.
Expression integerLiteral(unsigned bits, const APInt &value) {
  if (bits == 1) {
    return {value.isZero() ? "false" : "true"};
  }
  if (bits < 32) {
    return {std::to_string(value.getZExtValue()), Rank::Name, Sign::Literal};
  }
  if (value.isMinSignedValue()) {
    return {"INT" + std::to_string(bits) + "_MIN", Rank::Name, Sign::Literal};
  }
  int64_t number = value.getSExtValue();
  return {std::to_string(number), number < 0 ? Rank::Unary : Rank::Name, Sign::Literal};
}

} // namespace

unsigned bitsOf(Type type) { return type.isIndex() ? 64 : type.getIntOrFloatBitWidth(); }

std::string integerName(unsigned bits, bool isSigned) {
  return bits == 128 ? "u128" : (isSigned ? "int" : "uint") + std::to_string(bits) + "_t";
}

// Loop IR has one type of the LLVM dialect, a pointer, and uses it for the ingot_exec of a run only.
bool isExec(Type type) { return type.getDialect().getNamespace() == "llvm"; }

std::string typeName(Type type) {
  if (auto memory = dyn_cast<MemRefType>(type)) {
    return elementName(memory.getElementType()) + " *";
  }
  if (auto vector = dyn_cast<VectorType>(type)) {
    return vectorName(vector);
  }
  switch (kindOf(type)) {
  case Bit:
    return "bool";
  case Narrow:
  case Wide:
    return integerName(bitsOf(type));
  case Real:
    return type.isF32() ? "float" : "double";
  case NarrowFloat:
    return "uint16_t";
  default:
    return isExec(type) ? "const ingot_exec *" : "";
  }
}

std::string elementName(Type type) {
  bool isReal = kindOf(type) == Real;
  return (isReal ? "f" : "u") + std::to_string(bitsOf(type));
}

std::string asOperand(const Expression &expression, Rank loosest) {
  return expression.rank > loosest ? "(" + expression.text + ")" : expression.text;
}

std::string asSigned(const Expression &expression, Type type) {
  bool isSigned = expression.sign == Sign::Signed || (expression.sign == Sign::Literal && bitsOf(type) >= 32);
  return isSigned ? asOperand(expression, Rank::Unary)
                  : integerName(bitsOf(type), /*isSigned=*/true) + "(" + expression.text + ")";
}

std::optional<Expression> literal(Type type, Attribute value, Helpers &helpers) {
  if (auto vector = dyn_cast<VectorType>(type)) {
    auto values = dyn_cast<DenseElementsAttr>(value);
    return values ? vectorLiteral(vector, values, helpers) : std::nullopt;
  }
  if (auto number = dyn_cast<IntegerAttr>(value)) {
    return integerLiteral(bitsOf(type), number.getValue());
  }
  auto number = dyn_cast<FloatAttr>(value);
  if (!number) {
    return std::nullopt;
  }
  if (kindOf(type) == NarrowFloat) {
    return integerLiteral(16, number.getValue().bitcastToAPInt());
  }
  return realLiteral(type, number.getValue(), helpers);
}

std::optional<Expression> express(Operation *op, ArrayRef<Expression> operands, Helpers &helpers) {
  bool reads = llvm::any_of(operands, [](const Expression &e) { return e.reads; });
  auto isVector = [](Type type) { return isa<VectorType>(type); };
  bool ofVectors = llvm::any_of(op->getOperandTypes(), isVector) || llvm::any_of(op->getResultTypes(), isVector);
  std::optional<Expression> result = ofVectors ? expressVector(op, operands, helpers) : special(op, operands, helpers);
  if (!result && ofVectors) {
    return std::nullopt;
  }
  if (!result) {
    const Row *row = op->getNumOperands() ? rowOf(op) : nullptr;
    if (!row) {
      return std::nullopt;
    }
    if (isa<math::MathDialect>(op->getDialect())) {
      helpers.useMath();
    }
    result = Expression{PatternText(op, *row, operands, helpers).fill(row->pattern), row->rank, signOf(op, operands)};
  }
  result->reads |= reads;
  return result;
}

} // namespace ingot::emit::cpp
