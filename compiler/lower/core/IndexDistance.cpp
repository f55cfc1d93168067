// An index is a sum of values times numbers: additions, subtractions and products with constants are followed down to
// other values. The distance between two indices is known where each of these values has the same factor in both.
#include "compiler/lower/core/IndexDistance.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace ingot::lower {
namespace {

/// A sum of values times factors, and a number.
struct Linear {
  llvm::SmallMapVector<Value, int64_t, 8> factors;
  int64_t constant = 0;

  /// Adds `v` times `factor`.
  void add(Value v, int64_t factor) {
    APInt number;
    if (matchPattern(v, m_ConstantInt(&number))) {
      constant += factor * number.getSExtValue();
    } else if (auto sum = v.getDefiningOp<arith::AddIOp>()) {
      add(sum.getLhs(), factor), add(sum.getRhs(), factor);
    } else if (auto difference = v.getDefiningOp<arith::SubIOp>()) {
      add(difference.getLhs(), factor), add(difference.getRhs(), -factor);
    } else if (auto product = v.getDefiningOp<arith::MulIOp>();
               product && matchPattern(product.getRhs(), m_ConstantInt(&number))) {
      add(product.getLhs(), factor * number.getSExtValue());
    } else if (product && matchPattern(product.getLhs(), m_ConstantInt(&number))) {
      add(product.getRhs(), factor * number.getSExtValue());
    } else {
      factors[v] += factor;
    }
  }
};

} // namespace

std::optional<int64_t> distance(Writer &w, Ix from, Ix to) {
  Linear linear;
  linear.add(w.value(to), 1), linear.add(w.value(from), -1);
  bool isKnown = llvm::all_of(linear.factors, [](const auto &each) { return each.second == 0; });
  return isKnown ? std::optional(linear.constant) : std::nullopt;
}

} // namespace ingot::lower
