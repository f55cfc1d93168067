// Operands that decide an op's form (a shape, axes, pads) and that only data tells: each number that matters becomes a
// found size (onnx.ReadSize) in front of the op. What a number means (-1 in a Reshape, an axis counted from behind) is
// computed on tensors before, so that what is read is a size, and what cannot be is negative and ends the run.
#pragma once
#include "compiler/onnx/rewriting/Formula.h"
#include "compiler/onnx/sizes/Found.h"

namespace ingot::onnx {

class InData {
public:
  InData(mlir::Operation *op, mlir::OpBuilder &b);

  mlir::Operation *op;
  Formula f;
  SizeReading reading;

  /// Element `index` of a tensor of integers.
  struct Element {
    mlir::Value tensor;
    int64_t index;
  };
  /// What is known of a number without the run; unknown: nothing.
  static Size known(Element e);
  /// How many elements a tensor of integers has; nothing: none of it can be read.
  static std::optional<int64_t> lengthOf(mlir::Value v);
  /// The element as a tensor of its own (int64): the same one for whoever asks again.
  mlir::Value element(Element e);

  bool mayRead(const Size &bound) const { return reading == SizeReading::Any || !bound.isUnknown(); }
  /// The size in a tensor of one element, at most `bound`; unknown: nothing bounds it.
  Size read(mlir::Value number, const Size &bound);
  /// All elements of a small tensor, each with its bound.
  Sizes readAll(mlir::Value list, llvm::ArrayRef<Size> bounds);

  mlir::Value i64(mlir::Value v);
  mlir::Value any(mlir::Value conditions); ///< of one axis
  mlir::Value one(const Size &size, mlir::Value like) { return makeSizes(f.b, f.loc, {size}, ranked(like)); }
  mlir::Value list(llvm::ArrayRef<Size> sizes) { return makeSizes(f.b, f.loc, sizes); }
  mlir::Value where(mlir::Value condition, mlir::Value yes, mlir::Value no) {
    return f.op("Where", {condition, yes, no});
  }

  /// A list of axes of a tensor of some rank.
  struct Axes {
    mlir::Value each;    ///< [n, rank], 1 where an entry of the list names the axis
    mlir::Value named;   ///< [rank], how often an axis is named
    mlir::Value outside; ///< whether one is no axis
  };
  /// Of any number of axes, in one dimension; null: the first ones.
  Axes axesIn(mlir::Value axes, const Size &count, int64_t rank);
  mlir::Value namedTwice(const Axes &axes);
  /// The sizes of those of `sizes` that are not named, where so many are; `bad` makes them negative.
  Sizes unnamed(const Axes &axes, llvm::ArrayRef<Size> sizes, int64_t count, mlir::Value bad);
  /// At which of the axes that are not named each one of them stands, [rank].
  mlir::Value placeOf(mlir::Value named);
  /// `x` where `bad` is false; else the run fails.
  mlir::Value unless(mlir::Value bad, mlir::Value x);
  /// `bad`: negative instead.
  mlir::Value orNegative(mlir::Value bad, mlir::Value v) { return where(bad, f.scalar(-1), v); }
};

} // namespace ingot::onnx
