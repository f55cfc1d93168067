// Ends products of few rows. A block of eight warps has 32 columns of the result. Each thread has sums of some
// neighbouring columns over its share of the depth; threads of the same columns add up theirs by shuffles within a
// warp, then through shared memory.
#pragma once
#include "compiler/lower/Family.h"

namespace ingot::targets::cuda {

class FewRows {
public:
  static constexpr int64_t most = 8;  ///< rows
  static constexpr int64_t step = 32; ///< of the depth, that threads at least have together
  static constexpr int64_t columns = 32, warp = 32, warps = 8, threads = warp * warps;

  /// Each thread has `lanes` columns.
  FewRows(lower::Writer &w, int64_t lanes) : w(w), lanes(lanes) {}

  /// Returns the grid of such a kernel, whose sums have so many bytes.
  static lower::Grid grid(int64_t elementBytes) { return {{threads, 1, 1}, elementBytes * warps * columns}; }

  /// Returns this thread's first column in the block.
  lower::Ix column() const;
  /// Returns which share of the depth is this thread's, of `shares()`.
  lower::Ix share() const;
  int64_t shares() const { return warps * lanes; }

  /// Adds up the sums, a number or a vector for each row. `finish` is called for each of them with the thread's final
  /// column in the block, and whether (i1) it has one.
  void finish(mlir::ValueRange sums,
              llvm::function_ref<void(int64_t row, lower::Ix column, mlir::Value hasOne, mlir::Value sum)> finish);

  /// Returns the sum over threads whose numbers differ in the bits from `from` up to below `to`.
  static mlir::Value sumOver(lower::Writer &w, mlir::Value sum, int64_t from, int64_t to);

private:
  lower::Writer &w;
  int64_t lanes;
};

} // namespace ingot::targets::cuda
