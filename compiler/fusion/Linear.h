// Describes chains of additions of constants and multiplications by them along one axis, and scales weights by such a
// chain. ScaledConv and ScaledMatMul move these chains into the weights.
//
// Any such chain is one function y = x * factor + offset, with a factor and an offset for each index of the axis. They
// are kept as doubles and rounded to float32 once, when weights and bias are written.
#pragma once
#include "compiler/fusion/Match.h"
#include "compiler/onnx/constants/Evaluate.h"
#include "compiler/onnx/ops/Binary.h"
#include <cmath>

namespace ingot::fusion {

/// The function y = x * factor + offset along an axis, with one factor and one offset for each index.
struct Linear {
  llvm::SmallVector<double> factor, offset;

  explicit Linear(int64_t size = 0) : factor(size, 1.0), offset(size, 0.0) {}
  bool scales() const {
    return llvm::any_of(factor, [](double f) { return f != 1.0; });
  }
  bool shifts() const {
    return llvm::any_of(offset, [](double f) { return f != 0.0; });
  }
  bool uniform() const { return llvm::all_equal(factor); }
  /// Returns the function that applies this one first and then `next`: (x * f + o) * g + p = x * (f * g) + (o * g + p).
  Linear then(const Linear &next) const {
    Linear both(factor.size());
    for (size_t i = 0; i < factor.size(); ++i) {
      both.factor[i] = factor[i] * next.factor[i];
      both.offset[i] = offset[i] * next.factor[i] + next.offset[i];
    }
    return both;
  }
};

/// Returns the numbers of a constant that broadcasts to `type`, one for each index of `axis`; nothing when the constant
/// varies along any other axis.
inline std::optional<llvm::SmallVector<double>> alongAxis(mlir::Value v, mlir::RankedTensorType type, int64_t axis) {
  auto own = onnx::ranked(v);
  int64_t size = type.getDimSize(axis);
  if (!onnx::constantOf(v) || mlir::ShapedType::isDynamic(size) || !own || !own.getElementType().isF32() ||
      own.getRank() > type.getRank()) {
    return std::nullopt;
  }
  if (auto number = numberOf(v)) {
    return llvm::SmallVector<double>(size, *number);
  }
  int64_t shift = type.getRank() - own.getRank();
  if (own.getNumElements() != size || axis < shift || own.getDimSize(axis - shift) != size) {
    return std::nullopt;
  }
  return onnx::floatsOf(v);
}

/// Returns what `op` does to its operand `x`, a tensor of the result's type, along `axis`; nothing when `op` is no such
/// function. A quotient is one only where `x` is divided by a constant without zeros.
inline std::optional<Linear> linearOf(mlir::Operation *op, mlir::Value x, int64_t axis) {
  auto type = onnx::ranked(x);
  if (!llvm::isa<onnx::AddOp, onnx::SubOp, onnx::MulOp, onnx::DivOp>(op) || !type || !type.getElementType().isF32() ||
      op->getResult(0).getType() != type) {
    return std::nullopt;
  }
  bool first = op->getOperand(0) == x;
  auto numbers = alongAxis(op->getOperand(first ? 1 : 0), type, axis);
  if (!numbers || (!first && llvm::isa<onnx::DivOp>(op))) {
    return std::nullopt;
  }
  Linear linear(type.getDimSize(axis));
  for (auto [i, c] : llvm::enumerate(*numbers)) {
    if (!std::isfinite(c) || (c == 0.0 && llvm::isa<onnx::DivOp>(op))) {
      return std::nullopt;
    }
    if (llvm::isa<onnx::MulOp>(op)) {
      linear.factor[i] = c;
    } else if (llvm::isa<onnx::DivOp>(op)) {
      linear.factor[i] = 1.0 / c;
    } else if (llvm::isa<onnx::AddOp>(op)) {
      linear.offset[i] = c;
    } else { // x - c is x + (-c), and c - x is x * -1 + c
      linear.factor[i] = first ? 1.0 : -1.0;
      linear.offset[i] = first ? -c : c;
    }
  }
  return linear;
}

/// Returns whether scaled weights may take the place of `weights`. They may not where another op reads the weights too,
/// because a second copy would be kept in memory; a constant of one value stays one value and costs nothing.
inline bool mayScale(mlir::Value weights, const Linear &linear) {
  mlir::ElementsAttr constant = onnx::constantOf(weights);
  return constant && constant.getElementType().isF32() &&
         (weights.hasOneUse() || (numberOf(weights) && linear.uniform()));
}

/// Returns a copy of `weights` in which row i, a stretch of `inner` elements, is multiplied by factors[indexOf(i)]. It
/// is null where a product is not finite in float32.
template <typename Index>
mlir::ElementsAttr scaledRows(mlir::ElementsAttr weights, int64_t inner, llvm::ArrayRef<double> factors,
                              Index indexOf) {
  auto type = llvm::cast<mlir::RankedTensorType>(weights.getType());
  auto dense = llvm::dyn_cast<mlir::DenseElementsAttr>(weights);
  if (dense && dense.isSplat() && llvm::all_equal(factors) && !factors.empty()) {
    auto value = static_cast<float>(static_cast<double>(dense.getSplatValue<float>()) * factors.front());
    return std::isfinite(value) ? mlir::DenseElementsAttr::get(type, value) : mlir::DenseElementsAttr();
  }
  std::vector<char> storage;
  llvm::ArrayRef<char> from = onnx::bytesOf(weights, storage);
  std::vector<char> to(from.size());
  bool finite = true;
  for (int64_t row = 0, i = 0, n = static_cast<int64_t>(from.size() / sizeof(float)); i < n; ++row) {
    double factor = factors[indexOf(row)];
    for (int64_t end = i + inner; i < end; ++i) {
      float value;
      std::memcpy(&value, from.data() + sizeof(float) * i, sizeof(float));
      value = static_cast<float>(static_cast<double>(value) * factor);
      finite &= std::abs(value) <= std::numeric_limits<float>::max(); // false for NaN, too
      std::memcpy(to.data() + sizeof(float) * i, &value, sizeof(float));
    }
  }
  return finite ? onnx::constantFromBytes(type, std::move(to)) : mlir::ElementsAttr();
}

/// Returns a constant of float32 numbers; null where one of them is not finite in float32.
inline mlir::ElementsAttr finiteConstant(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> shape,
                                         llvm::ArrayRef<double> values) {
  bool finite = llvm::all_of(values, [](double v) { return std::isfinite(static_cast<float>(v)); });
  return finite ? onnx::constantFromFloats(onnx::tensorOf(shape, mlir::Float32Type::get(context)), values)
                : mlir::ElementsAttr();
}

} // namespace ingot::fusion
