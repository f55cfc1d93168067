// Gives an axis whose size differs from one iteration to the next a symbol of its own once sizes in data are read
// (before that it may turn out to be the same). Axes that begin alike and change alike, as the caches of all layers do,
// then get one symbol: they are equal if their next sizes are equal when one symbol is written for all of them. Axes
// are never taken apart again, since the body may have been folded by then.
//
// There are three sources of a bound: the trip count, where an iteration adds no more than a size that is known before
// the loop; the first size, where no iteration adds any; and a limit in the size that an axis becomes.
#include "compiler/onnx/sizes/LoopSizes.h"
#include "compiler/onnx/Control.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/ops/Binary.h"
#include "compiler/onnx/ops/Shape.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace ingot::onnx {

static constexpr int mostRounds = 32, deepest = 8;

/// A trip count from here on is taken for none, since exporters write the largest of all numbers to say so.
static constexpr int64_t mostCounted = int64_t(1) << 31;

/// Returns a size that the one element of a tensor does not exceed; unknown: there is none. For Min(n, x) it is n,
/// whatever x is.
static Size mostIn(Value v, const support::Facts &facts, int depth = 0) {
  v = withoutReshapes(v);
  Operation *op = v.getDefiningOp();
  if (Size number = numberIn(v); !number.isUnknown()) {
    return number.atLeast(mostCounted, facts) ? Size::unknown() : number;
  }
  if (op && isa<MinOp>(op) && depth < deepest) {
    for (Value operand : op->getOperands()) {
      if (Size most = mostIn(operand, facts, depth + 1); !most.isUnknown()) {
        return most;
      }
    }
  }
  return Size::unknown();
}

static Size notNegative(const Size &size, const support::Facts &facts) {
  return size.isUnknown() ? size : max(size, 0).simplified(facts);
}

Size LoopSizes::maxTripCount(LoopOp loop) {
  support::Facts facts = factsOf(loop);
  return present(loop.getTrips()) ? notNegative(mostIn(loop.getTrips(), facts), facts) : Size::unknown();
}

bool LoopSizes::runsAllTrips(LoopOp loop) {
  Value next = loop.continues().get();
  bool enters = !present(loop.getCondition()) || splatNumber(loop.getCondition()) == 1;
  return enters && (next == loop.enters() || splatNumber(next) == 1);
}

Size LoopSizes::tripCount(LoopOp loop) {
  return present(loop.getTrips()) ? notNegative(numberIn(loop.getTrips()), factsOf(loop)) : Size::unknown();
}

LoopSizes::LoopSizes(LoopOp loop)
    : loop(loop), mayGrow(sizeReadingIn(loop) != SizeReading::No),
      needsNoBound(sizeReadingIn(loop) == SizeReading::Any), growths(readGrowths(loop)) {}

SmallVector<Growth> LoopSizes::readGrowths(LoopOp loop) {
  SmallVector<Growth> growths = growthsOf(loop);
  support::Facts facts = factsOf(loop); // more may be known than when they were written
  for (Growth &g : growths) {
    g.start = g.start.simplified(facts), g.next = g.next.simplified(facts);
  }
  return growths;
}

/// The growth whose symbol the size is while an iteration runs; null: the size is none of those.
Growth *LoopSizes::inside(const Size &size) {
  auto it = llvm::find_if(growths, [&](const Growth &g) { return g.inside && size == *g.inside; });
  return it == growths.end() ? nullptr : &*it;
}

// These infer the types in the body.

/// Returns the type of a carried value in the first iteration, with the symbols of axes that are known to change.
TensorType LoopSizes::entering(unsigned i) {
  auto initial = ranked(loop.getInitial()[i]), before = ranked(loop.argument(i));
  if (!initial || !before || initial.getRank() != before.getRank()) {
    return cast<TensorType>(loop.getInitial()[i].getType());
  }
  Sizes sizes = sizesOf(initial);
  for (auto [size, old] : llvm::zip_equal(sizes, sizesOf(before))) {
    if (Growth *growth = inside(old)) {
      growth->start = size.isUnknown() ? growth->start : size;
      size = old;
    }
  }
  return sizedType(sizes, initial.getElementType());
}

/// An axis of n that an iteration gives n + 1 gets a symbol, where sizes in data are read, and becomes unknown before
/// that.
TensorType LoopSizes::joined(RankedTensorType before, RankedTensorType next) {
  Sizes sizes = sizesOf(before);
  for (auto [size, then] : llvm::zip_equal(sizes, sizesOf(next))) {
    if (inside(size) || size == then) {
      continue;
    }
    if (mayGrow && !size.isUnknown()) {
      growths.push_back(newGrowth(loop, size, /*carried=*/true));
      size = *growths.back().inside;
    } else {
      size = Size::unknown();
    }
  }
  return sizedType(sizes, before.getElementType());
}

/// Gives the carried values types that this iteration and the next share, and returns whether any is new.
FailureOr<bool> LoopSizes::joinAll() {
  bool changed = false;
  for (unsigned i = 0; i < loop.carried(); ++i) {
    Value now = loop.argument(i), then = loop.yielded(i).get();
    Type element = getElementTypeOrSelf(now.getType());
    if (element != getElementTypeOrSelf(then.getType())) {
      return loop.emitOpError("carries a value of element type ")
             << element << ", but its body gives " << then.getType();
    }
    auto a = ranked(now), b = ranked(then);
    TensorType type = a && b && a.getRank() == b.getRank() ? joined(a, b) : TensorType(unrankedOf(element));
    changed |= type != now.getType();
    now.setType(type);
  }
  return changed;
}

LogicalResult LoopSizes::inferBody() {
  for (unsigned i = 0; i < loop.carried(); ++i) {
    loop.argument(i).setType(entering(i));
  }
  // This ends, since each step goes one way: an axis gets a symbol or becomes unknown, then the rank becomes unknown,
  // and symbols become fewer. Sizes that are equal only while they are taken for different ones (numpy's rules for 1)
  // would go on forever, so no axis may get a symbol after some rounds.
  int rounds = 0;
  for (bool again = true; again;) {
    mayGrow &= ++rounds <= mostRounds;
    setGrowths(loop, growths);
    for (Operation &op : loop.block()) {
      if (failed(updateTypes(&op))) {
        return failure();
      }
    }
    growths = readGrowths(loop); // loops in the body may have replaced symbols
    FailureOr<bool> changed = joinAll();
    if (failed(changed)) {
      return failure();
    }
    again = *changed || joinEqualAxes();
    if (again) {
      removeBounds();
    }
  }
  findBounds();
  return success();
}

// These find out which axes change, and how.

void LoopSizes::collectNext() {
  SymbolSet seen;
  for (unsigned i = 0; i < loop.carried(); ++i) {
    auto now = ranked(loop.argument(i)), then = ranked(loop.yielded(i).get());
    if (!now || !then || now.getRank() != then.getRank()) {
      continue;
    }
    for (auto [size, next] : llvm::zip_equal(sizesOf(now), sizesOf(then))) {
      Growth *growth = inside(size);
      if (!growth) {
        continue;
      }
      if (seen.insert(*growth->inside).second) {
        growth->next = next;
      } else if (!next.isUnknown() && !(growth->next == next)) { // the sizes are equal, but are written in another way
        (void)require(loop, growth->next, next);
      }
    }
  }
}

/// Replaces the symbols of axes that turn out to be the same in all iterations, or the same as others; returns whether
/// there were any.
bool LoopSizes::joinEqualAxes() {
  collectNext();
  for (const Growth &g : growths) {
    if (g.inside && (g.next == *g.inside || g.next == g.start)) {
      Growth same = g;
      replace(*same.inside, same.start);
      replace(same.after, same.start);
      return true;
    }
  }
  return joinAlikeAxes();
}

/// Replaces the symbols of axes that change alike. Axes that begin alike are of one kind; a kind is split as long as
/// the next sizes of its axes differ when one symbol is written for each kind.
bool LoopSizes::joinAlikeAxes() {
  std::map<Symbol, Symbol> kind; // for each symbol the first one of its kind
  auto kindOf = [&](Symbol symbol) {
    auto it = kind.find(symbol);
    return it == kind.end() ? symbol : it->second;
  };
  auto split = [&](llvm::function_ref<std::pair<Size, Size>(const Growth &)> key) {
    llvm::DenseMap<std::pair<Size, Size>, Symbol> first;
    std::map<Symbol, Symbol> finer;
    for (const Growth &g : growths) {
      if (g.inside && !g.next.isUnknown()) {
        finer.try_emplace(*g.inside, first.try_emplace(key(g), *g.inside).first->second);
      }
    }
    kind = finer;
    return first.size();
  };
  size_t kinds = split([](const Growth &g) { return std::pair(g.start, Size()); });
  for (size_t before = 0; before != kinds;) {
    before = kinds;
    kinds = split([&](const Growth &g) {
      return std::pair(Size(kindOf(*g.inside)), g.next.replaced([&](Symbol s) { return Size(kindOf(s)); }));
    });
  }
  for (const Growth &g : growths) {
    if (g.inside && !(kindOf(*g.inside) == *g.inside)) {
      auto other = llvm::find_if(growths, [&](const Growth &o) { return o.inside == kindOf(*g.inside); });
      Growth gone = g, kept = *other;
      replace(*gone.inside, *kept.inside);
      replace(gone.after, kept.after);
      (void)joinAlikeAxes();
      return true;
    }
  }
  return false;
}

/// Writes a size for a symbol of this loop wherever the function speaks of it.
void LoopSizes::replace(Symbol symbol, const Size &size) {
  llvm::erase_if(growths, [&](const Growth &g) { return g.inside == symbol; });
  setGrowths(loop, growths);
  replaceSymbol(loop, symbol, size);
  growths = readGrowths(loop);
  for (unsigned i = 0; i < loop.carried(); ++i) {
    if (auto type = ranked(loop.argument(i))) {
      Sizes sizes = sizesOf(type);
      for (Size &s : sizes) {
        s = s == symbol ? size : s;
      }
      loop.argument(i).setType(sizedType(sizes, type.getElementType()));
    }
  }
}

/// Removes the bounds of sizes that the body finds, since they belong to types that it has no more.
void LoopSizes::removeBounds() {
  setGrowths(loop, growths);
  for (Symbol symbol : symbolsDefinedInside(loop)) {
    setBound(loop, symbol, Size::unknown());
  }
}

// These bound sizes.

/// Makes data-dependent sizes from before the loop look like symbols of the caller while bounds are computed; the facts
/// about them are used later.
static Size renamed(const Size &size, llvm::function_ref<bool(Symbol)> rename) {
  return size.replaced([&](Symbol symbol) { return rename(symbol) ? symbol.outer() : symbol; });
}
static Size restored(const Size &size) {
  return size.replaced(
      [&](Symbol symbol) { return symbol.kind() == support::SymbolKind::Outer ? symbol.inner() : symbol; });
}

/// Returns a bound of an axis that is `start`, and then `next`; sizes that the body finds are bounded by `known`.
static Size boundOf(const Growth &growth, const Size &trips, const support::Bounds &known,
                    const support::Facts &facts) {
  Symbol inside = *growth.inside;
  auto isOwn = [&](Symbol symbol) { return symbol == inside; };
  support::Bounds withOwn;
  for (auto &[symbol, bound] : known) {
    withOwn[symbol] = renamed(bound, isOwn);
  }
  Size own = inside.outer(), most = renamed(growth.next, isOwn).bounded(withOwn);
  if (!most.isUnknown()) {
    Size added = most - own;
    if ((own - most).atLeast(0, facts)) {
      return growth.start;
    }
    if (!added.mentions(inside.outer()) && !trips.isUnknown()) {
      return growth.start + trips * max(added, 0).simplified(facts);
    }
  }
  most = growth.next.bounded(known); // this bound holds whatever the axis is now
  return most.isUnknown() ? most : max(growth.start, most);
}

void LoopSizes::findBounds() {
  setGrowths(loop, growths);
  SymbolSet inner = symbolsDefinedInside(loop);
  auto isOuter = [&](Symbol symbol) { return symbol.isDataDependent() && !inner.count(symbol); };
  auto isChanging = [&](Symbol symbol) {
    return llvm::any_of(growths, [&](const Growth &g) { return g.inside == symbol; });
  };
  support::Facts facts = factsOf(loop);
  support::Bounds known;
  for (auto &[symbol, bound] : facts.bounds()) {
    if (inner.count(symbol) && !isChanging(symbol)) {
      known[symbol] = renamed(bound.simplified(facts), isOuter);
    }
  }
  Size trips = renamed(maxTripCount(loop), isOuter);
  for (bool more = true; more;) {
    more = false;
    for (const Growth &g : growths) {
      if (!g.inside || g.next.isUnknown() || known.count(*g.inside)) {
        continue;
      }
      Size bound =
          boundOf({g.inside, g.after, renamed(g.start, isOuter), renamed(g.next, isOuter)}, trips, known, facts);
      if (!bound.isUnknown()) {
        known[*g.inside] = bound;
        more = true;
      }
    }
  }
  for (const Growth &g : growths) {
    auto bound = g.inside ? known.find(*g.inside) : known.end();
    Size most = !g.inside              ? renamed(g.next, isOuter).bounded(known)
                : bound == known.end() ? Size::unknown()
                                       : bound->second;
    setBound(loop, g.after, restored(most));
    if (g.inside) {
      setBound(loop, *g.inside, restored(most));
    }
  }
}

// These give the sizes after the loop.

/// Returns the size that an axis has after the loop. It is known before the loop if each of a known number of
/// iterations adds the same.
Size LoopSizes::sizeAfter(const Growth &growth) {
  bool hasBound = needsNoBound || boundsOf(loop).count(growth.after);
  if (growth.next.isUnknown() || !hasBound) {
    return Size::unknown();
  }
  Size added = growth.inside ? growth.next - *growth.inside : Size::unknown();
  Size times = runsAllTrips(loop) && !maxTripCount(loop).isUnknown() ? tripCount(loop) : Size::unknown();
  if (added.isUnknown() || times.isUnknown() || !added.atLeast(0, factsOf(loop)) ||
      mentionsAny(added, symbolsDefinedInside(loop))) {
    return growth.after;
  }
  Size whole = growth.start + times * added;
  replaceSymbol(loop, growth.after, whole);
  return whole;
}

TensorType LoopSizes::carriedAfter(unsigned i) {
  auto type = ranked(loop.argument(i));
  if (!type) {
    return cast<TensorType>(loop.argument(i).getType());
  }
  Sizes sizes = sizesOf(type);
  for (Size &size : sizes) {
    if (Growth *growth = inside(size)) {
      size = sizeAfter(*growth);
    }
  }
  return sizedType(sizes, type.getElementType());
}

Sizes LoopSizes::sliceAfter(unsigned i) {
  Sizes sizes = sizesOf(ranked(loop.yielded(i).get()));
  auto before = ranked(loop.getResult(i));
  Sizes old = before && before.getRank() == int64_t(sizes.size()) + 1 ? sizesOf(before) : Sizes(sizes.size() + 1);
  SymbolSet inner = symbolsDefinedInside(loop);
  SmallVector<std::optional<Symbol>> symbols(sizes.size());
  for (auto [size, known, symbol] : llvm::zip_equal(sizes, llvm::drop_begin(old), symbols)) {
    auto growth =
        llvm::find_if(growths, [&, &known = known](const Growth &g) { return !g.inside && known == g.after; });
    bool changes = mentionsAny(size, inner);
    if (changes && !mayGrow) {
      size = Size::unknown();
    } else if (changes) {
      if (growth == growths.end()) {
        growths.push_back(newGrowth(loop, 0, /*carried=*/false));
        growth = std::prev(growths.end());
      }
      growth->next = size;
      symbol = growth->after;
    } else if (growth != growths.end() && !size.isUnknown()) { // all iterations have the same size
      Symbol after = growth->after;
      growths.erase(growth);
      setGrowths(loop, growths);
      replaceSymbol(loop, after, size);
      growths = readGrowths(loop);
    }
  }
  findBounds();
  for (auto [size, symbol] : llvm::zip_equal(sizes, symbols)) {
    if (symbol) {
      size = sizeAfter(*llvm::find_if(growths, [&, &symbol = symbol](const Growth &g) { return g.after == *symbol; }));
    }
  }
  return sizes;
}

void LoopSizes::finish() { setGrowths(loop, growths); }

} // namespace ingot::onnx
