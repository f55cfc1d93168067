// Looks at every operand of every op once. If the op reads in another memory than the one that the operand is in, it
// gets the operand's copy there, which is made once for each memory:
//
//   %y = plan.kernel on device 1              %y = plan.kernel on device 1
//   return %y                                 %0 = plan.transfer %y              (to the host)
//                                             return %0
//
//  - From one device to another a value goes over the host, which may need the copy, too.
//  - A constant needs no transfer: each device has its own section of weights, with the constants that its kernels
//    read. Only a view of a constant gets one, which copies nothing, but says to which section the viewed constant
//    belongs.
//  - A view that shows all of a value is not copied: the value itself is, and is viewed on the other side. All readers,
//    in whatever shape, then share one copy.
#include "compiler/partition/Transfers.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/ops/Constant.h"
#include "compiler/plan/Layout.h"
#include "compiler/plan/Plan.h"

using namespace mlir;

namespace ingot::partition {
namespace {

/// Puts a plan.transfer between each value and its readers in other memories.
class TransferInsertion {
public:
  explicit TransferInsertion(func::FuncOp function) : function(function) {}

  void run() {
    SmallVector<OpOperand *> uses;
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      for (OpOperand &use : op->getOpOperands()) {
        if (!isa<plan::ViewOp, plan::JoinOp>(op)) { // these stay in the memory of the values that they view and join
          uses.push_back(&use);
        }
      }
      return isa<plan::KernelOp>(op) ? WalkResult::skip() : WalkResult::advance();
    });
    for (OpOperand *use : uses) {
      int64_t device = deviceOf(*use);
      if (isa<RankedTensorType>(use->get().getType())) {
        use->set(in(device, use->get()));
      }
    }
  }

private:
  func::FuncOp function;
  llvm::DenseMap<std::pair<Value, int64_t>, Value> known; ///< by value and device, the value in that device's memory
  /// By block, the last transfer of one of the block's arguments. The next one goes behind it, so that arguments cross
  /// in the order in which they are first read.
  llvm::DenseMap<Block *, Operation *> lastOfArguments;

  /// Returns the device in whose memory an operand is read; 0 is the host.
  int64_t deviceOf(OpOperand &use) {
    if (auto kernel = dyn_cast<plan::KernelOp>(use.getOwner())) {
      return plan::deviceOf(kernel);
    }
    return isa<func::ReturnOp>(use.getOwner()) ? plan::deviceOf(function.getResultAttrDict(use.getOperandNumber())) : 0;
  }

  /// Returns `v` in the memory of a device: itself, if it is there already, or its copy.
  Value in(int64_t device, Value v) {
    if (onnx::constantOf(v) || v.getDefiningOp<onnx::NoneOp>()) {
      return v;
    }
    Value view = viewOfConstant(device, v);
    if (view || plan::deviceOf(v) == device) {
      return view ? view : v;
    }
    if (Value there = known.lookup({v, device})) {
      return there;
    }
    if (auto view = v.getDefiningOp<plan::ViewOp>(); view && isWhole(view)) {
      Value there = in(device, view.getX());
      OpBuilder b(view->getContext());
      b.setInsertionPointAfterValue(there);
      return known[{v, device}] =
                 plan::ViewOp::create(b, view.getLoc(), view.getY().getType(), there, view.getOffsetAttr());
    }
    return known[{v, device}] = transfer(device, device && plan::deviceOf(v) ? in(0, v) : v);
  }

  /// Whether a view shows all bytes of the value that it views.
  static bool isWhole(plan::ViewOp view) {
    return plan::physicalBytes(cast<RankedTensorType>(view.getX().getType())) ==
           plan::physicalBytes(cast<RankedTensorType>(view.getY().getType()));
  }

  /// Returns `v` viewed in the memory of the device, if it is a view of a constant; else null.
  Value viewOfConstant(int64_t device, Value v) {
    auto view = v.getDefiningOp<plan::ViewOp>();
    if (!view || !onnx::constantOf(view.getX())) {
      return {};
    }
    if (device == 0) {
      return v;
    }
    Value &there = known[{v, device}];
    if (!there) {
      OpBuilder b(view);
      auto constant = plan::TransferOp::create(b, view.getLoc(), view.getX().getType(), view.getX(), device);
      there = plan::ViewOp::create(b, view.getLoc(), view.getY().getType(), constant, view.getOffsetAttr());
    }
    return there;
  }

  /// Makes a transfer of `v`, as early as possible: right behind the op that makes it, or behind the value that it
  /// views. The copy is then under way while other kernels run, and outside of loops.
  Value transfer(int64_t device, Value v) {
    OpBuilder b(function.getContext());
    Value base = raise(v);
    Operation *&last = lastOfArguments[v.getParentBlock()];
    bool isArgument = isa<BlockArgument>(base);
    if (isArgument && last) {
      b.setInsertionPointAfter(last);
    } else {
      b.setInsertionPointAfterValue(v);
    }
    auto transfer = plan::TransferOp::create(b, v.getLoc(), v.getType(), v, device);
    last = isArgument ? transfer.getOperation() : last;
    return transfer;
  }

  /// If `v` is a view, moves it up, right behind the value that it views, and that up in turn if it is a view as well.
  /// Views stay where they are if the viewed value is of another block, or if only the run finds their size or offset.
  /// Returns the first value that is not moved.
  static Value raise(Value v) {
    auto view = v.getDefiningOp<plan::ViewOp>();
    if (!view || view.getX().getParentBlock() != view->getBlock() || dependsOnRun(view)) {
      return v;
    }
    Value base = raise(view.getX());
    if (Operation *maker = view.getX().getDefiningOp()) {
      view->moveAfter(maker);
    } else {
      view->moveBefore(&view->getBlock()->front());
    }
    return base;
  }

  /// Whether the size or the offset of a view depends on data or on the iteration of a loop, and not only on what the
  /// caller chooses.
  static bool dependsOnRun(plan::ViewOp view) {
    bool depends = false;
    auto look = [&](const support::Size &size) {
      size.eachSymbol([&](support::Symbol symbol) { depends |= symbol.kind() != support::SymbolKind::Chosen; });
    };
    look(view.getOffset().getValue());
    look(plan::physicalBytes(cast<RankedTensorType>(view.getY().getType())));
    return depends;
  }
};

} // namespace

void insertTransfers(func::FuncOp function) {
  if (!plan::devicesOf(function).empty()) {
    TransferInsertion(function).run();
  }
}

} // namespace ingot::partition
