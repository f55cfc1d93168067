// Multiplies matrices of float16 or bfloat16 on tensor cores, by a block of four warps: mma.m16n8k16, whose sums are
// float32. Products of such numbers are exact in float32, so that only the order of the sums differs from
// multiply-adds.
//
// The block brings 32 steps of the depth of either factor into shared memory at a time, [line][step], from where each
// thread takes pairs of neighbouring steps as the instruction wants them. A warp has 32 rows and 32 columns of a tile
// of 64 by 64.
#pragma once
#include "targets/cuda/TileProduct.h"

namespace ingot::targets::cuda {

class TensorProduct {
public:
  static constexpr int64_t side = 64, threads = 128;

  TensorProduct(lower::Writer &w, mlir::Type element) : w(w), element(element) {}

  /// Returns float16 or bfloat16 where both values are of it and the machine has the instruction; else null.
  static mlir::Type elementFor(mlir::Value left, mlir::Value right, const target::MachineModel &machine);
  /// Returns the numbers of a buffer of such floats as they are.
  static lower::Buffer raw(lower::Writer &w, const lower::Buffer &buffer);

  /// Returns the grid of a kernel of such tiles.
  static lower::Grid grid() { return {{threads, 1, 1}, 2 * side * pitch * 2}; }

  /// As TileProduct::write, of factors whose elements are the bits of such numbers.
  void write(const Factor &left, const Factor &right, lower::Ix depth, lower::Ix row, lower::Ix column,
             llvm::function_ref<mlir::Value(lower::Ix row)> first,
             llvm::function_ref<void(lower::Ix row, lower::Ix column, mlir::Value sum)> finish);

private:
  static constexpr int64_t step = 32, pitch = step + 8; ///< eight more, so that a warp reads from all banks
  static constexpr int64_t share = 32;                  ///< rows and columns of a warp
  lower::Writer &w;
  mlir::Type element;

  void bring(const Factor &factor, lower::Ix from, lower::Ix depth, lower::Ix line, lower::Buffer to);
  /// Returns the pair of steps 2 * `pair` and the next of a line.
  mlir::Value pairOf(lower::Buffer words, lower::Ix line, lower::Ix pair);
  /// Adds the products of 16 steps to the four sums that a thread has of a tile of 16 by 8.
  llvm::SmallVector<mlir::Value> multiply(llvm::ArrayRef<mlir::Value> a, llvm::ArrayRef<mlir::Value> b,
                                          mlir::ValueRange sums);
};

} // namespace ingot::targets::cuda
