// Computes index expressions: what is known while compiling is folded, and what is left becomes operations where it is
// used.
#include "compiler/lower/core/LlvmAttributes.h"
#include "compiler/lower/core/Writer.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/plan/IndexWidth.h"
#include "compiler/target/Platform.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace ingot::lower {

/// Returns the width of an index. The entry has no machine of a target, but a module around it.
static unsigned indexBits(Writer &w) {
  return w.machine.target ? target::platformOf(w.machine).indexBits : plan::indexBits(w.b);
}

/// Returns an integer with which an index can be compared as with the number that it is: a number that an index cannot
/// hold becomes the nearest one that it can. A result of it, such as the end of a slice, is then that of the number
/// itself.
static Value withinIndex(Writer &w, Value v) {
  if (!onnx::isInt(v.getType(), 64) || isa_and_nonnull<arith::ExtSIOp>(v.getDefiningOp()) || indexBits(w) == 64) {
    return v;
  }
  int64_t most = plan::mostIndex(indexBits(w));
  v = arith::MinSIOp::create(w.b, w.loc, v, w.constant(most, v.getType()));
  return arith::MaxSIOp::create(w.b, w.loc, v, w.constant(-most - 1, v.getType()));
}

Ix::Ix(Writer &w, Value v) : w(&w) {
  if (isa<IntegerType>(v.getType())) {
    v = arith::IndexCastOp::create(w.b, w.loc, w.b.getIndexType(), withinIndex(w, v));
  }
  APInt known;
  if (auto c = v.getDefiningOp<arith::ConstantIndexOp>()) {
    constant = c.value();
  } else {
    this->v = v;
  }
}

Ix::Ix(const support::Size &size) {
  if (size.isNumber()) {
    constant = size.number();
  } else {
    expression = size;
  }
}

bool same(const Ix &a, const Ix &b) {
  if (a.known() && b.known()) {
    return a.constant == b.constant;
  }
  return a.isSize() && b.isSize() ? a.size() == b.size() : a.v && a.v == b.v;
}

template <typename Op> static Value binary(Writer &w, Ix a, Ix b) {
  return Op::create(w.b, w.loc, w.value(a), w.value(b));
}
#define INGOT_WRITER(a, b) Writer &w = *((a).isSize() ? (b).w : (a).w)

Ix operator+(Ix a, Ix b) {
  if (a.known() && b.known()) {
    return a.constant + b.constant;
  }
  if (a.is(0) || b.is(0)) {
    return a.is(0) ? b : a;
  }
  if (a.isSize() && b.isSize()) {
    return a.size() + b.size();
  }
  INGOT_WRITER(a, b);
  return Ix(w, binary<arith::AddIOp>(w, a, b));
}
Ix operator-(Ix a, Ix b) {
  if (a.known() && b.known()) {
    return a.constant - b.constant;
  }
  if (b.is(0)) {
    return a;
  }
  if (a.isSize() && b.isSize()) {
    return a.size() - b.size();
  }
  INGOT_WRITER(a, b);
  return Ix(w, binary<arith::SubIOp>(w, a, b));
}
Ix operator*(Ix a, Ix b) {
  if (a.known() && b.known()) {
    return a.constant * b.constant;
  }
  if (a.is(0) || b.is(0)) {
    return 0;
  }
  if (a.is(1) || b.is(1)) {
    return a.is(1) ? b : a;
  }
  if (a.isSize() && b.isSize()) {
    return a.size() * b.size();
  }
  INGOT_WRITER(a, b);
  return Ix(w, binary<arith::MulIOp>(w, a, b));
}
Ix floorDiv(Ix a, Ix b) {
  if (a.known() && b.known()) {
    return a.constant / b.constant;
  }
  if (b.is(1)) {
    return a;
  }
  if (a.isSize() && b.isSize()) {
    return floorDiv(a.size(), b.size());
  }
  INGOT_WRITER(a, b);
  Ix quotient(w, binary<arith::DivUIOp>(w, a, b));
  return b.known() ? quotient : w.hidden(quotient);
}
Ix remainder(Ix a, Ix b) {
  if (a.known() && b.known()) {
    return a.constant % b.constant;
  }
  if (b.is(1)) {
    return 0;
  }
  if (a.isSize() && b.isSize()) {
    return a.size() - floorDiv(a.size(), b.size()) * b.size();
  }
  INGOT_WRITER(a, b);
  Ix rest(w, binary<arith::RemUIOp>(w, a, b));
  return b.known() ? rest : w.hidden(rest);
}
Ix min(Ix a, Ix b) {
  if (a.known() && b.known()) {
    return std::min(a.constant, b.constant);
  }
  if (a.isSize() && b.isSize()) {
    return min(a.size(), b.size());
  }
  INGOT_WRITER(a, b);
  return Ix(w, binary<arith::MinSIOp>(w, a, b));
}
Ix max(Ix a, Ix b) {
  if (a.known() && b.known()) {
    return std::max(a.constant, b.constant);
  }
  if (a.isSize() && b.isSize()) {
    return max(a.size(), b.size());
  }
  INGOT_WRITER(a, b);
  return Ix(w, binary<arith::MaxSIOp>(w, a, b));
}
#undef INGOT_WRITER

namespace {
/// A size that is computed from the symbols' values, in the arithmetic of values only: what is known is folded already.
struct Computed {
  Ix i;
  Writer *w = nullptr;
  bool natural = false; ///< whether it is not negative, as symbols are
  explicit Computed(int64_t n) : i(n), natural(n >= 0) {}
  Computed(Ix i, Writer *w, bool natural) : i(i), w(w), natural(natural) {}
  friend Computed operator+(Computed a, Computed b) { return {a.i + b.i, a.w ? a.w : b.w, a.natural && b.natural}; }
  friend Computed operator*(Computed a, Computed b) { return {a.i * b.i, a.w ? a.w : b.w, a.natural && b.natural}; }
};

/// Divides towards minus infinity. A run that divides by less than 1 is refused, but perhaps only after this.
Computed quotient(Writer &w, const Computed &x, const Computed &y) {
  Value a = w.value(x.i), d = w.value(y.i);
  if (!y.i.known()) {
    d = arith::MaxSIOp::create(w.b, w.loc, d, w.value(1));
  }
  if (x.natural) { // this is a shift where the divisor is a power of two
    return {w.ix(arith::DivUIOp::create(w.b, w.loc, a, d)), &w, true};
  }
  Value quotient = arith::DivSIOp::create(w.b, w.loc, a, d), rest = arith::RemSIOp::create(w.b, w.loc, a, d);
  Ix signShift = static_cast<int64_t>(indexBits(w)) - 1;
  Value under = arith::ShRSIOp::create(w.b, w.loc, rest, w.value(signShift)); // this is -1 behind a negative rest
  return {w.ix(arith::AddIOp::create(w.b, w.loc, quotient, under)), &w, false};
}
} // namespace

Value Writer::value(Ix i) {
  if (i.v) {
    return i.v;
  }
  if (!i.expression) {
    return arith::ConstantIndexOp::create(b, loc, i.constant);
  }
  // Where the symbols are arguments of a function, sizes are computed at its start.
  llvm::SmallPtrSet<Block *, 2> owners;
  i.expression->eachSymbol([&](support::Symbol symbol) {
    auto it = symbols.find(symbol);
    auto argument = it == symbols.end() ? BlockArgument() : dyn_cast<BlockArgument>(it->second);
    owners.insert(argument ? argument.getOwner() : nullptr);
  });
  Block *function = owners.size() == 1 ? *owners.begin() : nullptr;
  if (!function || !function->isEntryBlock() || !isa<FunctionOpInterface>(function->getParentOp())) {
    return computed(*i.expression);
  }
  Value &size = known[{function, *i.expression}];
  if (!size) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(function);
    size = computed(*i.expression);
    Operation *op = size.getDefiningOp();
    size = isa_and_nonnull<arith::AddIOp, arith::MulIOp>(op) || !op ? size : optimizationBarrier(b, loc, size);
  }
  return size;
}

Ix Writer::hidden(Ix i) { return i.known() ? i : ix(optimizationBarrier(b, loc, value(i))); }
Ix Writer::hidden(Ix i, Ix iteration) {
  return i.known() ? i : ix(optimizationBarrier(b, loc, value(i), value(iteration)));
}

Value Writer::computed(const support::Size &size) {
  auto symbol = [&](support::Symbol s) {
    auto it = symbols.find(s);
    assert(it != symbols.end() && "a size of a symbol that the function does not get");
    return Computed(Ix(*this, it->second), this, /*natural=*/true);
  };
  auto call = [&](support::Call which, Computed x, Computed y) {
    if (which == support::Call::Div) {
      return quotient(*this, x, y);
    }
    return which == support::Call::Min ? Computed(min(x.i, y.i), this, x.natural && y.natural)
                                       : Computed(max(x.i, y.i), this, x.natural || y.natural);
  };
  return value(size.compute<Computed>({symbol, call}).i);
}
Value Writer::integer(Ix i, Type type) {
  // The number is one of data, not of memory.
  if (i.known() && indexBits(*this) < 64 && i.number() > plan::mostIndex(indexBits(*this))) {
    return constant(i.number(), type);
  }
  return arith::IndexCastOp::create(b, loc, type, value(i));
}

} // namespace ingot::lower
