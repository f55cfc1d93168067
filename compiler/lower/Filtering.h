// Winograd's minimal filtering along one axis: m outputs of a filter of three taps from m + 2 inputs with m + 2
// products where a direct one takes 3 m, for the price of two linear maps on the data.
//
//   y = A^T ((G g) * (B^T d))
//
// This is Toom's and Cook's multiplication of polynomials, transposed: the polynomials are evaluated at m + 1 finite
// points and at infinity. The points are 0 and pairs +p, -p, so that what a pair shares (the even and the odd powers)
// is computed once. Scale factors are all in G, which is applied at compile time.
//
// Of integers all of it is exact. The points are integers; rows of G are multiplied by what makes integers of them, and
// A^T by the rest up to a common multiple, so that outputs are small multiples of what they should be. Sums modulo 2^32
// are enough: divided by such a multiple they are what they should be, where that has the bits that are left.
#pragma once
#include "compiler/lower/Writer.h"
#include <array>

namespace ingot::lower {

class Filtering {
public:
  /// F(outputs, 3), where outputs is 2 or 4; or F(1, 1), which changes nothing: along an axis with one tap.
  explicit Filtering(int64_t outputs, bool ofIntegers = false);

  int64_t outputs() const { return form->points.empty() ? 1 : 2 * form->points.size(); }
  int64_t taps() const { return form->points.empty() ? 1 : 3; }
  int64_t inputs() const { return outputs() + taps() - 1; } ///< and products
  /// B^T d.
  llvm::SmallVector<mlir::Value> input(Writer &w, mlir::ValueRange d) const;
  /// A^T of the products; multiple() times what it should be.
  llvm::SmallVector<mlir::Value> output(Writer &w, mlir::ValueRange products) const;
  int64_t multiple(int64_t output) const;
  /// G g G^T for a filter of two axes; row-major.
  static void filter(const Filtering &rows, const Filtering &columns, llvm::ArrayRef<double> g,
                     llvm::MutableArrayRef<double> result);

  /// Operations on vectors that input() takes, and output().
  int64_t operations() const { return 2 * form->points.size() * (form->points.size() + 1); }

private:
  /// Points, and how much of their scale factors is not in G.
  struct Form {
    llvm::ArrayRef<double> points;         ///< p of each pair
    int64_t multiple = 1;                  ///< of all outputs, before rows of A^T are divided
    llvm::ArrayRef<double> outside = {};   ///< of each pair, in A^T; empty: 1
    llvm::ArrayRef<int64_t> divisors = {}; ///< of the rows of A^T; empty: 1
    double factor(size_t pair) const { return outside.empty() ? 1 : outside[pair]; }
    int64_t divisor(size_t row) const { return divisors.empty() ? 1 : divisors[row]; }
  };
  static const Form &formOf(int64_t outputs, bool ofIntegers);

  const Form *form;
  llvm::SmallVector<std::array<double, 3>, 6> g;
  llvm::SmallVector<double> master(size_t without) const;
};

} // namespace ingot::lower
