// A kernel's region as a builder sees it: where operands and results lie, and the elementwise ops around the root,
// applied to one vector at a time while it is in a register. Written once; serves every root, layout, vector length and
// target.
#pragma once
#include "compiler/lower/bytes/ByteCurve.h"
#include "compiler/plan/Layout.h"
#include "llvm/ADT/MapVector.h"

namespace ingot::lower {

/// How a tensor is read at a point of an iteration space; a lane's element is lane * laneStride behind.
struct Access : support::Strided<Ix> {
  Buffer buffer;
  Ix laneStride = 1; ///< 1: contiguous; 0: the same element for all lanes; either, where only the run knows

  /// Row `r` of an image, at most a ring's rows before the first one, as the strides count them.
  Ix row(Ix r) const { return buffer.ring.rows ? remainder(r + buffer.ring.rows, buffer.ring.rows) : r; }
  Ix at(llvm::ArrayRef<Ix> point) const;
};

/// The loops over a tensor: one iteration dimension for each axis (in blocked layout the channel axis counts blocks and
/// the lanes of a block are an axis of their own, which no loop runs over), and how every operand and result of the
/// kernel is accessed from there.
struct Space {
  mlir::RankedTensorType type;
  Ixs sizes;
  int64_t block = 1; ///< lanes of a channel block; 1 in row-major, where lanes run along the last dimension
  llvm::MapVector<mlir::Value, Access>
      accesses; ///< of region arguments and, by yield operand position, results (see Group)
  llvm::SmallVector<Access, 1> results;
  /// Merges neighbouring dimensions that all accesses walk as one. Points then have fewer coordinates.
  void collapse();
  /// Whether all accesses walk dimensions i - 1 and i as one; and makes them one, at i - 1.
  bool mergeable(size_t i) const;
  void merge(size_t i);
};

/// One vector's place: coordinates in a Space. In row-major spaces the lanes run along the last coordinate, from
/// at.back() on.
struct Point {
  llvm::SmallVector<Ix> at;
  int64_t lanes = 1; ///< 1: a scalar; in blocked spaces always the block
  mlir::Value mask;  ///< of lanes; null: all
};

class Group {
public:
  Group(Writer &w, plan::KernelOp kernel, llvm::ArrayRef<Buffer> operands, llvm::ArrayRef<Buffer> results);

  Writer &w;
  mutable plan::KernelOp kernel;   ///< MLIR's accessors are not const
  mlir::Operation *root = nullptr; ///< null: a kernel of elementwise ops only
  bool isStrict;                   ///< narrow floats are rounded behind every op, not only in memory

  mlir::RankedTensorType resultType(unsigned i = 0) const {
    return llvm::cast<mlir::RankedTensorType>(kernel.getResult(i).getType());
  }
  Buffer result(unsigned i = 0) const { return results[i]; }
  /// The buffer behind a root operand that is a region argument; null when it is computed in the region or left out.
  Buffer buffer(mlir::Value v) const;
  /// The kernel operand (outside the region) that a region argument stands for.
  mlir::Value outside(mlir::Value v) const;
  /// Type with layout of a root operand.
  static mlir::RankedTensorType typeOf(mlir::Value v) { return llvm::cast<mlir::RankedTensorType>(v.getType()); }
  /// Whether anything but the root stands between it and the (single) result.
  bool hasEpilogue() const;

  /// Where a tensor's iteration dimensions (plan::stridesOf) lie in a buffer: in all of it, or in its ring.
  static support::Strided<Ix> placeIn(const Buffer &buffer, mlir::RankedTensorType type);

  /// The loops over a tensor of `type`, from which every argument that broadcasts to it can be read. Axes of which only
  /// the run knows whether they repeat have strides that it computes, or are taken to be `equal`.
  Space space(mlir::RankedTensorType type, bool equal = false) const;

  /// Whether all axes of which only the run knows whether they repeat over a tensor of `type` have its sizes; null
  /// where there are none.
  mlir::Value isEqual(mlir::RankedTensorType type) const;

  /// One vector of a region value: an argument is loaded, a constant splat, an elementwise op computed from its
  /// operands.
  mlir::Value read(mlir::Value v, const Space &space, const Point &at) const;

  /// Whether numbers that differ by channel only are added to the root's sums of int32 before anything else. From then
  /// on the vectors of the root's result are those sums: the builder begins them with firstSums. (Of floats the sums
  /// would be rounded otherwise.)
  bool beginSums(const Space &space);
  /// What is added at a point.
  mlir::Value firstSums(const Space &space, const Point &at) const;

  /// Applies what follows the root to one vector of its result and stores the kernel's results. `space` is that of the
  /// result type.
  void finish(mlir::Value rootVector, const Space &space, const Point &at) const;
  /// The same for some vectors, written out: neighbouring ones of bytes are narrowed and stored together.
  void finishSome(llvm::ArrayRef<mlir::Value> rootVectors, const Space &space, llvm::ArrayRef<Point> points) const;
  /// How many vectors of `lanes` of the root's result should be finished at once, as neighbours in memory.
  int64_t together(int64_t lanes) const;
  /// The same for a tile of vectors: the one at i * inner + j is the result at the point (i, j). Where what follows the
  /// root is long, i is a loop, over the tile in a small array: written out it would be more code than the caches for
  /// instructions hold, which is then read again for each tile.
  void finishTile(llvm::ArrayRef<mlir::Value> rootVectors, int64_t inner, const Space &space,
                  llvm::function_ref<Point(Ix i, int64_t j)> pointAt) const;
  /// The same for a part of the tile that the run tells: i and j from the first to before the second.
  void finishPart(llvm::ArrayRef<mlir::Value> rootVectors, int64_t inner, std::pair<Ix, Ix> rows,
                  std::pair<Ix, Ix> columns, const Space &space, llvm::function_ref<Point(Ix i, Ix j)> pointAt) const;
  /// The same, but gives the vectors to be stored instead of storing them (one for each result).
  llvm::SmallVector<mlir::Value> epilogue(mlir::Value rootVector, const Space &space, const Point &at) const;

private:
  llvm::SmallVector<Buffer> operands, results;
  mlir::Value begun;   ///< what the vectors of the root's result are, where it is not that: a sum of it and an argument
  mutable Buffer tile; ///< of finishTile
  mutable size_t tileElements = 0;
  mutable KnownPieces knownPieces;
  /// Whether a function is computed behind the root.
  bool hasLongEpilogue() const;
  /// Whether there may be one that bytes are made of by lines (ByteCurve).
  bool isByteCurve() const;
  int64_t keepTile(llvm::ArrayRef<mlir::Value> rootVectors) const; ///< the lanes of its vectors
  mlir::Value compute(mlir::Value v, const Space &space, const Point &at,
                      llvm::DenseMap<mlir::Value, mlir::Value> &known) const;
};

} // namespace ingot::lower
