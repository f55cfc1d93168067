// What became of the model, for people: its nodes, its kernel calls, and who reads whose results. Values that are not
// computed by a node (constants, shapes that became numbers) are no edges; views and joins are read through.
#include "compiler/lower/core/Schedules.h"
#include "compiler/onnx/Control.h"
#include "compiler/onnx/Formats.h"
#include "compiler/onnx/ops/Constant.h"
#include "compiler/onnx/ops/Control.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "compiler/pipeline/State.h"
#include "compiler/plan/Layout.h"
#include "compiler/plan/Plan.h"
#include "compiler/plan/WorkAttributes.h"
#include "compiler/support/SymbolNames.h"

using namespace mlir;

namespace ingot::pipeline {
namespace {

/// "float32[batch, 3]"
std::string typeText(Value v) {
  RankedTensorType type = onnx::ranked(v);
  if (!type) {
    return "";
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  os << type.getElementType() << "[";
  llvm::interleaveComma(onnx::sizesOf(type), os,
                        [&](const support::Size &size) { os << (size.isUnknown() ? "?" : size.text()); });
  os << "]";
  return text;
}

std::string layoutText(plan::BlockedAttr blocks) {
  std::string text;
  llvm::raw_string_ostream(text) << blocks;
  return text;
}

/// The ONNX nodes that a location names, "name (Operator)", each once.
std::vector<std::string> nodesOf(Location loc) {
  std::vector<std::string> nodes;
  onnx::eachNode(loc, [&](StringRef node, StringRef op) {
    std::string text = (node + " (" + op + ")").str();
    if (!llvm::is_contained(nodes, text)) {
      nodes.push_back(text);
    }
  });
  return nodes;
}

/// The nodes of a function that are of some kind, in their order, each with the numbers of those whose results it
/// reads.
class GraphRecord {
public:
  explicit GraphRecord(func::FuncOp function) : function(function) {}

  template <typename Wanted>
  std::vector<GraphNode> record(Wanted isWanted, llvm::function_ref<GraphNode(Operation *)> describe) {
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (!isWanted(op)) {
        return;
      }
      GraphNode node = describe(op);
      node.type = op->getNumResults() ? typeText(op->getResult(0)) : "";
      std::set<int> from;
      for (Value v : op->getOperands()) {
        sources(v, from, 0);
      }
      node.from.assign(from.begin(), from.end());
      numberOf[op] = nodes.size();
      nodes.push_back(std::move(node));
    });
    return std::move(nodes);
  }

private:
  /// Ops that are not recorded themselves stand for what they read; a loop or branch for what its body yields.
  void sources(Value v, std::set<int> &from, int depth) {
    constexpr int deepest = 64;
    if (auto argument = dyn_cast<BlockArgument>(v)) {
      Operation *owner = argument.getOwner()->getParentOp();
      if (owner == function) {
        from.insert(-1 - int(argument.getArgNumber()));
      } else if (auto loop = dyn_cast<onnx::LoopOp>(owner); loop && argument.getArgNumber() >= 2 && depth < deepest) {
        sources(loop.getInitial()[argument.getArgNumber() - 2], from, depth + 1);
      }
      return;
    }
    Operation *op = v.getDefiningOp();
    auto known = numberOf.find(op);
    auto view = dyn_cast<plan::ViewOp>(op);
    if (known != numberOf.end()) {
      from.insert(known->second);
    } else if (Value part = view ? plan::crossedPart(view) : Value()) {
      sources(part, from, depth + 1);
    } else if (depth < deepest && op->getNumRegions() == 0) {
      for (Value operand : op->getOperands()) {
        sources(operand, from, depth + 1);
      }
    } else if (depth < deepest) {
      for (Region &region : op->getRegions()) {
        if (!region.empty() && !region.front().empty() && region.front().back().getNumOperands()) {
          for (Value yielded : region.front().back().getOperands()) {
            sources(yielded, from, depth + 1);
          }
        }
      }
    }
  }

  func::FuncOp function;
  std::vector<GraphNode> nodes;
  llvm::DenseMap<Operation *, int> numberOf;
};

/// Returns whether a tensor is a constant, where it lies or as it was read.
bool isWeight(Value v) {
  auto view = v.getDefiningOp<plan::ViewOp>();
  return v.getDefiningOp<plan::WeightOp>() || (view && view.getX().getDefiningOp<plan::FetchOp>());
}

/// As the memory plan counts: an If is a step, a Loop one where it begins and one where it ends.
void countSteps(Block &block, int &step, llvm::DenseMap<Operation *, int> &steps) {
  for (Operation &op : block) {
    if (isa<plan::LaunchOp, plan::TransferOp, plan::StageOp, plan::FetchOp, onnx::IfOp, onnx::LoopOp>(op)) {
      steps[&op] = step++;
      for (Region &region : op.getRegions()) {
        countSteps(region.front(), step, steps);
      }
      step += isa<onnx::LoopOp>(op);
    }
  }
}

} // namespace

std::vector<GraphNode> describeNodes(func::FuncOp function) {
  auto isNode = [](Operation *op) {
    return isa<onnx::OnnxDialect, formats::FormatsDialect>(op->getDialect()) && op->getNumResults() > 0 &&
           !isa<onnx::ConstantOp, onnx::NoneOp>(op);
  };
  return GraphRecord(function).record(isNode, [](Operation *op) {
    GraphNode node;
    std::vector<std::string> names = nodesOf(op->getLoc());
    node.name = names.empty() ? "" : names.front();
    node.op = op->getName().stripDialect().str();
    return node;
  });
}

std::vector<GraphNode> describeLaunches(func::FuncOp function, bool number) {
  int64_t launches = 0;
  llvm::DenseMap<Operation *, int> steps;
  int step = 0;
  countSteps(function.getBody().front(), step, steps);
  auto isLaunch = [](Operation *op) { return isa<plan::LaunchOp>(op); };
  return GraphRecord(function).record(isLaunch, [&](Operation *op) {
    auto launch = cast<plan::LaunchOp>(op);
    GraphNode node;
    plan::LaunchInfo &facts = node.launch;
    node.name = facts.kernel = facts.function = launch.getCallee().str();
    node.op = launch.getCallee().split('_').first.str();
    facts.nodes = nodesOf(op->getLoc());
    node.step = steps.lookup(op);
    for (Value v : llvm::concat<Value>(llvm::to_vector(op->getOperands()), llvm::to_vector(op->getResults()))) {
      plan::BlockedAttr blocks = plan::blockedOf(v.getType());
      if (RankedTensorType type = onnx::ranked(v)) {
        facts.bytes = facts.bytes + plan::physicalBytes(type);
        if (isWeight(v)) {
          facts.weightBytes = facts.weightBytes + plan::physicalBytes(type);
        }
      }
      facts.operands.push_back(typeText(v) + (blocks ? " in blocks: " + layoutText(blocks) : ""));
    }
    if (auto macs = op->getAttrOfType<onnx::SizeAttr>(plan::macsName)) {
      facts.macs = facts.ownMacs = macs.getValue();
    }
    if (auto macs = op->getAttrOfType<onnx::SizeAttr>(plan::ownMacsName)) {
      facts.ownMacs = macs.getValue();
    }
    if (auto key = op->getAttrOfType<StringAttr>(lower::kernelName)) {
      node.key = key.str();
    }
    if (auto choice = op->getAttrOfType<StringAttr>(lower::choiceName)) {
      facts.choice = choice.str();
    }
    if (std::optional<onnx::SizesAttr> symbols = launch.getSymbols()) {
      llvm::append_range(facts.symbols, llvm::map_range(symbols->getValues(),
                                                        [](const auto &s) { return support::symbolName(s.text()); }));
    }
    if (number) {
      op->setAttr(plan::numberName, IntegerAttr::get(IntegerType::get(op->getContext(), 64), launches++));
    }
    return node;
  });
}

} // namespace ingot::pipeline
