// Reads operands that decide an op's form (a shape, axes, pads) and that only data tells: each number that matters
// becomes a data-dependent size (onnx.ReadSize) in front of the op. What a number means (-1 in a Reshape, an axis
// counted from behind) is computed on tensors before, so that what is read is a size. A number that cannot be one is
// negative, and ends the run.
#pragma once
#include "compiler/onnx/rewriting/Formula.h"
#include "compiler/onnx/sizes/DataDependentSizes.h"

namespace ingot::onnx {

class SizesInData {
public:
  SizesInData(mlir::Operation *op, mlir::OpBuilder &b);

  mlir::Operation *op;
  Formula f;
  SizeReading reading;

  /// An element of a tensor of integers.
  struct Element {
    mlir::Value tensor;
    int64_t index;
  };
  /// Returns the number as far as it is known without a run; unknown: it is not.
  static Size known(Element e);
  /// Returns how many elements a tensor of integers has; nothing: none of it can be read.
  static std::optional<int64_t> lengthOf(mlir::Value v);
  /// Returns the element as a tensor of its own (int64), which is the same one whenever this is asked again.
  mlir::Value element(Element e);

  bool mayRead(const Size &bound) const { return reading == SizeReading::Any || !bound.isUnknown(); }
  /// Returns the size in a tensor of one element, `bound` at most; an unknown bound: nothing bounds it.
  Size read(mlir::Value number, const Size &bound);
  /// Returns all elements of a small tensor, each with its bound.
  Sizes readAll(mlir::Value list, llvm::ArrayRef<Size> bounds);

  mlir::Value i64(mlir::Value v);
  mlir::Value any(mlir::Value conditions); ///< whether one of the conditions, which have one axis, holds
  mlir::Value one(const Size &size, mlir::Value like) { return makeSizes(f.b, f.loc, {size}, ranked(like)); }
  mlir::Value list(llvm::ArrayRef<Size> sizes) { return makeSizes(f.b, f.loc, sizes); }
  mlir::Value where(mlir::Value condition, mlir::Value yes, mlir::Value no) {
    return f.op("Where", {condition, yes, no});
  }

  /// The axes that a list names, as tensors.
  struct Axes {
    mlir::Value each;    ///< [n, rank], 1 where an entry of the list names the axis
    mlir::Value named;   ///< [rank], how often an axis is named
    mlir::Value outside; ///< whether an entry is no axis
  };
  /// Returns the axes of a list that has `count` entries along its one dimension; without a list they are the first
  /// ones.
  Axes axesIn(mlir::Value axes, const Size &count, int64_t rank);
  mlir::Value namedTwice(const Axes &axes);
  /// Returns those of `sizes` that are not named, of which there are `count`; `bad` makes them negative.
  Sizes unnamed(const Axes &axes, llvm::ArrayRef<Size> sizes, int64_t count, mlir::Value bad);
  /// Returns the place of each axis among those that are not named, [rank].
  mlir::Value rankAmongUnnamed(mlir::Value named);
  /// Returns `x` where `bad` is false; else the run fails.
  mlir::Value failIf(mlir::Value bad, mlir::Value x);
  /// Returns `v`, or -1 where `bad` holds.
  mlir::Value orNegative(mlir::Value bad, mlir::Value v) { return where(bad, f.scalar(-1), v); }
};

} // namespace ingot::onnx
