// Multiplies matrices by a block of threads. The block goes over the depth in steps; in each it brings a piece of
// either factor into the memory that its threads share, and each thread multiplies what its own sums need from there:
//
//   thread (ty, tx) of 16 by 16 has the sums of rows ty, ty + 16, ... and columns tx, tx + 16, ... of the tile
//
// so that the threads of a warp read neighbours in shared memory, and write neighbours of a row of the result. What the
// factors are, the caller says: elements of tensors, or pixels under the taps of a convolution.
#pragma once
#include "compiler/lower/Family.h"

namespace ingot::targets::cuda {

/// A factor: lines (rows of the left one, columns of the right one) of elements along the depth.
struct Factor {
  /// Loads element `from + k` of the depth, where a step begins at `from`.
  using Load = std::function<mlir::Value(lower::Ix from, lower::Ix k)>;
  /// Called for each line that a thread loads from, ahead of the loop over the depth; returns what loads its elements.
  std::function<Load(lower::Ix line)> line;
  lower::Ix lines;        ///< how many there are
  bool alongDepth = true; ///< elements of a line are neighbours in memory; else those of neighbouring lines are
  bool isCostly = false;  ///< to find an element takes many registers, so that few of them are loaded at once
  /// Returns the address (i64) of an element, from which its neighbours are copied in vectors; null: by elements alone.
  std::function<mlir::Value(lower::Ix line, lower::Ix depth)> address = {};
};

class TileProduct {
public:
  static constexpr int64_t side = 16, threads = side * side, step = 16; ///< of threads, and of the depth

  /// A tile of rows by columns, multiples of 16, for elements of this type. `isWhole`: the depth is whole steps. With
  /// `leftBytes` they are i32 that hold four bytes each, which are of this type (ui8 or i8) in the left factor and of
  /// the other one in the right factor.
  TileProduct(lower::Writer &w, mlir::Type element, int64_t rows, int64_t columns, bool isWhole,
              mlir::Type leftBytes = {})
      : w(w), element(element), rows(rows), columns(columns), isWhole(isWhole), leftBytes(leftBytes) {}

  /// Returns the grid of a kernel of such tiles.
  static lower::Grid grid(int64_t elementBytes, int64_t rows, int64_t columns) {
    return {{threads, 1, 1}, elementBytes * step * (pitchOf(rows) + pitchOf(columns))};
  }

  /// Writes the tile whose first row and column these are. `first` gives what sums begin with, and `finish` gets what
  /// they are.
  void write(const Factor &left, const Factor &right, lower::Ix depth, lower::Ix row, lower::Ix column,
             llvm::function_ref<mlir::Value(lower::Ix row)> first,
             llvm::function_ref<void(lower::Ix row, lower::Ix column, mlir::Value sum)> finish);

private:
  lower::Writer &w;
  mlir::Type element;
  int64_t rows, columns;
  bool isWhole;
  mlir::Type leftBytes;

  /// A line of the tile in shared memory is this many elements behind the one before it in depth: two more than it has
  /// lines keep the threads that store along the depth in different banks.
  static int64_t pitchOf(int64_t lines) { return lines + 2; }

  /// What a thread loads of a factor in each step: elements `at` of the shared memory, by the functions for their
  /// lines.
  struct Part {
    std::vector<Factor::Load> load;
    llvm::SmallVector<lower::Ix> depth, at;
  };
  Part partOf(const Factor &factor, int64_t lines, lower::Ix from, lower::Ix thread);
  mlir::Value multiplyAdd(mlir::Value a, mlir::Value b, mlir::Value sum);
};

} // namespace ingot::targets::cuda
