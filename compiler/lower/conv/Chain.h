// A chain: kernels of which each reads the rows that the one before it makes, as one kernel that goes over the image
// from its first row to its last in strips, so that what passes between them stays in the second cache.
//
// The chain is a kernel of kernels, its links. What a link makes for the next one lies in a ring of as many rows as
// that reads at a time. A strip is some rows of the last link's result. For each strip, the links in their order make
// the rows that are not in their rings yet; rows of padding are filled in. So each row is made once in a run of strips,
// and the first strip of a run makes all that it reads.
#pragma once
#include "compiler/lower/Family.h"

namespace ingot::lower {

struct Chain {
  struct Link {
    mutable plan::KernelOp kernel; ///< MLIR's accessors are not const
    RowShape shape;
    int64_t height;                              ///< rows of its result
    Ring ring = {};                              ///< of its result; the last link has none
    int64_t ringAt = 0;                          ///< bytes from the beginning of the rings
    int64_t resultBytes = 0;                     ///< of an image
    bool padsBefore = false, padsBehind = false; ///< whether the next link reads rows before the image's, and behind
  };
  llvm::SmallVector<Link, 4> links;
  int64_t stripRows = 1;
  int64_t ringBytes = 0; ///< all rings
  support::Size batch;
  int64_t heavyItems; ///< MachineModel::Tuning

  int64_t strips() const { return static_cast<int64_t>(llvm::divideCeil(links.back().height, stripRows)); }
  support::Size units() const { return batch * strips(); } ///< strips of all images
  /// Work items: runs of strips, each with rings of its own; as many as all rings together are half as large as what
  /// they stand for, or few.
  support::Size items() const;
  bool isSmaller() const; ///< whether the rings of all work items take less memory than the results would

  double cycles = 0, separateCycles = 0; ///< expected of an image, by rows and with each kernel by itself
};

/// A kernel as a link; nothing: it cannot be one.
std::optional<Chain::Link> linkOf(plan::KernelOp kernel, const target::MachineModel &machine);
/// The chain of links of which each one's first data operand is the result of the one before it; nothing: their rings
/// do not fit the second cache, or one leaves out rows of another.
std::optional<Chain> chainOf(llvm::ArrayRef<Chain::Link> links, const target::MachineModel &machine);
/// The kernels of a kernel of kernels; none, where it is another one.
llvm::SmallVector<plan::KernelOp> linksOf(plan::KernelOp kernel);

KernelShape chainShape(const Chain &chain, const target::MachineModel &machine);

} // namespace ingot::lower
