// A size that is a number or an expression of symbols ("batch", "sequence"): a polynomial with integer coefficients
// over symbols and calls (div, min, max, broadcast, apart of sizes), in a normal form, so that equal sizes are equal
// texts: "8", "batch*sequence", "2*batch+1", "div(samples+1,2)". Symbols are never negative.
//
// Expressions are hash-consed: a Size is a number or a pointer to an immutable node that all equal expressions share,
// so comparing, hashing and copying cost nothing. Nodes are made under a lock, by any thread, and live as long as the
// process: they belong to no MLIRContext, and a model has thousands at most.
//
// Arithmetic decides what holds whatever the symbols are. What a run is known to keep to (Facts) is passed to the
// questions that may use it.
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

/// Who says what a symbol stands for.
enum class SymbolKind : uint8_t {
  Chosen,    ///< the caller, for each run: "batch"
  Found,     ///< the run, in data: "$3"; a fact may bound it
  Iteration, ///< the loop, in its body: the number of the present iteration, "#0"
  Presence,  ///< the caller: 1 where the optional input is given, else 0, "#present2"
  Outer      ///< a found one while only what is found later is replaced by bounds: "@3"
};

class Symbol {
public:
  /// `name` has none of the characters +-*(), is not a number, and does not begin as the other kinds do.
  static Symbol chosen(llvm::StringRef name);
  static Symbol found(int64_t number);
  static Symbol iteration(int64_t number);
  static Symbol presence(int64_t input);
  /// From text().
  static Symbol read(llvm::StringRef text);

  SymbolKind kind() const;
  llvm::StringRef text() const;
  operator llvm::StringRef() const { return text(); }
  std::string str() const { return text().str(); }
  bool isFound() const { return kind() == SymbolKind::Found; }
  /// A found symbol as one of the kind Outer, and back.
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

enum class Call : uint8_t {
  Div,
  Min,
  Max,
  Broadcast, ///< the axis that numpy's rules make of two: the second where the first is 1, else the first
  Apart      ///< 0 where two axes can be broadcast, being equal or one of them 1, else more
};

class Size;
class Polynomial;
class Facts;
struct Bounds;
using Sizes = llvm::SmallVector<Size, 4>;

class Size {
public:
  Size(int64_t number = 0) : value(number) {}
  Size(int number) : Size(static_cast<int64_t>(number)) {}
  Size(Symbol symbol);
  static Size unknown() { return Size(&unknownSum); }
  /// What the caller chooses under this name.
  static Size symbol(llvm::StringRef name) { return Size(Symbol::read(name)); }
  /// From text(). Nothing when it is not the text of a size.
  static std::optional<Size> parse(llvm::StringRef text);
  /// The call in its normal form, where `facts` decide a min or max.
  static Size call(Call call, const Size &a, const Size &b);
  static Size call(Call call, const Size &a, const Size &b, const Facts &facts);

  bool isUnknown() const { return sum == &unknownSum; }
  bool isNumber() const { return !sum; }
  int64_t number() const {
    assert(isNumber() && "this size depends on the run");
    return value;
  }
  bool is(int64_t n) const { return isNumber() && value == n; }
  /// Empty for an unknown size.
  std::string text() const;
  /// The symbol that this size is; nothing: it is more or less than one.
  std::optional<Symbol> asSymbol() const;
  /// The operands, where the size is such a call and nothing else.
  std::optional<std::pair<Size, Size>> asCall(Call call) const;

  /// Whether both are known and equal whatever the symbols are.
  friend bool operator==(const Size &a, const Size &b) { return !a.isUnknown() && same(a, b); }
  /// The same, or both unknown.
  friend bool same(const Size &a, const Size &b) { return a.sum == b.sum && a.value == b.value; }
  friend llvm::hash_code hash_value(const Size &a) { return llvm::hash_combine(a.sum, a.value); }
  friend Size operator+(const Size &a, const Size &b);
  friend Size operator-(const Size &a, const Size &b) { return a + Size(-1) * b; }
  friend Size operator*(const Size &a, const Size &b);
  friend Size floorDiv(const Size &a, const Size &b); ///< unknown when b is 0
  friend Size ceilDiv(const Size &a, const Size &b) { return floorDiv(a + b - Size(1), b); }
  friend Size min(const Size &a, const Size &b) { return call(Call::Min, a, b); }
  friend Size max(const Size &a, const Size &b) { return call(Call::Max, a, b); }
  friend Size broadcast(const Size &a, const Size &b) { return call(Call::Broadcast, a, b); } ///< of two that can be
  friend Size apart(const Size &a, const Size &b) { return call(Call::Apart, a, b); }
  /// a / b where that is exact for all symbols.
  friend std::optional<Size> divideExactly(const Size &a, const Size &b);

  /// Whether it is at least `n` whatever the symbols are (false: not provably).
  bool atLeast(int64_t n) const;
  bool atLeast(int64_t n, const Facts &facts) const;
  /// Whether it is 1, or an expression that is 0 or 1: numpy's rules repeat such an axis.
  bool repeats() const;
  bool repeats(const Facts &facts) const;
  /// Whether it is 1 for some symbols (true: perhaps).
  bool mayBeOne() const;
  bool mayBeOne(const Facts &facts) const;
  /// The same in every run that keeps to the facts.
  Size simplified(const Facts &facts) const;

  bool mentions(Symbol symbol) const;
  /// Whether a found size occurs.
  bool isFound() const;
  /// Whether it divides: by what may be zero.
  bool divides() const;
  /// A size without found ones that is not less than this one; unknown when the bounds do not tell.
  Size bounded(const Bounds &bounds) const;
  /// The same with other sizes in the place of symbols.
  Size replaced(llvm::function_ref<Size(Symbol)> symbol) const;
  Size replaced(Symbol symbol, const Size &by) const;
  /// Calls f with each symbol that occurs, also inside of calls.
  void eachSymbol(llvm::function_ref<void(Symbol)> f) const;
  /// Calls f with each call that occurs, also inside of others.
  void eachCall(llvm::function_ref<void(Call, const Size &, const Size &)> f) const;

  /// The size computed in another arithmetic: T has + and *, is made from int64_t, and call(which, a, b) gives the
  /// calls: Div, of floor kind, Min and Max, which the others come down to; where T is Size, or has a member
  /// takesAllCalls, all of them.
  template <typename T> struct Arithmetic {
    llvm::function_ref<T(Symbol)> symbol;
    llvm::function_ref<T(Call, T, T)> call;
  };
  template <typename T> T compute(const Arithmetic<T> &in) const;
  /// For given symbols; nothing when one is missing, on overflow, and on a division by zero.
  std::optional<int64_t> evaluate(llvm::function_ref<std::optional<int64_t>(Symbol)> symbol) const;

private:
  template <typename T> static T lowered(const detail::Factor &f, const Arithmetic<T> &in);
  static Size broadcastCall(const Size &a, const Size &b, const Facts &facts);
  static Size apartCall(const Size &a, const Size &b);
  void addBroadcast(Sizes &axes) const;
  friend class Polynomial;
  friend struct detail::Factor;
  friend struct detail::FactsNode;
  friend struct llvm::DenseMapInfo<Size>;
  static const detail::Sum unknownSum;
  const detail::Sum *sum = nullptr; ///< null: a number
  int64_t value = 0;
  explicit Size(const detail::Sum *sum) : sum(sum) {}

  const detail::Factor *single() const;
  void eachFactor(llvm::function_ref<void(const detail::Factor &)> f) const;
  void addTo(llvm::FoldingSetNodeID &id) const;
  bool provably(int64_t n) const; ///< by the signs of its terms
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
/// A symbol or a call.
struct Factor : llvm::FoldingSetNode {
  std::optional<Symbol> symbol; ///< nothing: a call
  Call call = Call::Div;
  Size a, b;
  std::string text;                      ///< by which factors are ordered
  bool isFound = false;                  ///< whether a found symbol occurs
  bool divides = false, chooses = false; ///< whether there is a div, a min or max
  bool natural = true;                   ///< provably not negative

  void Profile(llvm::FoldingSetNodeID &id) const { profile(id, symbol, call, a, b); }
  static void profile(llvm::FoldingSetNodeID &id, std::optional<Symbol> symbol, Call call, const Size &a,
                      const Size &b);
};
struct Term {
  llvm::SmallVector<const Factor *, 2> factors; ///< by their texts
  int64_t coefficient;
};
/// What is not a number: terms in the order of their factors, without zeros.
struct Sum : llvm::FoldingSetNode {
  llvm::SmallVector<Term, 2> terms;
  bool isFound = false, divides = false, chooses = false;

  void Profile(llvm::FoldingSetNodeID &id) const { profile(id, terms); }
  static void profile(llvm::FoldingSetNodeID &id, llvm::ArrayRef<Term> terms);
};
} // namespace detail

/// A call.
template <typename T> T Size::lowered(const detail::Factor &f, const Arithmetic<T> &in) {
  T a = f.a.compute(in), b = f.b.compute(in);
  if constexpr (!std::is_same_v<T, Size> && !requires { T::takesAllCalls; }) {
    T one(static_cast<int64_t>(1)), less(static_cast<int64_t>(-1));
    auto distance = [&](const T &x, const T &y) { return in.call(Call::Max, x + less * y, y + less * x); };
    if (f.call == Call::Broadcast) { // 0 where one is 0, else the larger
      return in.call(Call::Max, a, b) * in.call(Call::Min, one, in.call(Call::Min, a, b));
    }
    if (f.call == Call::Apart) {
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

/// What found sizes cannot exceed, by symbol.
struct Bounds : std::map<Symbol, Size> {
  std::vector<std::pair<Size, Size>> products; ///< of found sizes ($1*$2), and what they cannot exceed

  bool empty() const { return map::empty() && products.empty(); }
};

/// Sizes that are known not to be negative: bounds that the user gives ("8-batch"), that the model implies and a run
/// checks, or those of found sizes ("BOUND-$3"). A handle, as cheap as a Size.
class Facts {
public:
  Facts() = default; ///< nothing is known
  explicit Facts(llvm::ArrayRef<Size> sizes);

  llvm::ArrayRef<Size> sizes() const;
  /// What facts of the form "BOUND-$3" say, the first one of each symbol, and those of the form "BOUND-$1*$2".
  const Bounds &bounds() const;
  Facts with(llvm::ArrayRef<Size> more) const;

private:
  friend class Size;
  const detail::FactsNode *node = nullptr;
};

/// The symbol that a fact bounds, $3 of "BOUND-$3"; nothing: it is none of a found size.
std::optional<Symbol> boundedSymbol(const Size &fact);

/// What `a == b` says about the operands of a min or max that one of them is, about a broadcast, or about a product of
/// found sizes: sizes that are then not negative.
Sizes implied(const Size &a, const Size &b);

/// Whether all are the same.
bool same(llvm::ArrayRef<Size> a, llvm::ArrayRef<Size> b);

/// The product of all.
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
