// A kernel's region as a builder sees it: where operands and results lie, and the elementwise ops around the root,
// which are applied to one vector at a time while it is in a register. It is written once, and serves every root,
// layout, vector length and target.
#pragma once
#include "compiler/lower/bytes/ByteCurve.h"
#include "compiler/plan/Layout.h"
#include "llvm/ADT/MapVector.h"

namespace ingot::lower {

/// How a tensor is read at a point of an iteration space. The element of a lane is lane * laneStride behind that of
/// lane 0.
struct Access : support::Strided<Ix> {
  Buffer buffer;
  /// 1: lanes are contiguous; 0: one element serves all lanes; a value of the run where only that knows which
  Ix laneStride = 1;

  /// Returns row `r` of an image as the strides count rows: in a ring, modulo its rows. `r` may be negative by at most
  /// a ring's rows.
  Ix row(Ix r) const { return buffer.ring.rows ? remainder(r + buffer.ring.rows, buffer.ring.rows) : r; }
  /// Returns where the first lane's element is.
  Ix at(llvm::ArrayRef<Ix> point) const;
};

/// The loops over a tensor, and how every operand and result of the kernel is accessed from there. There is one
/// iteration dimension for each axis. In blocked layout the channel axis counts blocks, and the lanes of a block are an
/// axis of their own, which no loop runs over.
struct Space {
  mlir::RankedTensorType type;
  Ixs sizes;
  int64_t block = 1; ///< lanes of a channel block; 1 in row-major spaces, where lanes run along the last dimension
  llvm::MapVector<mlir::Value, Access>
      accesses; ///< how each argument of the region is accessed that can be read from here
  /// How the kernel's results of this shape are accessed.
  llvm::SmallVector<Access, 1> results;
  /// Merges all neighbouring dimensions that all accesses walk as one. Points have fewer coordinates afterwards.
  void collapse();
  /// Returns whether all accesses walk dimensions i - 1 and i as one.
  bool mergeable(size_t i) const;
  /// Makes these dimensions one, at i - 1.
  void merge(size_t i);
};

/// The place of one vector: coordinates in a Space. In row-major spaces the lanes run along the last coordinate, from
/// at.back() on.
struct Point {
  llvm::SmallVector<Ix> at;
  int64_t lanes = 1; ///< 1: a scalar; in blocked spaces always the block
  mlir::Value mask;  ///< the lanes that count; null: all
  /// Whether the results are stored past the caches (Writer::storePastCaches).
  bool pastCaches = false;
};

/// The region of one kernel, with the buffers of its operands and results.
class Group {
public:
  Group(Writer &w, plan::KernelOp kernel, llvm::ArrayRef<Buffer> operands, llvm::ArrayRef<Buffer> results);

  Writer &w;
  mutable plan::KernelOp kernel;   ///< mutable because MLIR's accessors are not const
  mlir::Operation *root = nullptr; ///< null: the kernel has elementwise ops only
  bool isStrict;                   ///< whether narrow floats are rounded behind every op, and not only in memory

  mlir::RankedTensorType resultType(unsigned i = 0) const {
    return llvm::cast<mlir::RankedTensorType>(kernel.getResult(i).getType());
  }
  Buffer result(unsigned i = 0) const { return results[i]; }
  /// Returns the buffer behind a root operand that is an argument of the region; null when the operand is computed in
  /// the region or left out.
  Buffer buffer(mlir::Value v) const;
  /// Returns the kernel operand (outside the region) that an argument of the region stands for.
  mlir::Value outside(mlir::Value v) const;
  /// Returns the type of a root operand, with its layout.
  static mlir::RankedTensorType typeOf(mlir::Value v) { return llvm::cast<mlir::RankedTensorType>(v.getType()); }
  /// Returns whether anything stands between the root and the (single) result.
  bool hasEpilogue() const;

  /// Returns where a tensor's iteration dimensions (plan::stridesOf) lie in a buffer: in all of it, or in its ring.
  static support::Strided<Ix> placeIn(const Buffer &buffer, mlir::RankedTensorType type);

  /// Returns the loops over a tensor of `type`, from which every argument that broadcasts to it can be read. Axes of
  /// which only the run knows whether they repeat have strides that the run computes, or, with `equal`, are taken to
  /// have the tensor's sizes.
  Space space(mlir::RankedTensorType type, bool equal = false) const;

  /// Returns (i1) whether all axes of which only the run knows whether they repeat over a tensor of `type` have its
  /// sizes; null where there are no such axes.
  mlir::Value isEqual(mlir::RankedTensorType type) const;

  /// Returns one vector of a value of the region: an argument is loaded, a constant splat, and an elementwise op
  /// computed from its operands.
  mlir::Value read(mlir::Value v, const Space &space, const Point &at) const;

  /// Returns whether the first op behind the root adds numbers that differ by channel only to its sums of int32. From
  /// then on the vectors of the root's result are the sums with these numbers, and the builder begins the accumulators
  /// with firstSums(). (Sums of floats would be rounded otherwise.)
  bool beginSums(const Space &space);
  /// Returns the numbers that are added at a point.
  mlir::Value firstSums(const Space &space, const Point &at) const;

  /// Applies the epilogue to one vector of the root's result and stores the kernel's results. `space` is that of the
  /// result type.
  void finish(mlir::Value rootVector, const Space &space, const Point &at) const;
  /// Finishes some vectors, written out one after the other. Vectors of bytes that are neighbours in memory are
  /// narrowed and stored together.
  void finishSome(llvm::ArrayRef<mlir::Value> rootVectors, const Space &space, llvm::ArrayRef<Point> points) const;
  /// Returns how many vectors of `lanes` lanes of the root's result, neighbours in memory, should be narrowed and
  /// stored by one call of finishSome().
  int64_t vectorsPerStore(int64_t lanes) const;
  /// Finishes a tile of vectors, of which the one at i * inner + j is the result at the point (i, j). Where the
  /// epilogue is long, i is a loop over the tile in a small array: written out it would be more code than the
  /// instruction caches hold, which would then be read again for each tile.
  void finishTile(llvm::ArrayRef<mlir::Value> rootVectors, int64_t inner, const Space &space,
                  llvm::function_ref<Point(Ix i, int64_t j)> pointAt) const;
  /// Finishes only rows [rows.first, rows.second) and columns [columns.first, columns.second) of a tile, bounds that
  /// the run determines.
  void finishPart(llvm::ArrayRef<mlir::Value> rootVectors, int64_t inner, std::pair<Ix, Ix> rows,
                  std::pair<Ix, Ix> columns, const Space &space, llvm::function_ref<Point(Ix i, Ix j)> pointAt) const;
  /// Applies the epilogue to one vector, and returns the vectors to be stored (one for each result) instead of storing
  /// them.
  llvm::SmallVector<mlir::Value> epilogue(mlir::Value rootVector, const Space &space, const Point &at) const;

private:
  llvm::SmallVector<Buffer> operands, results;
  /// The value that the builder's vectors are, where it is not the root's result but its sum with an argument
  /// (beginSums).
  mlir::Value begun;
  mutable Buffer tile; ///< the array of finishTile()
  mutable size_t tileElements = 0;
  mutable KnownSegments knownSegments;
  /// Returns whether the epilogue computes an expensive function.
  bool hasLongEpilogue() const;
  /// Returns whether the epilogue may have a function of bytes that is computed by lines (ByteCurve).
  bool isByteCurve() const;
  /// Stores a tile in the array; returns the lanes of its vectors.
  int64_t keepTile(llvm::ArrayRef<mlir::Value> rootVectors) const;
  mlir::Value compute(mlir::Value v, const Space &space, const Point &at,
                      llvm::DenseMap<mlir::Value, mlir::Value> &known) const;
};

} // namespace ingot::lower
