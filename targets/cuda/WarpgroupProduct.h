// Multiplies matrices of float16, bfloat16 or bytes by warpgroups of sm_90a (Hopper.h), with sums of float32 or int32.
// A pair of neighbouring bytes is where a number of 16 bits is otherwise, as in TensorProduct.h. Warps of a block have
// different parts: the first two warpgroups multiply, each 64 rows of a tile of 128 by 128. The third one brings both
// factors into shared memory, in steps of 64 along the depth, of which four are there at a time.
//
// Two barriers say what a stage is: `full` is for those who multiply, when all threads of the third warpgroup have
// written their part; `empty` is for that, when all warps that multiply have read the stage. A thread that brings goes
// two steps ahead of what it says to be there, as copies take that long (cp.async). Those who multiply begin the
// products of a step, and then wait for those of the step before:
//
//   bring     wait until step i is empty; copy step i; wait for the copies of step i - 2; fence; step i - 2 is full
//   multiply  wait until step i is full; begin the products of step i; wait for those of step i - 1, which is empty
//
// Where memory has no vectors of 16 bytes, the third warpgroup brings elements, and the others do what they always do.
#pragma once
#include "targets/cuda/Hopper.h"
#include "targets/cuda/TileProduct.h"
#include <optional>

namespace ingot::targets::cuda {

class WarpgroupProduct {
public:
  static constexpr int64_t side = 128, step = 64;

  /// `element` is the type of the left factor's numbers. `isWhole`: the depth is whole steps.
  WarpgroupProduct(lower::Writer &w, mlir::Type element, bool isWhole) : w(w), element(element), isWhole(isWhole) {}

  /// Returns the grid of a kernel of tiles.
  static lower::Grid grid();

  /// Whether a run finds memory so that factors are vectors of 16 bytes (Factor::address), and results pairs of a row:
  /// i1, or nothing where it never does.
  struct Conditions {
    std::optional<mlir::Value> vectors, pairs;
  };
  /// Writes a tile, as TensorProduct::write does.
  void write(const Factor &left, const Factor &right, lower::Ix depth, lower::Ix row, lower::Ix column,
             const Conditions &conditions, llvm::function_ref<mlir::Value(lower::Ix row)> first,
             llvm::function_ref<void(lower::Ix row, lower::Ix column, mlir::Value sum)> finish);

private:
  static constexpr int64_t stages = 4, ahead = 2; ///< steps in shared memory, and copies of steps that are under way
  static constexpr int64_t warp = 32, group = 4 * warp, groups = 2; ///< groups that multiply
  static constexpr int64_t lanes = 8;                               ///< of a vector
  static constexpr int64_t tileBytes = side * step * 2, stageBytes = 2 * tileBytes;
  lower::Writer &w;
  mlir::Type element;
  bool isWhole;

  mlir::Type sumType() { return element.isInteger() ? mlir::Type(w.b.getI32Type()) : w.b.getF32Type(); }
  lower::Ix steps(lower::Ix depth) { return floorDiv(depth + (step - 1), step); }
  mlir::Value addressOf(lower::Ix byte); ///< of shared memory
  /// Return the barriers of a step.
  mlir::Value full(lower::Ix number);
  mlir::Value empty(lower::Ix number);
  mlir::Value parityOf(lower::Ix number, int64_t plus);
  void makeBarriers();
  /// Bring all steps.
  void bringVectors(const Factor &left, const Factor &right, lower::Ix depth, lower::Ix row, lower::Ix column);
  void bringElements(const Factor &left, const Factor &right, lower::Ix depth, lower::Ix row, lower::Ix column);
  /// Bring a step of a factor to a place in shared memory.
  void copyVectors(const Factor &factor, lower::Ix from, lower::Ix depth, lower::Ix line, lower::Ix to);
  void copyElements(const Factor &factor, lower::Ix from, lower::Ix depth, lower::Ix line, lower::Ix to);
  /// Returns which element of a tile is line `line` and step `k`.
  lower::Ix placeOf(bool alongDepth, lower::Ix line, lower::Ix k);
  /// Returns the sums of a thread, which begin with these.
  llvm::SmallVector<mlir::Value> multiply(const Factor &left, const Factor &right, lower::Ix depth,
                                          mlir::ValueRange begin);
  llvm::SmallVector<mlir::Value> multiplyStep(const Factor &left, const Factor &right, lower::Ix number,
                                              mlir::ValueRange sums);
};

} // namespace ingot::targets::cuda
