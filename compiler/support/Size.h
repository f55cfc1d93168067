// A size that is a number or an expression of the model's symbols ("batch", "sequence"): a polynomial with integer
// coefficients over symbols and calls (div, min, max of sizes), in a normal form, so that equal sizes are equal texts:
// "8", "batch*sequence", "2*batch+1", "div(samples+1,2)". Symbols are never negative.
//
// A *found* size is one that only data tells (how many elements are not zero): a symbol "$3" whose value a run finds,
// and that a bound limits.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cassert>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ingot::support {

class Size;
/// What found sizes cannot exceed, by symbol.
using Bounds = std::map<std::string, Size>;

class Size {
public:
  Size(int64_t number = 0) {
    if (number) {
      terms[{}] = number;
    }
  }
  Size(int number) : Size(static_cast<int64_t>(number)) {}
  static Size unknown() { return Size(Unknown{}); }
  /// `name` has none of the characters +-*(), and is not a number.
  static Size symbol(llvm::StringRef name);
  /// From text(). Nothing when it is not the text of a size.
  static std::optional<Size> parse(llvm::StringRef text);

  bool isUnknown() const { return !isKnown; }
  bool isNumber() const { return isKnown && (terms.empty() || (terms.size() == 1 && terms.begin()->first.empty())); }
  int64_t number() const {
    assert(isNumber() && "this size depends on the run");
    return terms.empty() ? 0 : terms.begin()->second;
  }
  bool is(int64_t n) const { return isNumber() && number() == n; }
  /// Empty for an unknown size.
  std::string text() const;

  /// Whether both are known and equal whatever the symbols are.
  friend bool operator==(const Size &a, const Size &b) { return a.isKnown && b.isKnown && a.terms == b.terms; }
  friend Size operator+(const Size &a, const Size &b);
  friend Size operator-(const Size &a, const Size &b) { return a + Size(-1) * b; }
  friend Size operator*(const Size &a, const Size &b);
  friend Size floorDiv(const Size &a, const Size &b); ///< unknown when b is 0
  friend Size ceilDiv(const Size &a, const Size &b) { return floorDiv(a + b - Size(1), b); }
  friend Size min(const Size &a, const Size &b);
  friend Size max(const Size &a, const Size &b);
  /// a / b where that is exact for all symbols.
  friend std::optional<Size> divideExactly(const Size &a, const Size &b);

  /// Whether it is at least `n` whatever the symbols are (false: not provably).
  bool atLeast(int64_t n) const;
  /// Whether it is 1, or an expression that is 0 or 1: numpy's rules repeat such an axis.
  bool repeats() const { return isNumber() ? is(1) : (Size(1) - *this).atLeast(0); }
  bool mentions(llvm::StringRef symbol) const;
  /// Whether a found size occurs.
  bool isFound() const;
  static bool isFound(llvm::StringRef symbol) { return symbol.starts_with("$"); }
  /// A size without found ones that is not less than this one; unknown when the bounds do not tell.
  Size bounded(const Bounds &bounds) const;
  /// The same with other sizes in the place of symbols.
  Size replaced(llvm::function_ref<Size(llvm::StringRef)> symbol) const;
  /// Calls f with each symbol that occurs, also inside of calls.
  void eachSymbol(llvm::function_ref<void(llvm::StringRef)> f) const;

  /// The size computed in another arithmetic: T has + and *, is made from int64_t, and call(name, a, b) gives the
  /// calls "div" (of floor kind), "min", "max".
  template <typename T> struct Arithmetic {
    llvm::function_ref<T(llvm::StringRef)> symbol;
    llvm::function_ref<T(llvm::StringRef, T, T)> call;
  };
  template <typename T> T compute(const Arithmetic<T> &in) const {
    T sum(static_cast<int64_t>(0));
    for (const auto &[factors, coefficient] : terms) {
      T product(coefficient);
      for (const std::string &factor : factors) {
        std::optional<Call> c = callOf(factor);
        product = product * (c ? in.call(c->name, c->a().compute(in), c->b().compute(in)) : in.symbol(factor));
      }
      sum = sum + product;
    }
    return sum;
  }
  /// For given symbols; nothing when one is missing, on overflow, and on a division by zero.
  std::optional<int64_t> evaluate(llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> symbol) const;

private:
  struct Unknown {};
  explicit Size(Unknown) : isKnown(false) {}
  /// A factor such as "div(batch+1,2)".
  struct Call {
    std::string name;
    std::string first, second;
    Size a() const { return *parse(first); }
    Size b() const { return *parse(second); }
  };
  static std::optional<Call> callOf(llvm::StringRef factor);
  static Size makeCall(llvm::StringRef name, const Size &a, const Size &b);

  using Factors = std::vector<std::string>; ///< sorted
  std::map<Factors, int64_t> terms;         ///< without zeros
  bool isKnown = true;
  friend class SizeParser;
  bool provably(int64_t n) const; ///< atLeast() without assumptions
  std::optional<int64_t> most() const;
  Size factorBounded(llvm::StringRef factor, const Bounds &bounds, bool alone) const;
  Size least(const Bounds &bounds) const;
  bool provablyBounded(int64_t n) const;
  bool provablyThroughMin(int64_t n, unsigned depth) const;
  void collectImplied(const Size &other, llvm::SmallVectorImpl<Size> &facts) const;
  friend llvm::SmallVector<Size, 4> implied(const Size &a, const Size &b);
};

using Sizes = llvm::SmallVector<Size, 4>;

/// While it lives, each of `facts` is known not to be negative: on this thread, for atLeast(), min() and max(). Such
/// facts are bounds that the user gives ("8-batch"), that the model implies and a run checks, or those of found sizes.
class Assuming {
public:
  explicit Assuming(llvm::ArrayRef<Size> facts);
  ~Assuming();
  Assuming(const Assuming &) = delete;
  Assuming &operator=(const Assuming &) = delete;

private:
  std::vector<Size> outer;
  Bounds outerBounds;
};

/// What facts of the form "BOUND-$3" say; the first one of each symbol.
Bounds boundsIn(llvm::ArrayRef<Size> facts);

/// What `a == b` says about the operands of a min or max that one of them is: sizes that are then not negative.
Sizes implied(const Size &a, const Size &b);

/// The product of all.
Size product(llvm::ArrayRef<Size> sizes);

} // namespace ingot::support
