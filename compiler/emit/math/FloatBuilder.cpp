// Makes the arith and math ops behind FloatBuilder, with the two tricks that exponentials are made of, for floats with
// m bits of mantissa and a bias b of their exponents:
//
//   round(x)    x + 1.5 * 2^m leaves no bits for a fraction: the sum's low bits are the integer, and less 1.5 * 2^m it
//               is the rounded float. It holds for |x| < 2^(m-1).
//   2^n         the bits of n + b, moved by m into the exponent. With 1.5 * 2^m + b in the place of 1.5 * 2^m the first
//               step adds the bias, too (roundForPower).
//
// All ops have the builder's type, a float or a vector of floats, so that an expansion is written once for both.
#include "compiler/emit/math/FloatBuilder.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include <cmath>

using namespace mlir;
using namespace ingot::emit;

FloatBuilder::FloatBuilder(OpBuilder &builder, Location loc, Type type, bool ldexp)
    : builder(builder), loc(loc), floatType(type), width(getElementTypeOrSelf(type).getIntOrFloatBitWidth()),
      mantissa(width == 64 ? 52 : 23), bias(width == 64 ? 1023 : 127), ldexp(ldexp) {
  bitsType = shaped(builder.getIntegerType(width));
}

Type FloatBuilder::shaped(Type element) const {
  auto vector = dyn_cast<VectorType>(floatType);
  return vector ? Type(vector.clone(element)) : element;
}

FloatBuilder FloatBuilder::with(unsigned newWidth) const {
  Type element = newWidth == 64 ? Type(builder.getF64Type()) : Type(builder.getF32Type());
  return FloatBuilder(builder, loc, shaped(element), ldexp);
}

Value FloatBuilder::convert(Value value) const {
  unsigned from = getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
  if (from < width) {
    return arith::ExtFOp::create(builder, loc, floatType, value);
  }
  return from > width ? Value(arith::TruncFOp::create(builder, loc, floatType, value)) : value;
}

static Value makeConstant(OpBuilder &builder, Location loc, Type type, TypedAttr element) {
  if (auto vector = dyn_cast<VectorType>(type)) {
    return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(vector, ArrayRef<Attribute>(element)));
  }
  return arith::ConstantOp::create(builder, loc, element);
}

Value FloatBuilder::constant(double value) const {
  return makeConstant(builder, loc, floatType, builder.getFloatAttr(getElementTypeOrSelf(floatType), value));
}
Value FloatBuilder::bitsConstant(int64_t value) const {
  APInt bits(width, value, /*isSigned=*/true, /*implicitTrunc=*/true);
  return makeConstant(builder, loc, bitsType, builder.getIntegerAttr(getElementTypeOrSelf(bitsType), bits));
}

Value FloatBuilder::add(Value a, Value b) const { return arith::AddFOp::create(builder, loc, a, b); }
Value FloatBuilder::sub(Value a, Value b) const { return arith::SubFOp::create(builder, loc, a, b); }
Value FloatBuilder::mul(Value a, Value b) const { return arith::MulFOp::create(builder, loc, a, b); }
Value FloatBuilder::div(Value a, Value b) const { return arith::DivFOp::create(builder, loc, a, b); }
Value FloatBuilder::fma(Value a, Value b, Value c) const { return math::FmaOp::create(builder, loc, a, b, c); }
Value FloatBuilder::neg(Value a) const { return arith::NegFOp::create(builder, loc, a); }
Value FloatBuilder::abs(Value a) const { return math::AbsFOp::create(builder, loc, a); }
Value FloatBuilder::sqrt(Value a) const { return math::SqrtOp::create(builder, loc, a); }
Value FloatBuilder::trunc(Value a) const { return math::TruncOp::create(builder, loc, a); }
Value FloatBuilder::roundEven(Value a) const { return math::RoundEvenOp::create(builder, loc, a); }
Value FloatBuilder::copySign(Value magnitude, Value sign) const {
  return math::CopySignOp::create(builder, loc, magnitude, sign);
}

// Horner's rule: a multiply-add for each coefficient, each of which waits for the one before.
Value FloatBuilder::polynomial(Value x, ArrayRef<double> coefficients) const {
  Value sum = constant(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back())) {
    sum = fma(sum, x, constant(coefficient));
  }
  return sum;
}

// Estrin's scheme: neighbouring terms are joined by powers of x that double, so that few wait for each other.
Value FloatBuilder::shallowPolynomial(Value x, ArrayRef<double> coefficients) const {
  SmallVector<Value> terms = llvm::map_to_vector(coefficients, [&](double c) { return constant(c); });
  while (terms.size() > 1) {
    for (size_t i = 0; i + 1 < terms.size(); i += 2) {
      terms[i / 2] = fma(terms[i + 1], x, terms[i]);
    }
    if (terms.size() % 2) {
      terms[terms.size() / 2] = terms.back();
    }
    terms.resize((terms.size() + 1) / 2);
    x = terms.size() > 1 ? mul(x, x) : x;
  }
  return terms.front();
}

Value FloatBuilder::compare(arith::CmpFPredicate predicate, Value a, Value b) const {
  return arith::CmpFOp::create(builder, loc, predicate, a, b);
}
Value FloatBuilder::both(Value a, Value b) const { return arith::AndIOp::create(builder, loc, a, b); }
Value FloatBuilder::either(Value a, Value b) const { return arith::OrIOp::create(builder, loc, a, b); }
Value FloatBuilder::select(Value condition, Value a, Value b) const {
  return arith::SelectOp::create(builder, loc, condition, a, b);
}

Value FloatBuilder::any(Value condition) const {
  auto vector = dyn_cast<VectorType>(condition.getType());
  return vector ? vector::ReductionOp::create(builder, loc, vector::CombiningKind::OR, condition).getResult()
                : condition;
}

// A branch for the whole vector: the rare case is computed where any lane has it, and taken in those lanes alone.
Value FloatBuilder::unless(Value condition, Value usual, llvm::function_ref<Value()> body) const {
  auto branch = scf::IfOp::create(builder, loc, usual.getType(), any(condition), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, loc, select(condition, body(), usual));
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, usual);
  return branch.getResult(0);
}

// A compare and a select in this order become one max and one min that keep a NaN.
Value FloatBuilder::clamp(Value x, double low, double high) const {
  x = select(less(x, low), constant(low), x);
  return select(greater(x, high), constant(high), x);
}

Value FloatBuilder::bits(Value value) const { return arith::BitcastOp::create(builder, loc, bitsType, value); }
Value FloatBuilder::fromBits(Value value) const { return arith::BitcastOp::create(builder, loc, floatType, value); }
Value FloatBuilder::addBits(Value a, Value b) const { return arith::AddIOp::create(builder, loc, a, b); }
Value FloatBuilder::andBits(Value a, int64_t mask) const {
  return arith::AndIOp::create(builder, loc, a, bitsConstant(mask));
}
Value FloatBuilder::shiftLeft(Value a, int64_t count) const {
  return arith::ShLIOp::create(builder, loc, a, bitsConstant(count));
}
Value FloatBuilder::shiftRight(Value a, int64_t count) const {
  return arith::ShRUIOp::create(builder, loc, a, bitsConstant(count));
}
Value FloatBuilder::isSet(Value bits, int64_t mask) const {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, andBits(bits, mask), bitsConstant(0));
}
Value FloatBuilder::signBit(Value value) const {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, bits(value), bitsConstant(0));
}

FloatBuilder::Rounded FloatBuilder::roundSmall(Value x) const {
  double magic = std::ldexp(1.5, mantissa);
  Value shifted = add(x, magic);
  return {sub(shifted, magic), bits(shifted)};
}

FloatBuilder::Rounded FloatBuilder::roundSmall(Value x, double factor) const {
  double magic = std::ldexp(1.5, mantissa);
  Value shifted = fma(x, constant(factor), constant(magic));
  return {sub(shifted, magic), bits(shifted)};
}

FloatBuilder::Rounded FloatBuilder::roundForPower(Value x, Value y, int64_t offset) const {
  int64_t plus = bias + offset;
  double magic = std::ldexp(1.5, mantissa) + double(plus);
  Value shifted = fma(x, y, constant(magic));
  return {sub(shifted, magic), bits(shifted), plus};
}

Value FloatBuilder::powerOfTwo(const Rounded &n, int64_t offset) const {
  Value power = shiftLeft(n.shifted, mantissa);
  int64_t more = bias + offset - n.plus;
  return fromBits(more == 0 ? power : addBits(power, bitsConstant(more << mantissa)));
}

Value FloatBuilder::smallIntegerToFloat(Value integer, int64_t minus) const {
  double magic = std::ldexp(1.5, mantissa);
  return sub(fromBits(addBits(integer, bits(constant(magic)))), magic + double(minus));
}

// The factor is 2^(n-1), or 2^(n-1+k) for results near or below the normal numbers. What is missing follows as a second
// factor (`rest`), so only that last product overflows or rounds.
Value FloatBuilder::scale(Value x, const Rounded &n) const {
  if (ldexp) {
    Type countType = shaped(builder.getI32Type());
    Value count = arith::FPToSIOp::create(builder, loc, countType, n.value);
    // The op of the LLVM dialect only takes scalar counts, so the intrinsic is called by name.
    return LLVM::CallIntrinsicOp::create(builder, loc, floatType, builder.getStringAttr("llvm.ldexp"),
                                         ValueRange{x, count})
        .getResult(0);
  }
  int64_t k = width == 64 ? 128 : 64;
  Value low = less(n.value, double(4 - bias));
  Value offset = select(low, bitsConstant((bias - 1 + k) << mantissa), bitsConstant((bias - 1) << mantissa));
  Value rest = select(low, constant(std::ldexp(1.0, 1 - k)), constant(2.0));
  Value factor = fromBits(addBits(shiftLeft(n.shifted, mantissa), offset));
  return mul(mul(x, factor), rest);
}
