// Winograd's minimal filtering along one axis: m outputs of a filter of three taps from m + 2 inputs with m + 2
// products where a direct one takes 3 m, for the price of two linear maps on the data.
//
//   y = A^T ((G g) * (B^T d))
//
// This is Toom's and Cook's multiplication of polynomials, transposed: the polynomials are evaluated at m + 1 finite
// points and at infinity. The points are 0 and pairs +p, -p, so that what a pair shares (the even and the odd powers)
// is computed once. Scale factors are all in G, which is applied at compile time.
#pragma once
#include "compiler/lower/Writer.h"
#include <array>

namespace ingot::lower {

class Filtering {
public:
  /// F(outputs, 3), where outputs is 2 or 4; or F(1, 1), which changes nothing: along an axis with one tap.
  explicit Filtering(int64_t outputs);

  int64_t outputs() const { return points.empty() ? 1 : 2 * points.size(); }
  int64_t taps() const { return points.empty() ? 1 : 3; }
  int64_t inputs() const { return outputs() + taps() - 1; } ///< and products
  /// B^T d.
  llvm::SmallVector<mlir::Value> input(Writer &w, mlir::ValueRange d) const;
  /// A^T of the products.
  llvm::SmallVector<mlir::Value> output(Writer &w, mlir::ValueRange products) const;
  /// G g G^T for a filter of two axes; row-major.
  static void filter(const Filtering &rows, const Filtering &columns, llvm::ArrayRef<double> g,
                     llvm::MutableArrayRef<double> result);

  /// Operations on vectors that input() takes, and output().
  int64_t operations() const { return 2 * points.size() * (points.size() + 1); }

private:
  llvm::ArrayRef<double> points; ///< p of each pair
  llvm::SmallVector<std::array<double, 3>, 6> g;
  llvm::SmallVector<double> master(size_t without) const;
};

} // namespace ingot::lower
