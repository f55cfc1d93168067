// Puts rows into a tensor, or takes rows out, at a place that the run determines. Three blocks are copied: the rows in
// front of the place, the new ones, and those behind. A work item is a part of the result, and copies what each of the
// three blocks has in that part.
#include "compiler/onnx/ops/ReplaceRows.h"
#include "compiler/lower/Family.h"
#include "compiler/lower/core/CopyElements.h"
#include "compiler/onnx/constants/Constants.h"

using namespace mlir;

namespace ingot::lower {
namespace {

class ReplaceRows : public KernelFamily {
  using Size = support::Size;
  /// Returns the number of elements of a tensor.
  static Size elementsOf(Value v) { return support::product(onnx::sizesOf(Group::typeOf(v))); }

public:
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::ReplaceRowsOp>(); }
  std::string unsupported(Operation *root, const target::MachineModel &machine) const override {
    return whyUnsized(root);
  }
  bool fusesEpilogue(Operation *) const override { return false; }

  KernelShape shape(plan::KernelOp, const target::MachineModel &machine) const override {
    KernelShape s;
    s.items = machine.tuning.lightItems;
    return s;
  }

  LogicalResult build(Build &build, const KernelShape &shape) const override {
    Writer &w = build.w;
    auto op = cast<onnx::ReplaceRowsOp>(build.group.root);
    bool puts = onnx::present(op.getRows());
    Size inner = support::product(ArrayRef(onnx::sizesOf(Group::typeOf(op.getY()))).drop_front());
    Size put = puts ? elementsOf(op.getRows()) : Size(0), kept = elementsOf(op.getY()) - put;
    Buffer data = build.group.buffer(op.getData()), result = build.group.result();
    Ix place = w.ix(w.load(build.group.buffer(op.getBegin()), 0)) * w.hidden(inner);
    Ix all = w.hidden(kept + put), last = w.hidden(kept), rows = w.hidden(put);
    place = max(min(place, last), 0); // a bad place has ended the run already, but the kernel still runs
    Ix count = shape.items, from = floorDiv(all * build.begin, count), to = floorDiv(all * build.end, count);
    // Copies the result's elements from `begin` to `end` that are this item's.
    auto copy = [&](Buffer source, Ix shift, Ix begin, Ix end) {
      begin = max(begin, from);
      copyElements(w, source, begin + shift, result, begin, max(min(end, to) - begin, 0));
    };
    copy(data, 0, 0, place);
    if (puts) {
      copy(build.group.buffer(op.getRows()), Ix(0) - place, place, place + rows);
    }
    copy(data, w.hidden(elementsOf(op.getData()) - kept - put), place + rows, all);
    return success();
  }
};

} // namespace

std::unique_ptr<KernelFamily> createReplaceRowsFamily() { return std::make_unique<ReplaceRows>(); }

} // namespace ingot::lower
