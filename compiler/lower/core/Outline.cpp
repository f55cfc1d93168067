#include "compiler/lower/core/Outline.h"
#include "compiler/plan/KernelAttributes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace ingot::lower {

/// Whether an op is made anew where its result is wanted.
static bool isConstant(Operation *op) { return op && (matchPattern(op, m_Constant()) || isa<memref::GetGlobalOp>(op)); }

namespace {
/// What blocks take from around them.
struct Inputs {
  llvm::SetVector<Value> values;
  llvm::SetVector<Operation *> constants;
};
} // namespace

static Inputs inputsOf(Region &region, llvm::iterator_range<Region::iterator> blocks) {
  llvm::DenseSet<Block *> inside;
  for (Block &block : blocks) {
    inside.insert(&block);
  }
  Inputs inputs;
  for (Block &block : blocks) {
    block.walk([&](Operation *op) {
      for (Value v : op->getOperands()) {
        if (inside.contains(region.findAncestorBlockInRegion(*v.getParentBlock()))) {
          continue;
        }
        if (Operation *producer = v.getDefiningOp(); isConstant(producer)) {
          inputs.constants.insert(producer);
        } else {
          inputs.values.insert(v);
        }
      }
    });
  }
  return inputs;
}

/// Gives the function the attributes that what it computes depends on.
static void copyAttributes(func::FuncOp from, func::FuncOp to, ArrayRef<Value> arguments) {
  for (StringRef name : {plan::machineName, plan::strictName, plan::passthroughName}) {
    if (Attribute attribute = from->getAttr(name)) {
      to->setAttr(name, attribute);
    }
  }
  auto attributesOf = [&](Value v) {
    auto argument = dyn_cast<BlockArgument>(v);
    bool isOfFunction = argument && argument.getOwner() == &from.front();
    DictionaryAttr given = isOfFunction ? from.getArgAttrDict(argument.getArgNumber()) : DictionaryAttr();
    return given ? given : DictionaryAttr::get(from.getContext());
  };
  to.setAllArgAttrs(llvm::map_to_vector(arguments, attributesOf));
}

Outlined outline(func::FuncOp from, StringRef name, llvm::iterator_range<Region::iterator> blocks,
                 ArrayRef<Value> last) {
  Inputs inputs = inputsOf(from.getBody(), blocks);
  SmallVector<Value> arguments;
  llvm::copy_if(inputs.values, std::back_inserter(arguments), [&](Value v) { return !llvm::is_contained(last, v); });
  llvm::append_range(arguments, last);

  OpBuilder b(from->getContext());
  b.setInsertionPointAfter(from);
  auto types = llvm::map_to_vector(arguments, [](Value v) { return v.getType(); });
  auto function = func::FuncOp::create(b, from.getLoc(), name, b.getFunctionType(types, {}));
  function.setPrivate();
  copyAttributes(from, function, arguments);

  Block *entry = &*blocks.begin();
  function.getBody().getBlocks().splice(function.getBody().end(), from.getBody().getBlocks(), blocks.begin(),
                                        blocks.end());
  IRMapping inner;
  for (Value v : arguments) {
    inner.map(v, entry->addArgument(v.getType(), v.getLoc()));
  }
  b.setInsertionPointToStart(entry);
  for (Operation *constant : inputs.constants) {
    b.clone(*constant, inner);
  }
  function.walk([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands()) {
      operand.set(inner.lookupOrDefault(operand.get()));
    }
  });
  return {function, std::move(arguments)};
}

namespace {

/// Which ops of a kernel's block go where.
class LoopParts {
public:
  explicit LoopParts(Block &block) {
    SmallVector<Operation *> all;
    for (Operation &op : block) {
      all.push_back(&op);
      if (op.getNumRegions()) {
        llvm::append_range(ordered, std::exchange(all, {}));
        if (++loops % loopsOfPart == 0) {
          ends.push_back(ordered.size());
        }
      }
    }
    if (ends.empty() || ends.back() != ordered.size()) {
      ends.push_back(ordered.size());
    }
    size_t part = 0;
    for (auto [i, op] : llvm::enumerate(ordered)) {
      part += i == ends[part];
      partOf[op] = part;
    }
  }

  /// Whether there are many loops, and parts know nothing of each other but what can be computed ahead of them.
  bool areWorthIt() {
    if (loops < leastLoops) {
      return false;
    }
    for (Operation *op : ordered) {
      auto isElsewhere = [&](Operation *user) {
        auto it = partOf.find(op->getBlock()->findAncestorOpInBlock(*user));
        return it == partOf.end() || it->second != partOf.at(op);
      };
      if (llvm::any_of(op->getUsers(), isElsewhere)) {
        keep(op);
      }
    }
    return llvm::all_of(kept, [](Operation *op) {
      return op->getNumRegions() == 0 && (isMemoryEffectFree(op) || isa<memref::AllocaOp>(op));
    });
  }

  /// Whether what is left behind is nothing but constants.
  bool areAll() const {
    return llvm::all_of(kept, isConstant) && ordered.size() + 1 == ordered.front()->getBlock()->getOperations().size();
  }
  size_t count() const { return ends.size(); }
  /// The ops that move into a part.
  SmallVector<Operation *> ops(size_t part) const {
    ArrayRef<Operation *> own =
        ArrayRef(ordered).slice(part ? ends[part - 1] : 0, ends[part] - (part ? ends[part - 1] : 0));
    SmallVector<Operation *> moved;
    llvm::copy_if(own, std::back_inserter(moved), [&](Operation *op) { return !kept.contains(op); });
    return moved;
  }

private:
  static constexpr size_t leastLoops = 256, loopsOfPart = 64;
  size_t loops = 0;
  SmallVector<Operation *> ordered; ///< all that stand in front of the last loop, and it
  SmallVector<size_t> ends;         ///< of each part, in `ordered`
  llvm::DenseMap<Operation *, size_t> partOf;
  llvm::DenseSet<Operation *> kept; ///< what several parts read, and what that is computed from

  void keep(Operation *op) {
    SmallVector<Operation *> open = {op};
    while (!open.empty()) {
      Operation *next = open.pop_back_val();
      if (!partOf.contains(next) || !kept.insert(next).second) {
        continue;
      }
      for (Value v : next->getOperands()) {
        if (Operation *producer = v.getDefiningOp()) {
          open.push_back(producer);
        }
      }
    }
  }
};

} // namespace

void cutLoops(func::FuncOp kernel, SymbolTable &symbols) {
  bool isWhole = kernel->hasAttr(plan::gridName) || kernel->hasAttr(plan::tilesName);
  if (isWhole || !llvm::hasSingleElement(kernel.getBody())) {
    return;
  }
  LoopParts parts(kernel.front());
  if (!parts.areWorthIt()) {
    return;
  }
  if (parts.areAll() && kernel.getNumResults() == 0) {
    kernel->setAttr(plan::partsName, UnitAttr::get(kernel.getContext()));
  }
  std::string name = kernel.getName().str();
  SmallVector<Value> range(kernel.getArguments().take_back(2));
  for (size_t part = 0; part < parts.count(); ++part) {
    SmallVector<Operation *> ops = parts.ops(part);
    OpBuilder b(ops.back());
    b.setInsertionPointAfter(ops.back());
    Operation *behind = &*b.getInsertionPoint();
    Block *block = kernel.addBlock();
    for (Operation *op : ops) {
      op->moveBefore(block, block->end());
    }
    Outlined outlined = outline(kernel, name + "_part", {block->getIterator(), kernel.end()}, range);
    b.setInsertionPointToEnd(block);
    func::ReturnOp::create(b, kernel.getLoc());
    symbols.insert(outlined.function); // makes the name unique
    b.setInsertionPoint(behind);
    func::CallOp::create(b, kernel.getLoc(), outlined.function, outlined.arguments);
  }
}

} // namespace ingot::lower
