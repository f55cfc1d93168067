#include "test/targets/loopback/Blocks.h"
#include "compiler/lower/core/Threads.h"
#include "compiler/lower/core/Vectors.h"
#include "compiler/onnx/ops/Reduce.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "compiler/plan/Layout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ingot::targets::loopback {
namespace {

/// Sums and products along an axis: a block for each line. Each thread combines a part of the line, all of them share
/// what they have, and each goes through its part once more from where those before it end. They share it in the memory
/// of the block, where each thread reads those of all others, or, of reversed sums, in scratch memory, where each hands
/// on what its neighbour has.
class BlockSums final : public lower::KernelFamily {
public:
  BlockSums() { stem = "BlockSums"; }

  SmallVector<TypeID> roots() const override { return rootsOf<onnx::CumulativeOp>(); }
  bool fusesEpilogue(Operation *) const override { return false; }
  std::string unsupported(Operation *root, const target::MachineModel &machine) const override {
    bool shares = !cast<onnx::CumulativeOp>(root).getReverse();
    return !shares || partBytes <= machine.limits.sharedBytes
               ? ""
               : "its threads would share " + std::to_string(partBytes) + " bytes, and those of a block share " +
                     std::to_string(machine.limits.sharedBytes);
  }

  /// Images are as GPUs like them best, unless the sums are over their channels.
  lower::LayoutRule layoutRule(Operation *root, const target::MachineModel &) const override {
    RankedTensorType type = onnx::ranked(root->getResult(0));
    bool isImage = type.getRank() == 4 && plan::canBlock(type) && type.getDimSize(1) > 1;
    return isImage && cast<onnx::CumulativeOp>(root).getAxis() > 1 ? lower::LayoutRule::ChannelsLast
                                                                   : lower::LayoutRule::RowMajor;
  }

  lower::KernelShape shape(plan::KernelOp kernel, const target::MachineModel &) const override {
    auto op = cast<onnx::CumulativeOp>(kernel.root());
    support::Sizes sizes = onnx::sizesOf(onnx::ranked(op.getX()));
    sizes.erase(sizes.begin() + static_cast<int64_t>(op.getAxis()));
    lower::KernelShape shape;
    shape.items = support::product(sizes);
    shape.grid = lower::Grid{{threads, 1, 1}, op.getReverse() ? 0 : partBytes};
    shape.scratchBytes = op.getReverse() ? shape.items * partBytes : 0;
    return shape;
  }

  LogicalResult build(lower::Build &build, const lower::KernelShape &) const override {
    lower::Writer &w = build.w;
    auto op = cast<onnx::CumulativeOp>(build.group.root);
    lower::Buffer x = build.group.buffer(op.getX()), y = build.group.result();
    Type element = lower::valueType(x.element);
    lower::Combine how = op.getKind() == "Prod" ? lower::Combine::Mul : lower::Combine::Add;
    support::Sizes sizes = onnx::sizesOf(onnx::ranked(op.getX()));
    auto axis = static_cast<size_t>(op.getAxis());
    lower::Ix extent = sizes[axis];
    lower::Ix own = floorDiv(extent + (threads - 1), threads), thread = lower::threadNumber(w);
    lower::Ix from = min(thread * own, extent), to = min(from + own, extent);
    lower::Ixs line = lineOf(build.begin, sizes, axis);
    plan::Strides places = plan::stridesOf(build.group.resultType()); // the operand's, too
    auto placeOf = [&](lower::Ix i) {
      line[axis] = op.getReverse() ? extent - 1 - i : i;
      lower::Ix place = places.offset;
      for (auto [d, at] : llvm::enumerate(line)) {
        // With channels in a block the strides are those of blocks and of what is in them.
        bool isChannel = places.lanes > 1 && d == 1;
        place = place + (isChannel ? remainder(at, places.lanes) : at * lower::Ix(places.strides[d]));
      }
      return place;
    };
    Value none = neutral(w, how, element);
    auto all = w.loop(from, to, 1, none, [&](lower::Ix i, ValueRange carried) {
      return SmallVector<Value>{combine(w, how, carried[0], w.load(x, placeOf(i)))};
    });
    Value before =
        build.scratch ? handedOn(build, thread, how, all[0], none) : sumOfShared(w, thread, how, all[0], none, element);
    w.loop(from, to, 1, before, [&](lower::Ix i, ValueRange carried) {
      Value sum = combine(w, how, carried[0], w.load(x, placeOf(i)));
      w.store(op.getExclusive() ? carried[0] : sum, y, placeOf(i));
      return SmallVector<Value>{sum};
    });
    return success();
  }

private:
  static constexpr int64_t threads = 8, partBytes = (threads + 1) * 8;

  /// What the threads in front of this one have, all together.
  static Value sumOfShared(lower::Writer &w, lower::Ix thread, lower::Combine how, Value own, Value none,
                           Type element) {
    lower::Buffer parts = w.scratch(lower::sharedMemory(w), 0, element, threads);
    w.store(own, parts, thread);
    lower::barrier(w);
    return w.loop(0, thread, 1, none, [&](lower::Ix other, ValueRange carried) {
      return SmallVector<Value>{combine(w, how, carried[0], w.load(parts, other))};
    })[0];
  }

  /// Returns what sumOfShared does, after as many steps as there are threads: in each step a thread gives its
  /// neighbour what it got and its own.
  static Value handedOn(lower::Build &build, lower::Ix thread, lower::Combine how, Value own, Value none) {
    lower::Writer &w = build.w;
    lower::Buffer parts = w.scratch(build.scratch, build.begin * partBytes, own.getType(), threads + 1);
    w.store(none, parts, thread);
    Value before = none;
    for (int64_t step = 0; step < threads; ++step) {
      lower::barrier(w);
      w.store(combine(w, how, before, own), parts, thread + 1);
      lower::barrier(w);
      before = w.load(parts, thread);
    }
    return before;
  }

  /// Where line `number` is along all axes but one.
  static lower::Ixs lineOf(lower::Ix number, ArrayRef<support::Size> sizes, size_t axis) {
    lower::Ixs line(sizes.size(), 0);
    for (size_t d = sizes.size(); d-- > 0;) {
      if (d != axis) {
        line[d] = remainder(number, sizes[d]);
        number = floorDiv(number, sizes[d]);
      }
    }
    return line;
  }
};

} // namespace

Blocks::Blocks() : sums(std::make_unique<BlockSums>()) {}

const lower::KernelFamily *Blocks::family(Operation *root) const {
  if (isa_and_nonnull<onnx::CumulativeOp>(root)) {
    return sums.get();
  }
  const lower::KernelFamily *common = lower::compilersFamily(root);
  if (!common) {
    return nullptr;
  }
  std::lock_guard<std::mutex> guard(lock);
  std::unique_ptr<lower::ByThreads> &own = byThreads[common];
  if (!own) {
    own = std::make_unique<lower::ByThreads>(*common, /*threads=*/4);
  }
  return own.get();
}

} // namespace ingot::targets::loopback
