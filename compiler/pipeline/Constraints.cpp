// Solves a check that speaks of one symbol by bisection: interval arithmetic tells for most ranges of the symbol that
// all its sizes pass or that none does, and the others are halved. That is exact for the expressions that shapes are
// computed with (sums, floor divisions, min and max), whether they grow with the symbol or not.
#include "compiler/pipeline/Constraints.h"
#include <set>

using namespace llvm;
using ingot::support::Size;

namespace ingot::pipeline {
namespace {

/// The longest axis that a run can have (entry/SizeChecks.h).
constexpr int64_t longest = int64_t(1) << 40;
/// The most ranges that are looked at for one check: sizes that pass here and there (multiples of 7) are not described
/// one by one.
constexpr int mostRanges = 2000;

using Intervals = std::vector<std::pair<int64_t, int64_t>>; ///< ascending, not adjacent

/// The parts of a size that it adds and takes away, each without negative coefficients.
struct Parts {
  static constexpr bool takesAllCalls = true;
  Size added, taken;
  explicit Parts(int64_t number) : added(std::max<int64_t>(number, 0)), taken(std::max<int64_t>(-number, 0)) {}
  Parts(Size added, Size taken) : added(std::move(added)), taken(std::move(taken)) {}
};
Parts operator+(const Parts &a, const Parts &b) { return {a.added + b.added, a.taken + b.taken}; }
Parts operator*(const Parts &a, const Parts &b) {
  return {a.added * b.added + a.taken * b.taken, a.added * b.taken + a.taken * b.added};
}

Parts partsOf(const Size &size) {
  return size.compute<Parts>({[](support::Symbol symbol) { return Parts(Size(symbol), 0); },
                              [](support::Call call, const Parts &a, const Parts &b) {
                                return Parts(Size::call(call, a.added - a.taken, b.added - b.taken), 0);
                              }});
}

/// A check taken apart: a size that is 0 (`isEqual`) or not negative.
struct Check {
  Size size;
  bool isEqual;
  const onnx::SizeCheck *of;

  explicit Check(const onnx::SizeCheck &check) : isEqual(check.sizes.size() == 2), of(&check) {
    size = isEqual ? check.sizes[0] - check.sizes[1] : check.sizes[0];
  }

  /// Whether it holds wherever `other` does: one of them says that a size is at most another, the other that they are
  /// equal.
  bool isWeakerThan(const Check &other) const {
    return !isEqual && other.isEqual && (other.size == size || other.size == Size(0) - size);
  }

  /// Whether it says of two symbols that they are the same.
  bool ofSymbols() const {
    Parts parts = partsOf(size);
    return isEqual && parts.added.asSymbol() && parts.taken.asSymbol();
  }

  /// Whether all sizes of a range pass, or none; nothing when that is not clear.
  std::optional<bool> passes(const std::optional<support::Range> &range) const {
    if (!range || !range->least || !range->most) {
      return std::nullopt;
    }
    if (*range->most < 0 || (isEqual && *range->least > 0)) {
      return false;
    }
    return *range->least >= 0 && (!isEqual || *range->most == 0) ? std::optional(true) : std::nullopt;
  }
};

/// Finds the sizes of the check's only symbol that pass.
class Solver {
public:
  explicit Solver(const Check &check) : check(check) {}

  /// Returns the ranges that pass; nothing where they are many.
  std::optional<Intervals> solve() {
    look(0, longest);
    return left >= 0 ? std::optional(passing) : std::nullopt;
  }

private:
  const Check &check;
  Intervals passing;
  int left = mostRanges;

  void look(int64_t from, int64_t to) {
    if (--left < 0) {
      return;
    }
    std::optional<bool> passes =
        check.passes(support::safeRangeOf(check.size, [&](support::Symbol) { return support::Range{from, to}; }));
    if (!passes && from < to) {
      int64_t middle = from + (to - from) / 2;
      look(from, middle);
      look(middle + 1, to);
    } else if (passes.value_or(false)) {
      if (!passing.empty() && passing.back().second + 1 == from) {
        passing.back().second = to;
      } else {
        passing.emplace_back(from, to);
      }
    }
  }
};

std::set<std::string> symbolsOf(const Size &size) {
  std::set<std::string> names;
  size.eachSymbol([&](support::Symbol symbol) { names.insert(symbol.str()); });
  return names;
}

support::Range rangeOf(const SymbolBounds &bounds, StringRef symbol) {
  auto known = bounds.find(symbol.str());
  if (known == bounds.end()) {
    return {0, {}};
  }
  return {known->second.least, known->second.most < 0 ? std::nullopt : std::optional(known->second.most)};
}

/// The symbols that are the same as others by the checks.
using Aliases = std::map<support::Symbol, support::Symbol>;

/// Returns the size simplified for symbols within the bounds.
Size simplified(const Size &size, const SymbolBounds &bounds, const Aliases &aliases) {
  auto range = [&](const Size &s) {
    return support::rangeOf(s, [&](support::Symbol symbol) { return rangeOf(bounds, symbol); });
  };
  auto symbol = [&](support::Symbol name) {
    auto alias = aliases.find(name);
    for (auto next = alias; next != aliases.end(); next = aliases.find(next->second)) {
      alias = next;
    }
    support::Range known = rangeOf(bounds, name);
    return known.least == known.most ? Size(*known.least) : alias == aliases.end() ? Size(name) : Size(alias->second);
  };
  auto call = [&](support::Call kind, const Size &a, const Size &b) {
    Size made = Size::call(kind, a, b);
    support::Range whole = range(made), difference = range(a - b);
    if (whole.least && whole.least == whole.most) {
      return Size(*whole.least);
    }
    bool more = difference.least && *difference.least >= 0, less = difference.most && *difference.most <= 0;
    bool chooses = kind == support::Call::Min || kind == support::Call::Max;
    return !chooses || (!more && !less) ? made : (kind == support::Call::Max) == more ? a : b;
  };
  return size.compute<Size>({symbol, call});
}

/// Narrows the bound to sizes that pass. Returns false where they are no range.
bool narrow(Bound &bound, const Intervals &passing, const std::string &node) {
  if (passing.size() != 1) {
    return false;
  }
  auto [least, most] = passing.front();
  if (least > bound.least) {
    bound.least = least, bound.leastNode = node;
  }
  if (most < longest && (bound.most < 0 || most < bound.most)) {
    bound.most = most, bound.mostNode = node;
  }
  return true;
}

/// A check that a few ranges of its symbol pass.
struct Several {
  std::string symbol;
  Intervals passing;
  Check check;
};

/// Returns the parts of the intervals that are within a bound.
Intervals within(const Intervals &passing, const Bound &bound) {
  Intervals inside;
  for (auto [least, most] : passing) {
    least = std::max(least, bound.least), most = bound.most < 0 ? most : std::min(most, bound.most);
    if (least <= most) {
      inside.emplace_back(least, most);
    }
  }
  return inside;
}

/// Returns intervals as "1 or 3 to 7".
std::string intervalsText(const Intervals &passing) {
  std::string text;
  for (auto [least, most] : passing) {
    text += (text.empty() ? "" : " or ") + std::to_string(least);
    text += least == most ? "" : most < longest ? " to " + std::to_string(most) : " and more";
  }
  return text;
}

} // namespace

std::string Bound::by() const {
  auto author = [](const std::string &node) { return node.empty() ? "--dim" : "node '" + node + "'"; };
  std::string text = mostNode ? author(*mostNode) : "";
  if (leastNode && leastNode != mostNode) {
    text += (text.empty() ? "" : ", ") + author(*leastNode);
  }
  return text;
}

std::string boundText(const std::string &symbol, const Bound &bound) {
  if (bound.least == bound.most) {
    return symbol + " = " + std::to_string(bound.least);
  }
  if (bound.most < 0) {
    return symbol + " >= " + std::to_string(bound.least);
  }
  return bound.least == 0 ? symbol + " <= " + std::to_string(bound.most)
                          : symbol + ": " + std::to_string(bound.least) + " to " + std::to_string(bound.most);
}

static std::string textOf(const Parts &parts, bool isEqual) {
  std::optional<std::pair<Size, Size>> axes = parts.added.asCall(support::Call::Mismatch);
  if (axes && isEqual && parts.taken.is(0)) {
    return axes->first.text() + " = " + axes->second.text() + ", or one of them is 1";
  }
  return parts.added.text() + (isEqual ? " = " : " >= ") + parts.taken.text();
}

std::vector<plan::RequirementInfo> solveChecks(ArrayRef<onnx::SizeCheck> checks, SymbolBounds &bounds) {
  std::vector<Several> several;
  std::vector<Check> unsolved;
  for (const onnx::SizeCheck &each : checks) {
    Check check(each);
    std::set<std::string> names = symbolsOf(check.size);
    auto bound = names.size() == 1 ? bounds.find(*names.begin()) : bounds.end();
    std::optional<Intervals> passing = bound == bounds.end() ? std::nullopt : Solver(check).solve();
    constexpr size_t mostIntervals = 4;
    if (passing && passing->size() > 1 && passing->size() <= mostIntervals) {
      several.push_back({bound->first, *passing, check});
    } else if (!passing || !narrow(bound->second, *passing, each.node)) {
      unsolved.push_back(check);
    }
  }
  std::vector<plan::RequirementInfo> described;
  for (const auto &[symbol, passing, check] : several) {
    Intervals inside = within(passing, bounds[symbol]);
    if (inside.empty()) {
      unsolved.push_back(check);
    } else if (!narrow(bounds[symbol], inside, check.of->node)) {
      described.push_back({symbol + ": " + intervalsText(inside), check.of->node});
    }
  }
  std::set<std::string> texts;
  Aliases aliases;
  // Checks that two symbols are the same come first.
  std::vector<Check> inOrder;
  for (bool ofSymbols : {true, false}) {
    llvm::copy_if(unsolved, std::back_inserter(inOrder),
                  [&](const Check &check) { return check.ofSymbols() == ofSymbols; });
  }
  for (const Check &check : inOrder) {
    Size size = simplified(check.size, bounds, aliases);
    support::Range range = support::rangeOf(size, [&](support::Symbol symbol) { return rangeOf(bounds, symbol); });
    bool passes = check.isEqual ? check.passes(range).value_or(false) : range.least && *range.least >= 0;
    if (passes || llvm::any_of(inOrder, [&](const Check &other) { return check.isWeakerThan(other); })) {
      continue;
    }
    Parts parts = partsOf(size.isNumber() ? check.size : size);
    if (check.ofSymbols() && parts.added.asSymbol() && parts.taken.asSymbol()) {
      aliases.insert_or_assign(*parts.taken.asSymbol(), *parts.added.asSymbol());
    }
    std::string text = textOf(parts, check.isEqual);
    if (texts.insert(text).second) {
      described.push_back({text, check.of->node});
    }
  }
  return described;
}

} // namespace ingot::pipeline
