// A size is a number or an expression of symbols ("batch", "sequence"): a polynomial with integer coefficients over
// symbols and calls (div, min, max, broadcast, mismatch of sizes). It has a normal form, so that equal sizes are equal
// texts: "8", "batch*sequence", "2*batch+1", "div(samples+1,2)". Symbols are never negative.
//
// Expressions are hash-consed: a Size is a number or a pointer to an immutable node that all equal expressions share,
// so comparing, hashing and copying cost nothing. Nodes are made under a lock, by any thread, and live as long as the
// process: they belong to no MLIRContext, and a model has thousands at most.
//
// Arithmetic decides what holds whatever the symbols are. Facts, which a run is known to keep to, are passed to those
// questions that may use them.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMapInfo.h"
#include "llvm/ADT/FoldingSet.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cassert>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace ingot::support {

namespace detail {
struct SymbolNode;
struct Factor;
struct Term;
struct Sum;
struct FactsNode;
} // namespace detail

/// Who determines the value of a symbol.
enum class SymbolKind : uint8_t {
  Chosen,        ///< the caller chooses it for each run: "batch"
  DataDependent, ///< the run finds it in data: "$3"; a fact may bound it
  Iteration,     ///< it is the number of a loop's present iteration: "#0"
  Presence,      ///< it is 1 where the caller gives an optional input, else 0: "#present2"
  /// It is a DataDependent symbol of an enclosing scope, kept while the inner ones are replaced by their bounds: "@3".
  Outer
};

/// A symbol, as cheap as a pointer: all symbols of one text are one node.
class Symbol {
public:
  /// Returns the symbol that the caller chooses under a name. `name` has none of the characters +-*(), is not a number,
  /// and does not begin as the other kinds do.
  static Symbol chosen(llvm::StringRef name);
  /// Return the symbols of the other kinds, by their numbers.
  static Symbol dataDependent(int64_t number);
  static Symbol iteration(int64_t number);
  static Symbol presence(int64_t input);
  /// Returns the symbol that text() was written by.
  static Symbol read(llvm::StringRef text);

  SymbolKind kind() const;
  llvm::StringRef text() const;
  operator llvm::StringRef() const { return text(); }
  std::string str() const { return text().str(); }
  bool isDataDependent() const { return kind() == SymbolKind::DataDependent; }
  /// Return a DataDependent symbol as one of the kind Outer, and back.
  Symbol outer() const;
  Symbol inner() const;

  friend bool operator==(Symbol a, Symbol b) { return a.node == b.node; }
  friend llvm::hash_code hash_value(Symbol a) { return llvm::hash_value(a.node); }
  friend bool operator<(Symbol a, Symbol b) { return a.text() < b.text(); }

private:
  const detail::SymbolNode *node;
  explicit Symbol(const detail::SymbolNode *node) : node(node) {}
  static Symbol of(SymbolKind kind, llvm::StringRef text);
};

/// What two sizes are combined by besides sums and products.
enum class Call : uint8_t {
  /// The quotient, rounded down.
  Div,
  Min,
  Max,
  Broadcast, ///< the axis that numpy's rules make of two axes: the second where the first is 1, else the first
  Mismatch   ///< 0 where two axes can be broadcast, because they are equal or one of them is 1; else more than 0
};

class Size;
class Polynomial;
class Facts;
struct Bounds;
using Sizes = llvm::SmallVector<Size, 4>;

/// A size; see the head of this file. An unknown size is none of which anything is known; arithmetic gives it where
/// there is no answer, on overflow above all.
class Size {
public:
  Size(int64_t number = 0) : value(number) {}
  Size(int number) : Size(static_cast<int64_t>(number)) {}
  Size(Symbol symbol);
  static Size unknown() { return Size(&unknownSum); }
  /// Returns the symbol of this text as a size.
  static Size symbol(llvm::StringRef name) { return Size(Symbol::read(name)); }
  /// Returns the size that text() was written by; nothing when `text` is not the text of a size.
  static std::optional<Size> parse(llvm::StringRef text);
  /// Returns a call in its normal form, in which `facts` may decide a min or max.
  static Size call(Call call, const Size &a, const Size &b);
  static Size call(Call call, const Size &a, const Size &b, const Facts &facts);

  bool isUnknown() const { return sum == &unknownSum; }
  bool isNumber() const { return !sum; }
  int64_t number() const {
    assert(isNumber() && "this size depends on the run");
    return value;
  }
  bool is(int64_t n) const { return isNumber() && value == n; }
  /// Returns the size as a text; empty for an unknown size.
  std::string text() const;
  /// Returns the symbol that this size is; nothing where it is anything else.
  std::optional<Symbol> asSymbol() const;
  /// Returns the operands, where the size is such a call and nothing else.
  std::optional<std::pair<Size, Size>> asCall(Call call) const;

  /// Returns whether both sizes are known, and equal whatever the symbols are.
  friend bool operator==(const Size &a, const Size &b) { return !a.isUnknown() && same(a, b); }
  /// Returns whether both sizes are equal or both are unknown.
  friend bool same(const Size &a, const Size &b) { return a.sum == b.sum && a.value == b.value; }
  friend llvm::hash_code hash_value(const Size &a) { return llvm::hash_combine(a.sum, a.value); }
  friend Size operator+(const Size &a, const Size &b);
  friend Size operator-(const Size &a, const Size &b) { return a + Size(-1) * b; }
  friend Size operator*(const Size &a, const Size &b);
  friend Size floorDiv(const Size &a, const Size &b); ///< unknown when b is 0
  friend Size ceilDiv(const Size &a, const Size &b) { return floorDiv(a + b - Size(1), b); }
  friend Size min(const Size &a, const Size &b) { return call(Call::Min, a, b); }
  friend Size max(const Size &a, const Size &b) { return call(Call::Max, a, b); }
  /// Returns the axis that two axes become by numpy's rules, which are known to agree.
  friend Size broadcast(const Size &a, const Size &b) { return call(Call::Broadcast, a, b); }
  friend Size mismatch(const Size &a, const Size &b) { return call(Call::Mismatch, a, b); }
  /// Returns a / b where that is exact for all symbols.
  friend std::optional<Size> divideExactly(const Size &a, const Size &b);

  /// Returns whether the size is at least `n` whatever the symbols are. False also means that this cannot be proven.
  bool atLeast(int64_t n) const;
  bool atLeast(int64_t n, const Facts &facts) const;
  /// Returns whether the size is 1, or an expression that is 0 or 1: numpy's rules repeat such an axis.
  bool repeats() const;
  bool repeats(const Facts &facts) const;
  /// Returns whether the size may be 1 for some symbols. True also means that this cannot be excluded.
  bool mayBeOne() const;
  bool mayBeOne(const Facts &facts) const;
  /// Returns a simpler size that has the same value in every run that keeps to the facts.
  Size simplified(const Facts &facts) const;

  /// Returns whether a symbol occurs, also inside of calls.
  bool mentions(Symbol symbol) const;
  /// Returns whether a data-dependent size occurs.
  bool isDataDependent() const;
  /// Returns whether a quotient occurs, whose divisor may be zero.
  bool divides() const;
  /// Returns a size without data-dependent symbols that is not less than this one; unknown when the bounds do not give
  /// one.
  Size bounded(const Bounds &bounds) const;
  /// Returns the size with other sizes in the place of its symbols.
  Size replaced(llvm::function_ref<Size(Symbol)> symbol) const;
  Size replaced(Symbol symbol, const Size &by) const;
  /// Calls f with each symbol that occurs, also inside of calls.
  void eachSymbol(llvm::function_ref<void(Symbol)> f) const;
  /// Calls f with each call that occurs, also inside of others.
  void eachCall(llvm::function_ref<void(Call, const Size &, const Size &)> f) const;

  /// An arithmetic in which a size can be computed. T has + and * and is made from int64_t. `symbol` gives the value of
  /// a symbol, and call(which, a, b) that of a call. Calls are Div (rounding down), Min and Max, to which the others
  /// are reduced; where T is Size, or has a member takesAllCalls, they are all.
  template <typename T> struct Arithmetic {
    llvm::function_ref<T(Symbol)> symbol;
    llvm::function_ref<T(Call, T, T)> call;
  };
  template <typename T> T compute(const Arithmetic<T> &in) const;
  /// Returns the value for given symbols; nothing when one is missing, on overflow, and on a division by zero.
  std::optional<int64_t> evaluate(llvm::function_ref<std::optional<int64_t>(Symbol)> symbol) const;

private:
  template <typename T> static T lowered(const detail::Factor &f, const Arithmetic<T> &in);
  static Size broadcastCall(const Size &a, const Size &b, const Facts &facts);
  static Size mismatchCall(const Size &a, const Size &b);
  void addBroadcast(Sizes &axes) const;
  friend class Polynomial;
  friend struct detail::Factor;
  friend struct detail::FactsNode;
  friend struct llvm::DenseMapInfo<Size>;
  static const detail::Sum unknownSum;
  const detail::Sum *sum = nullptr; ///< null: the size is the number `value`
  int64_t value = 0;
  explicit Size(const detail::Sum *sum) : sum(sum) {}

  const detail::Factor *single() const;
  void eachFactor(llvm::function_ref<void(const detail::Factor &)> f) const;
  void addTo(llvm::FoldingSetNodeID &id) const;
  bool provably(int64_t n) const; ///< whether the signs of the terms prove that the size is at least n
  std::optional<int64_t> most() const;
  Size least(const Bounds &bounds) const;
  static Size productBounded(const detail::Term &term, const Bounds &bounds);
  static Size factorBounded(const detail::Factor &factor, const Bounds &bounds, bool alone);
  bool provablyThroughMin(int64_t n, unsigned depth) const;
  bool provablyThroughDiv(int64_t n, unsigned depth) const;
  void collectImplied(const Size &other, std::optional<Call> within, Sizes &facts) const;
  friend Sizes implied(const Size &a, const Size &b);
};

namespace detail {
/// A symbol or a call, as a factor of a term.
struct Factor : llvm::FoldingSetNode {
  std::optional<Symbol> symbol; ///< nothing: the factor is a call
  Call call = Call::Div;
  Size a, b;
  std::string text;                      ///< the factor's text, by which factors are ordered
  bool isDataDependent = false;          ///< whether a data-dependent symbol occurs in it
  bool divides = false, chooses = false; ///< whether a div occurs; whether any other call does
  bool natural = true;                   ///< whether it is provably not negative

  void Profile(llvm::FoldingSetNodeID &id) const { profile(id, symbol, call, a, b); }
  static void profile(llvm::FoldingSetNodeID &id, std::optional<Symbol> symbol, Call call, const Size &a,
                      const Size &b);
};
/// A product of factors and a number.
struct Term {
  llvm::SmallVector<const Factor *, 2> factors; ///< in the order of their texts
  int64_t coefficient;
};
/// A size that is not a number: terms in the order of their factors, none of which has the coefficient 0.
struct Sum : llvm::FoldingSetNode {
  llvm::SmallVector<Term, 2> terms;
  bool isDataDependent = false, divides = false, chooses = false;

  void Profile(llvm::FoldingSetNodeID &id) const { profile(id, terms); }
  static void profile(llvm::FoldingSetNodeID &id, llvm::ArrayRef<Term> terms);
};
} // namespace detail

/// Computes a call in another arithmetic.
template <typename T> T Size::lowered(const detail::Factor &f, const Arithmetic<T> &in) {
  T a = f.a.compute(in), b = f.b.compute(in);
  if constexpr (!std::is_same_v<T, Size> && !requires { T::takesAllCalls; }) {
    T one(static_cast<int64_t>(1)), less(static_cast<int64_t>(-1));
    auto distance = [&](const T &x, const T &y) { return in.call(Call::Max, x + less * y, y + less * x); };
    if (f.call == Call::Broadcast) { // broadcast(a, b) is 0 where one is 0, else the larger
      return in.call(Call::Max, a, b) * in.call(Call::Min, one, in.call(Call::Min, a, b));
    }
    if (f.call == Call::Mismatch) {
      return in.call(Call::Min, distance(a, b), in.call(Call::Min, distance(a, one), distance(b, one)));
    }
  }
  return in.call(f.call, a, b);
}

template <typename T> T Size::compute(const Arithmetic<T> &in) const {
  T result(static_cast<int64_t>(0));
  if (!sum) {
    return value ? result + T(value) : result;
  }
  for (const detail::Term &term : sum->terms) {
    T product(term.coefficient);
    for (const detail::Factor *f : term.factors) {
      product = product * (f->symbol ? in.symbol(*f->symbol) : lowered(*f, in));
    }
    result = result + product;
  }
  return result;
}

/// What data-dependent sizes cannot exceed, by symbol.
struct Bounds : std::map<Symbol, Size> {
  /// Products of data-dependent sizes ($1*$2), and what they cannot exceed.
  std::vector<std::pair<Size, Size>> products;

  bool empty() const { return map::empty() && products.empty(); }
};

/// Sizes that are known not to be negative: bounds that the user gives ("8-batch"), bounds that the model implies and a
/// run checks, and bounds of data-dependent sizes ("BOUND-$3"). This is a handle, as cheap as a Size.
class Facts {
public:
  Facts() = default; ///< nothing is known
  explicit Facts(llvm::ArrayRef<Size> sizes);

  llvm::ArrayRef<Size> sizes() const;
  /// Returns what facts of the form "BOUND-$3" say, of which the first one of each symbol counts, and those of the form
  /// "BOUND-$1*$2".
  const Bounds &bounds() const;
  /// Returns these facts and more.
  Facts with(llvm::ArrayRef<Size> more) const;

private:
  friend class Size;
  const detail::FactsNode *node = nullptr;
};

/// Returns the symbol that a fact bounds, $3 of "BOUND-$3"; nothing where it bounds no data-dependent size.
std::optional<Symbol> boundedSymbol(const Size &fact);

/// Returns what `a == b` says about the operands of a min or max that one side is, about a broadcast, or about a
/// product of data-dependent sizes, as sizes that are then not negative.
Sizes implied(const Size &a, const Size &b);

/// Returns whether both lists have the same sizes, unknown ones included.
bool same(llvm::ArrayRef<Size> a, llvm::ArrayRef<Size> b);

/// Returns the product of all sizes, 1 for none.
Size product(llvm::ArrayRef<Size> sizes);

} // namespace ingot::support

template <> struct llvm::DenseMapInfo<ingot::support::Size> {
  using Size = ingot::support::Size;
  using Pointer = DenseMapInfo<const ingot::support::detail::Sum *>;
  static Size getEmptyKey() { return Size(Pointer::getEmptyKey()); }
  static Size getTombstoneKey() { return Size(Pointer::getTombstoneKey()); }
  static unsigned getHashValue(const Size &size) { return static_cast<unsigned>(hash_value(size)); }
  static bool isEqual(const Size &a, const Size &b) { return same(a, b); }
};
