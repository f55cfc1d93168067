// Sizes are polynomials with calls (support/Size.h). They are computed as Writer::value does, but in 64 bits, and every
// sum and product also says whether it left 64 bits. Sums and products of indices are right modulo their width, so only
// what is divided or compared has to fit an index as well.
#include "compiler/entry/SizeChecks.h"
#include "compiler/plan/IndexWidth.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using mlir::arith::CmpIPredicate;

namespace ingot::entry {

using support::Sizes;
using support::Symbol;

/// The most bytes that a tensor may have. An index of 64 bits holds sums of thousands of such sizes without overflow.
constexpr int64_t mostBytes = int64_t(1) << 47;
/// The bytes of a narrower machine's address space that are kept for what lies around a tensor.
constexpr int64_t keptBack = 1 << 16;

namespace {

/// Returns a constant of 64 bits.
Value literal(Writer &w, int64_t number) { return arith::ConstantIntOp::create(w.b, w.loc, number, 64); }
/// Returns the disjunction of two conditions (i1), each of which may be null for false.
Value either(Writer &w, Value a, Value b) {
  return !a ? b : !b ? a : arith::OrIOp::create(w.b, w.loc, a, b).getResult();
}

/// Returns (i1) whether a number of 64 bits is none that an index can be; null where an index has 64 bits.
Value leavesIndex(Writer &w, Value number) {
  int64_t most = plan::mostIndex(plan::indexBits(w.b));
  return most == INT64_MAX
             ? Value()
             : w.compare(CmpIPredicate::ugt, arith::AddIOp::create(w.b, w.loc, number, literal(w, most + 1)),
                         literal(w, 2 * most + 1));
}

/// A watched term. Numbers are folded, and `w`, which writes operations, is null for them.
struct Term {
  int64_t number = 0;
  Watched size;
  Writer *w = nullptr;

  explicit Term(int64_t number) : number(number) {}
  Term(Writer &w, Value value, Value bad) : size{value, bad}, w(&w) {}
  /// Returns the value of the term.
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
  Value over = w.compare(CmpIPredicate::ne, product.getHigh(), sign);
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
  // The sum overflowed if both operands have another sign than the sum has.
  Value signs = arith::AndIOp::create(w.b, w.loc, arith::XOrIOp::create(w.b, w.loc, x, sum),
                                      arith::XOrIOp::create(w.b, w.loc, y, sum));
  Value over = w.compare(CmpIPredicate::slt, signs, w.constant(0, w.b.getI64Type()));
  return Term(w, sum, either(w, over, either(w, a.size.bad, b.size.bad)));
}

/// Returns the quotient rounded down; a divisor below 1 is bad, and replaced by 1 so that no division traps.
Term quotient(Writer &w, const Term &a, const Term &b) {
  Type i64 = w.b.getI64Type();
  Value one = w.constant(1, i64), x = a.in(w), y = b.in(w);
  Value bad = either(w, either(w, a.size.bad, b.size.bad), either(w, leavesIndex(w, x), leavesIndex(w, y)));
  if (b.w) {
    bad = either(w, bad, w.compare(CmpIPredicate::slt, y, one));
    y = arith::MaxSIOp::create(w.b, w.loc, y, one);
  }
  Value down = arith::ShRSIOp::create(w.b, w.loc, arith::RemSIOp::create(w.b, w.loc, x, y), w.constant(63, i64));
  return Term(w, arith::AddIOp::create(w.b, w.loc, arith::DivSIOp::create(w.b, w.loc, x, y), down), bad);
}

} // namespace

Watched watched(Writer &w, const support::Size &size) {
  Type i64 = w.b.getI64Type();
  auto symbol = [&](support::Symbol s) { return Term(w, w.integer(w.ix(w.symbols.at(s)), i64), {}); };
  auto call = [&](support::Call which, Term a, Term b) {
    if (which == support::Call::Div) {
      return quotient(w, a, b);
    }
    Value x = a.in(w), y = b.in(w);
    Value bad = either(w, either(w, a.size.bad, b.size.bad), either(w, leavesIndex(w, x), leavesIndex(w, y)));
    Value chosen = which == support::Call::Min ? arith::MinSIOp::create(w.b, w.loc, x, y).getResult()
                                               : arith::MaxSIOp::create(w.b, w.loc, x, y).getResult();
    return Term(w, chosen, bad);
  };
  Term term = size.compute<Term>({symbol, call});
  return {term.in(w), term.size.bad ? term.size.bad : w.constant(0, w.b.getI1Type())};
}

Value violated(Writer &w, ArrayRef<support::Size> check) {
  Watched a = watched(w, check[0]);
  if (check.size() == 1) {
    return either(w, a.bad, w.compare(CmpIPredicate::slt, a.value, w.constant(0, a.value.getType())));
  }
  Watched b = watched(w, check[1]);
  return either(w, either(w, a.bad, b.bad), w.compare(CmpIPredicate::ne, a.value, b.value));
}

Value impossible(Writer &w, const support::Size &bytes) {
  Watched size = watched(w, bytes);
  int64_t mostIndex = plan::mostIndex(plan::indexBits(w.b));
  Value most = literal(w, mostIndex == INT64_MAX ? mostBytes : mostIndex - keptBack);
  return either(w, size.bad, w.compare(CmpIPredicate::ugt, size.value, most));
}

namespace {

/// Bounds of the symbols, each as large as the checks allow or some power of two, which is the same for all.
class UsualBounds {
public:
  UsualBounds(ArrayRef<std::string> symbols, ArrayRef<Sizes> checks) {
    for (const std::string &name : symbols) {
      support::Range range = {0, {}};
      for (const Sizes &check : checks) {
        narrow(range, Symbol::chosen(name), check);
      }
      given[Symbol::chosen(name)] = range;
    }
  }

  /// Returns the bounds with `most` as the largest value of any symbol.
  std::map<Symbol, support::Range> upTo(int64_t most) const {
    auto ranges = given;
    for (auto &[symbol, range] : ranges) {
      range.most = std::min(range.most.value_or(most), most);
    }
    return ranges;
  }

  /// Returns the bounds that the checks give, as facts for simplification.
  support::Sizes facts() const {
    support::Sizes all;
    for (const auto &[symbol, range] : given) {
      if (*range.least > 0) {
        all.push_back(support::Size(symbol) - *range.least);
      }
      if (range.most) {
        all.push_back(support::Size(*range.most) - symbol);
      }
    }
    return all;
  }

private:
  std::map<Symbol, support::Range> given;

  /// Narrows the range of a symbol by a check that it alone stands in, such as "8-symbol" (not negative: at most 8) or
  /// "symbol-1" (at least 1).
  static void narrow(support::Range &range, Symbol symbol, const Sizes &check) {
    if (check.size() == 2) {
      return;
    }
    if (support::Size most = check[0] + symbol; most.isNumber()) {
      range.most = std::min(range.most.value_or(most.number()), most.number());
    }
    if (support::Size least = support::Size(symbol) - check[0]; least.isNumber()) {
      range.least = std::max(*range.least, least.number());
    }
  }
};

} // namespace

std::optional<UsualRun> usualRun(ArrayRef<std::string> symbols, ArrayRef<support::Size> bytes, ArrayRef<Sizes> checks) {
  UsualBounds bounds(symbols, checks);
  UsualRun run;
  auto rangeOf = [&](const support::Size &size) {
    return safeRangeOf(size, [&](Symbol symbol) { return run.symbols.at(symbol); });
  };
  auto safe = [&](const support::Size &size) { return rangeOf(size).has_value(); };
  auto fits = [&](const support::Size &size) { return safe(size) && *rangeOf(size)->most <= mostBytes; };
  auto allSafe = [&](const Sizes &check) { return llvm::all_of(check, safe); };
  for (int bits = 40;; bits -= 2) { // few tensors have an axis of more than 2^40
    constexpr int fewestBits = 8;
    if (bits < fewestBits) {
      return std::nullopt;
    }
    run.symbols = bounds.upTo(int64_t(1) << bits);
    if (llvm::any_of(run.symbols, [](const auto &s) { return *s.second.most < *s.second.least; })) {
      return std::nullopt;
    }
    if (llvm::all_of(bytes, fits) && llvm::all_of(checks, allSafe)) {
      break;
    }
  }
  support::Facts facts(bounds.facts());
  auto ask = [&](const Sizes &check) {
    Sizes sides = llvm::map_to_vector<4>(check, [&](const support::Size &side) { return side.simplified(facts); });
    bool implied =
        sides.size() == 2 ? sides[0] == sides[1] : sides[0].atLeast(0, facts) || *rangeOf(sides[0])->least >= 0;
    if (!implied && llvm::none_of(run.checks, [&](const Sizes &other) { return same(other, sides); })) {
      run.checks.push_back(sides);
    }
  };
  for (const support::Size &size : bytes) {
    ask({size});
  }
  llvm::for_each(checks, ask);
  return run;
}

Value isUsual(Writer &w, const UsualRun &run) {
  Type i64 = w.b.getI64Type();
  Value good = w.constant(1, w.b.getI1Type());
  auto require = [&](CmpIPredicate how, Value a, Value b) {
    good = arith::AndIOp::create(w.b, w.loc, good, w.compare(how, a, b));
  };
  for (const auto &[symbol, range] : run.symbols) {
    Value given = w.integer(w.ix(w.symbols.at(symbol)), i64), least = literal(w, *range.least);
    require(CmpIPredicate::ule, arith::SubIOp::create(w.b, w.loc, given, least),
            literal(w, *range.most - *range.least));
  }
  // Only the values of watched sizes are used here: that they are right has been proven.
  for (const Sizes &sides : run.checks) {
    Value a = watched(w, sides[0]).value;
    sides.size() == 2 ? require(CmpIPredicate::eq, a, watched(w, sides[1]).value)
                      : require(CmpIPredicate::sge, a, literal(w, 0));
  }
  return good;
}

} // namespace ingot::entry
