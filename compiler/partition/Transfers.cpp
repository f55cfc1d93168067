// Looks at every operand of an op once. A constant is no value that crosses: each device has those that its kernels
// read in its own weights, and only a view of one needs a transfer, for its operand, to say so. Between two devices a
// value goes over the host, where it may have been wanted as well.
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
  llvm::DenseMap<std::pair<Value, int64_t>, Value> known;
  llvm::DenseMap<Block *, Operation *> lastOfArguments; ///< transfers of a block's arguments, in the order of readers

  /// Returns the device where an operand is read.
  int64_t deviceOf(OpOperand &use) {
    if (auto kernel = dyn_cast<plan::KernelOp>(use.getOwner())) {
      return plan::deviceOf(kernel);
    }
    return isa<func::ReturnOp>(use.getOwner()) ? plan::deviceOf(function.getResultAttrDict(use.getOperandNumber())) : 0;
  }

  /// Returns the value in the memory of a device.
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

  /// Whether a view has all of the value that it views: that value crosses, for all who read it in whatever form.
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

  /// Moves views up to the values that they view, as far as these are in the same block and their sizes are known
  /// there. Returns what the last of them views.
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

  /// Whether only the run finds where a view begins, or how large it is.
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
