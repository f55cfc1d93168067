// Describes for people what crosses between memories and for whom: the ONNX node that makes a value, and those that
// read it.
#include "compiler/onnx/Control.h"
#include "compiler/onnx/InterfaceAttributes.h"
#include "compiler/pipeline/State.h"
#include "compiler/plan/Layout.h"
#include "compiler/plan/Plan.h"

using namespace mlir;

namespace ingot::pipeline {
namespace {

/// Returns a node as "'conv1' (Conv)"; it is the first that the location names, since a kernel's location is that of
/// all its nodes.
std::string nodeText(Location loc) {
  std::string text;
  onnx::eachNode(
      loc, [&](StringRef node, StringRef op) { text = text.empty() ? ("'" + node + "' (" + op + ")").str() : text; });
  return text;
}

class TransferEnds {
public:
  explicit TransferEnds(func::FuncOp function) : function(function) {
    specs.push_back("");
    for (StringRef spec : plan::devicesOf(function)) {
      specs.push_back(spec.str());
    }
  }

  /// Describes a transfer, or each part of a bundle.
  void describe(plan::TransferOp op, double saved, std::vector<Transfer> &transfers) {
    int copy = transfers.empty() ? 0 : transfers.back().copy + 1;
    auto add = [&](Value from, Value to) {
      transfers.push_back(valueOf(op, from, to));
      transfers.back().copy = copy;
      transfers.back().saved = saved;
    };
    if (!op.getX().getDefiningOp<plan::BundleOp>()) {
      return add(op.getX(), op.getY());
    }
    for (Operation *next = op->getNextNode(); next; next = next->getNextNode()) {
      auto view = dyn_cast<plan::ViewOp>(next);
      if (view && view.getX() == op.getY()) {
        add(plan::crossedPart(view), view);
      }
    }
  }

private:
  func::FuncOp function;
  std::vector<std::string> specs;

  Transfer valueOf(plan::TransferOp op, Value from, Value to) {
    Transfer transfer;
    transfer.value = sourceText(from);
    transfer.from = specs[plan::deviceOf(from)];
    transfer.to = specs[op.getDevice()];
    support::Size bytes = plan::physicalBytes(cast<RankedTensorType>(to.getType()));
    transfer.bytes = bytes.isNumber() ? bytes.number() : -1;
    transfer.bytesText = bytes.text();
    addReaders(to, transfer.readers);
    std::reverse(transfer.readers.begin(), transfer.readers.end()); // uses are listed last first
    return transfer;
  }

  std::string argumentName(BlockArgument argument) {
    auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), onnx::interfaceName);
    return "input '" + (name ? name.str() : std::to_string(argument.getArgNumber())) + "'";
  }

  std::string sourceText(Value v) {
    if (auto argument = dyn_cast<BlockArgument>(v)) {
      Operation *owner = argument.getOwner()->getParentOp();
      return owner == function ? argumentName(argument) : "value of an iteration of " + nodeText(owner->getLoc());
    }
    Operation *op = v.getDefiningOp();
    auto view = dyn_cast<plan::ViewOp>(op);
    if (Value part = view ? plan::crossedPart(view) : Value()) {
      return sourceText(part);
    }
    if (isa<plan::ViewOp, plan::TransferOp, plan::StageOp>(op)) {
      return sourceText(op->getOperand(0));
    }
    auto kernel = dyn_cast<plan::KernelOp>(op);
    if (!kernel) { // the value is a constant, comes from control flow, or has parts that lie one behind the other
      std::string node = nodeText(op->getLoc());
      return node.empty() ? "a constant" : "result of " + node;
    }
    Value made = kernel.getBody().front().getTerminator()->getOperand(cast<OpResult>(v).getResultNumber());
    Operation *maker = made.getDefiningOp();
    if (!maker || isa<plan::ReorderOp>(maker)) { // the value is in another layout
      return sourceText(kernel.getIns()[cast<BlockArgument>(maker ? maker->getOperand(0) : made).getArgNumber()]);
    }
    return "result of " + nodeText(maker->getLoc());
  }

  /// Adds all ops that read a value, also through views, copies to other layouts and on to other memories.
  void addReaders(Value v, std::vector<std::string> &readers) {
    auto add = [&](const std::string &text) {
      if (!llvm::is_contained(readers, text)) {
        readers.push_back(text);
      }
    };
    for (OpOperand &use : v.getUses()) {
      Operation *user = use.getOwner();
      if (auto kernel = dyn_cast<plan::KernelOp>(user)) {
        addReadersIn(kernel, kernel.getBody().front().getArgument(use.getOperandNumber()), readers);
      } else if (isa<plan::ViewOp, plan::JoinOp, plan::TransferOp, plan::StageOp>(user)) {
        addReaders(user->getResult(0), readers);
      } else if (isa<plan::BundleOp>(user)) {
        addReadersOfPart(user->getResult(0), v, readers);
      } else if (isa<func::ReturnOp>(user)) {
        auto name = function.getResultAttrOfType<StringAttr>(use.getOperandNumber(), onnx::interfaceName);
        add("output '" + (name ? name.str() : std::to_string(use.getOperandNumber())) + "'");
      } else {
        add(nodeText((isa<onnx::YieldOp>(user) ? user->getParentOp() : user)->getLoc()));
      }
    }
  }

  void addReadersOfPart(Value bundle, Value part, std::vector<std::string> &readers) {
    for (Operation *transfer : bundle.getUsers()) {
      for (Operation *user : transfer->getUsers()) {
        if (auto view = dyn_cast<plan::ViewOp>(user); view && plan::crossedPart(view) == part) {
          addReaders(view, readers);
        }
      }
    }
  }

  void addReadersIn(plan::KernelOp kernel, BlockArgument argument, std::vector<std::string> &readers) {
    for (OpOperand &use : argument.getUses()) {
      Operation *user = use.getOwner();
      if (isa<plan::ReorderOp, plan::YieldOp>(user)) {
        addReaders(kernel->getResult(isa<plan::YieldOp>(user) ? use.getOperandNumber() : 0), readers);
      } else if (std::string text = nodeText(user->getLoc()); !llvm::is_contained(readers, text)) {
        readers.push_back(text);
      }
    }
  }
};

} // namespace

std::vector<Transfer> describeTransfers(func::FuncOp function, ArrayRef<partition::MergedTransfer> merged) {
  std::vector<Transfer> transfers;
  TransferEnds ends(function);
  function.walk<WalkOrder::PreOrder>([&](plan::TransferOp op) {
    const auto *own = llvm::find_if(merged, [&](const auto &m) { return m.transfer == op; });
    ends.describe(op, own == merged.end() ? 0 : own->saved, transfers);
  });
  return transfers;
}

} // namespace ingot::pipeline
