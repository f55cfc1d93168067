// Writes instructions of sm_90a: barriers that are numbers in shared memory (mbarrier), and products of matrices by a
// warpgroup, which is four warps (wgmma).
//
// Threads arrive at a barrier, and wait for one of its phases. A phase is complete when as many have arrived as the
// barrier was made for; then the next one begins. Phases have the parities 0, 1, 0, ... A thread that waits for parity
// 1 of a new barrier does not wait.
//
// A product is under way after its instruction, as a copy is: the warpgroup waits for groups of products, and only then
// may it look at the sums, or let others overwrite the factors. Tensor cores read shared memory by a way of their own,
// the asynchronous proxy: what threads have written there needs a fence in front of the barrier that says so.
//
// Both factors come from tiles in shared memory, of lines or steps of 128 bytes, whose vectors of 16 bytes are
// swizzled: the place of number v of row r is v XOR r % 8. A tile begins at a multiple of 1024 bytes.
//
// A step is a number of 16 bits, or two bytes.
//
//   along the depth  [line][64 steps]
//   else             [64 lines each][step][64 lines]
#pragma once
#include "compiler/lower/core/Writer.h"

namespace ingot::targets::cuda {

/// Makes a barrier of so many arrivals at an address (i64) in shared memory.
void makeBarrier(lower::Writer &w, mlir::Value barrier, int32_t arrivals);
void arrive(lower::Writer &w, mlir::Value barrier);
/// Waits for the phase of a parity (i32) to be complete.
void waitForPhase(lower::Writer &w, mlir::Value barrier, mlir::Value parity);

/// Makes what this thread has written to shared memory be there for tensor cores.
void fenceForTensorCores(lower::Writer &w);

/// A factor's tile as the instruction finds it.
struct WarpgroupFactor {
  mlir::Value descriptor; ///< i64
  bool alongDepth;

  static constexpr int64_t blockBytes = 8192; ///< of 64 lines and 64 steps
  /// Returns the descriptor of what begins at an address (i64) in shared memory: some blocks of a tile.
  static WarpgroupFactor at(lower::Writer &w, mlir::Value address, bool alongDepth);
  /// Returns the same from step k of the tile on, where a step has two bytes.
  WarpgroupFactor from(lower::Writer &w, int64_t k) const;
};

/// Begins the products that follow: sums and factors are what they are then.
void beginProducts(lower::Writer &w);
/// Adds 64 by 128 products of 32 bytes of steps to the 64 sums that each thread has. `element` is the type of the left
/// factor's numbers: float16, bfloat16, or ui8 or i8, whose factors lie along the depth. With lane and warp of the
/// warpgroup, sum n is of row 16 * warp + lane / 4 + n % 4 / 2 * 8, column n / 4 * 8 + lane % 4 * 2 + n % 2.
llvm::SmallVector<mlir::Value> multiplyByWarpgroup(lower::Writer &w, mlir::Type element, const WarpgroupFactor &left,
                                                   const WarpgroupFactor &right, mlir::ValueRange sums);
/// Ends a group of products.
void endProducts(lower::Writer &w);
/// Waits for all groups but the last `left`; returns the sums, which are there then if their group is.
llvm::SmallVector<mlir::Value> waitForProducts(lower::Writer &w, int32_t left, mlir::ValueRange sums);

} // namespace ingot::targets::cuda
