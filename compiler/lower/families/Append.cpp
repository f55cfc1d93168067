// Writes rows into a cache, which is copied first where the result lies elsewhere. There is a work item for each part
// of the cache that is contiguous along the axis and behind it.
#include "compiler/onnx/ops/Append.h"
#include "compiler/lower/Family.h"
#include "compiler/lower/core/CopyElements.h"

using namespace mlir;

namespace ingot::lower {
namespace {

class Append : public KernelFamily {
  using Size = support::Size;
  /// The parts of the cache, in elements.
  struct Parts {
    /// How many parts there are; elements of a part: in the cache, to be written, and in front of those.
    Size count, capacity, rows, before;
  };
  static Parts partsOf(onnx::AppendOp op) {
    support::Sizes cache = onnx::sizesOf(Group::typeOf(op.getCache())),
                   rows = onnx::sizesOf(Group::typeOf(op.getRows()));
    size_t axis = op.getAxis();
    Size inner = support::product(ArrayRef(cache).drop_front(axis + 1));
    return {support::product(ArrayRef(cache).take_front(axis)), cache[axis] * inner, rows[axis] * inner,
            op.place() * inner};
  }

public:
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::AppendOp>(); }
  bool fusesEpilogue(Operation *) const override { return false; }

  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &) const override {
    auto op = cast<onnx::AppendOp>(kernel.root());
    KernelShape s;
    s.items = partsOf(op).count;
    s.replaces(op.getCache());
    return s;
  }

  LogicalResult build(Build &build, const KernelShape &) const override {
    Writer &w = build.w;
    auto op = cast<onnx::AppendOp>(build.group.root);
    Parts parts = partsOf(op);
    Buffer cache = build.group.buffer(op.getCache()), rows = build.group.buffer(op.getRows()),
           result = build.group.result();
    Ix capacity = w.hidden(parts.capacity), count = w.hidden(parts.rows), before = w.hidden(parts.before);
    Value copied = w.elsewhere(cache, result);
    w.loop(build.begin, build.end, 1, [&](Ix i) {
      w.ifThen(copied, [&] { copyElements(w, cache, i * capacity, result, i * capacity, capacity); });
      copyElements(w, rows, i * count, result, i * capacity + before, count);
    });
    return success();
  }
};

} // namespace

std::unique_ptr<KernelFamily> createAppendFamily() { return std::make_unique<Append>(); }

} // namespace ingot::lower
