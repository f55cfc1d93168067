#include "compiler/lower/core/ByThreads.h"
#include "compiler/lower/core/Threads.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

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

LogicalResult ByThreads::build(Build &build, const KernelShape &) const {
  KernelShape shape = family.shape(build.group.kernel, build.w.machine);
  if (isSplit(shape)) {
    // Threads behind the last item have an empty range that does not end where the items do: what is left over belongs
    // to whoever has the last of them (Portion::rest).
    Writer &w = build.w;
    Ix own = build.begin * threads + threadNumber(w);
    Value none = w.value(Ix(0)), isItem = w.compare(arith::CmpIPredicate::slt, own, shape.items);
    build.begin = w.ix(arith::SelectOp::create(w.b, w.loc, isItem, w.value(own), none));
    build.end = w.ix(arith::SelectOp::create(w.b, w.loc, isItem, w.value(own + 1), none));
  }
  return family.build(build, shape);
}

} // namespace ingot::lower
