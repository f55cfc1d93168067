// Sizes are polynomials with calls: they are computed as Writer::value does, but every sum and product also says
// whether it left 64 bits.
#include "compiler/lower/SizeChecks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using mlir::arith::CmpIPredicate;

namespace ingot::lower {

constexpr int64_t mostBytes = int64_t(1) << 47; ///< sums of thousands of such sizes are still far from overflow

namespace {

Value literal(Writer &w, int64_t number) { return arith::ConstantIntOp::create(w.b, w.loc, number, 64); }
Value compare(Writer &w, CmpIPredicate predicate, Value a, Value b) { return w.compare(predicate, a, b); }
Value either(Writer &w, Value a, Value b) {
  return !a ? b : !b ? a : arith::OrIOp::create(w.b, w.loc, a, b).getResult();
}

/// Numbers are folded; `w` is there in all that is not a number.
struct Term {
  int64_t number = 0;
  Watched size;
  Writer *w = nullptr;

  explicit Term(int64_t number) : number(number) {}
  Term(Writer &w, Value value, Value bad) : size{value, bad}, w(&w) {}
  Value in(Writer &any) const { return w ? size.value : literal(any, number); }
};

Term operator*(const Term &a, const Term &b) {
  if (!a.w && !b.w) {
    return Term(a.number * b.number);
  }
  if ((!a.w && a.number == 1) || (!b.w && b.number == 1)) {
    return a.w ? a : b;
  }
  Writer &w = *(a.w ? a.w : b.w);
  auto product = arith::MulSIExtendedOp::create(w.b, w.loc, a.in(w), b.in(w));
  Value sign = arith::ShRSIOp::create(w.b, w.loc, product.getLow(), w.constant(63, w.b.getI64Type()));
  Value over = compare(w, CmpIPredicate::ne, product.getHigh(), sign);
  return Term(w, product.getLow(), either(w, over, either(w, a.size.bad, b.size.bad)));
}

Term operator+(const Term &a, const Term &b) {
  if (!a.w && !b.w) {
    return Term(a.number + b.number);
  }
  if ((!a.w && a.number == 0) || (!b.w && b.number == 0)) {
    return a.w ? a : b;
  }
  Writer &w = *(a.w ? a.w : b.w);
  Value x = a.in(w), y = b.in(w), sum = arith::AddIOp::create(w.b, w.loc, x, y);
  // It overflowed when both have another sign than the sum.
  Value signs = arith::AndIOp::create(w.b, w.loc, arith::XOrIOp::create(w.b, w.loc, x, sum),
                                      arith::XOrIOp::create(w.b, w.loc, y, sum));
  Value over = compare(w, CmpIPredicate::slt, signs, w.constant(0, w.b.getI64Type()));
  return Term(w, sum, either(w, over, either(w, a.size.bad, b.size.bad)));
}

Term quotient(Writer &w, const Term &a, const Term &b) {
  Type i64 = w.b.getI64Type();
  Value one = w.constant(1, i64), x = a.in(w), y = b.in(w);
  Value bad = either(w, a.size.bad, b.size.bad);
  if (b.w) {
    bad = either(w, bad, compare(w, CmpIPredicate::slt, y, one));
    y = arith::MaxSIOp::create(w.b, w.loc, y, one);
  }
  Value down = arith::ShRSIOp::create(w.b, w.loc, arith::RemSIOp::create(w.b, w.loc, x, y), w.constant(63, i64));
  return Term(w, arith::AddIOp::create(w.b, w.loc, arith::DivSIOp::create(w.b, w.loc, x, y), down), bad);
}

} // namespace

Watched watched(Writer &w, const support::Size &size) {
  Type i64 = w.b.getI64Type();
  auto symbol = [&](StringRef name) { return Term(w, w.integer(w.ix(w.symbols.at(name.str())), i64), {}); };
  auto call = [&](StringRef name, Term a, Term b) {
    if (name == "div") {
      return quotient(w, a, b);
    }
    Value bad = either(w, a.size.bad, b.size.bad), x = a.in(w), y = b.in(w);
    Value chosen = name == "min" ? arith::MinSIOp::create(w.b, w.loc, x, y).getResult()
                                 : arith::MaxSIOp::create(w.b, w.loc, x, y).getResult();
    return Term(w, chosen, bad);
  };
  Term term = size.compute<Term>({symbol, call});
  return {term.in(w), term.size.bad ? term.size.bad : w.constant(0, w.b.getI1Type())};
}

Value violated(Writer &w, StringRef check) {
  auto [first, second] = check.split('=');
  Watched a = watched(w, *support::Size::parse(first));
  if (second.empty()) {
    return either(w, a.bad, compare(w, CmpIPredicate::slt, a.value, w.constant(0, a.value.getType())));
  }
  Watched b = watched(w, *support::Size::parse(second));
  return either(w, either(w, a.bad, b.bad), compare(w, CmpIPredicate::ne, a.value, b.value));
}

Value impossible(Writer &w, const support::Size &bytes) {
  Watched size = watched(w, bytes);
  Value most = arith::ConstantIntOp::create(w.b, w.loc, mostBytes, 64);
  return either(w, size.bad, compare(w, CmpIPredicate::ugt, size.value, most));
}

} // namespace ingot::lower
