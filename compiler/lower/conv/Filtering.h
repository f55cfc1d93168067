// Winograd's minimal filtering along one axis: it computes m outputs of a filter of r taps from m + r - 1 inputs with
// as many products, where a direct sum takes r m. The price are two linear maps on the data.
//
//   y = A^T ((G g) * (B^T d))
//
// This is Toom's and Cook's multiplication of polynomials, transposed: the polynomials are evaluated at m + r - 2
// finite points and at infinity. The points are 0 and pairs +p, -p, so that what a pair shares (the even and the odd
// powers) is computed once. Scale factors are all in G, which is applied at compile time.
//
// For integers all of it is exact. The points are integers, rows of G are multiplied by factors that make them
// integers, and A^T by the rest up to a common multiple, so that outputs are small multiples of what they should be.
// Sums modulo 2^32 are enough: divided by such a multiple they are right, if the result has no more bits than are left.
#pragma once
#include "compiler/lower/core/Writer.h"

namespace ingot::lower {

/// The linear maps of one F(m, r).
class Filtering {
public:
  /// Makes F(outputs, taps), which must exist. For one tap it is F(1, 1), which changes nothing.
  Filtering(int64_t outputs, int64_t taps, bool ofIntegers);
  /// Returns whether there is such a filtering: F(2, 3) and F(4, 3), and for floats also F(2, 5), F(4, 5) and F(2, 7).
  static bool exists(int64_t outputs, int64_t taps, bool ofIntegers);

  int64_t outputs() const { return made; }
  int64_t taps() const { return read; }
  int64_t inputs() const { return outputs() + taps() - 1; } ///< inputs, and products as well
  /// Returns B^T d.
  llvm::SmallVector<mlir::Value> input(Writer &w, mlir::ValueRange d) const;
  /// Returns A^T of the products, which is multiple() times what it should be.
  llvm::SmallVector<mlir::Value> output(Writer &w, mlir::ValueRange products) const;
  /// Returns by what an output has to be divided.
  int64_t multiple(int64_t output) const;
  /// Computes G g G^T for a filter of two axes, row-major.
  static void filter(const Filtering &rows, const Filtering &columns, llvm::ArrayRef<double> g,
                     llvm::MutableArrayRef<double> result);

  /// Return how many operations on vectors input() and output() take.
  int64_t inputOperations() const { return 2 * pairs() * (pairs() + 1); }
  int64_t outputOperations() const { return pairs() * (2 + made); }

private:
  /// The points, and the part of their scale factors that is not in G.
  struct Points {
    llvm::ArrayRef<double> pairs;          ///< the p of each pair
    int64_t multiple = 1;                  ///< the multiple of all outputs, before rows of A^T are divided
    llvm::ArrayRef<double> outside = {};   ///< the factor of each pair in A^T; empty: 1
    llvm::ArrayRef<int64_t> divisors = {}; ///< the divisors of the rows of A^T; empty: 1
    double factor(size_t pair) const { return outside.empty() ? 1 : outside[pair]; }
    int64_t divisor(size_t row) const { return divisors.empty() ? 1 : divisors[row]; }
  };
  static const Points &pointsFor(int64_t pairs, bool ofIntegers);
  int64_t pairs() const { return static_cast<int64_t>(points->pairs.size()); }

  int64_t made, read;
  const Points *points;
  llvm::SmallVector<llvm::SmallVector<double, 7>, 8> g;
  llvm::SmallVector<double> master(size_t without) const;
};

} // namespace ingot::lower
