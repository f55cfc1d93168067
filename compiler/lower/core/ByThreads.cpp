#include "compiler/lower/core/ByThreads.h"
#include "compiler/lower/core/Threads.h"

namespace ingot::lower {

ByThreads::ByThreads(const KernelFamily &family, int64_t threads) : family(family), threads(threads) {
  stem = family.stem;
}

/// Returns whether a kernel has several items, each of which is for one thread. A kernel of one item does not look at
/// its range.
static bool isSplit(const KernelShape &shape) { return !shape.grid && !shape.items.is(0) && !shape.items.is(1); }

KernelShape ByThreads::shape(plan::KernelOp kernel, const target::MachineModel &machine) const {
  KernelShape shape = family.shape(kernel, machine);
  if (isSplit(shape)) {
    shape.items = ceilDiv(shape.items, threads);
    shape.grid = Grid{{threads, 1, 1}, 0};
  }
  return shape;
}

mlir::LogicalResult ByThreads::build(Build &build, const KernelShape &) const {
  KernelShape own = family.shape(build.group.kernel, build.w.machine);
  if (isSplit(own)) {
    build.begin = build.begin * threads + threadNumber(build.w);
    build.end = min(build.begin + 1, own.items);
  }
  return family.build(build, own);
}

} // namespace ingot::lower
