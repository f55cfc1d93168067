// Accesses of 16 bytes for each thread, where elements lie so that the instruction takes them. Where a buffer begins is
// known to the run alone, as what a caller binds to the device may begin anywhere: kernels ask once, all threads alike.
#pragma once
#include "compiler/lower/core/Group.h"
#include <optional>

namespace ingot::targets::cuda {

/// Returns how many neighbours of the widest of these types, in memory, are accessed at once.
int64_t wideLanes(mlir::TypeRange types);
/// Returns the same for a kernel's operands and results.
int64_t wideLanes(plan::KernelOp kernel);

/// Collects what has to be so for wide accesses.
class Wide {
public:
  /// The accesses are vectors of `lanes` neighbours.
  Wide(lower::Writer &w, int64_t lanes) : w(w), lanes(lanes), isNever(lanes == 1) {}
  /// An offset, stride or size has to be a multiple of the lanes.
  void require(lower::Ix number) { requireMultiple(number, lanes); }
  /// A buffer has to begin at a multiple of a vector's size.
  void requireBegin(lower::Buffer buffer);
  /// Vectors at multiples of `lanes` of the last coordinate have to be neighbours, or one element that repeats.
  void require(const lower::Space &space, llvm::ArrayRef<const lower::Access *> accesses);
  /// Returns (i1) whether all of it is so; nothing where it never is.
  std::optional<mlir::Value> condition();

private:
  lower::Writer &w;
  int64_t lanes;
  bool isNever;
  mlir::Value rest; ///< not 0 where something is no multiple; null: nothing has to be asked in a run

  void requireMultiple(lower::Ix number, int64_t multiple);
};

/// Writes code twice: what accesses vectors, for runs that find `condition` so (Wide::condition), and what accesses
/// elements for all others. Of the former all vectors are said to lie at multiples of their size.
void writeWhereWide(lower::Writer &w, std::optional<mlir::Value> condition, llvm::function_ref<void()> vectors,
                    llvm::function_ref<void()> elements);

/// Returns all accesses of a space.
llvm::SmallVector<const lower::Access *> accessesOf(const lower::Space &space);

/// Says of all loads and stores of vectors in a region that they are at multiples of their size.
void alignVectors(mlir::Region &region);

} // namespace ingot::targets::cuda
