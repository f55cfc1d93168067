// A kernel is a group of ops with at most one root. Ops are taken in order; each one
//  - that only renames memory (a reshape, a contiguous slice) becomes a plan.view;
//  - that is elementwise joins the group that produces one of its operands of the same shape, unless it is full, so
//    that it is applied to vectors in registers; a group with a root (the costlier one) is preferred; groups without a
//    root may be merged with it;
//  - that is a root starts a group, and takes in the rootless groups behind operands that it reads through.
// Then what only widens a value that is in memory anyway (a Cast of a bfloat16 image that a convolution reads, too)
// goes to the group that reads it, so that it is not in memory twice. A group is placed where its last op stands, so it
// must be convex: nothing outside lies on a path between two of its ops. Groups are formed block by block: an If or a
// Loop stays as it is, and kernels form in its regions.
#include "compiler/partition/FormKernels.h"
#include "compiler/lower/Family.h"
#include "compiler/onnx/Control.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/ops/Constant.h"
#include "compiler/onnx/sizes/DataDependentSizes.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "compiler/partition/Dependencies.h"
#include "compiler/partition/Roles.h"
#include "compiler/partition/WrapOps.h"
#include "compiler/plan/Layout.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace ingot::partition {
namespace {

/// Elementwise ops join a group until it has this many: a kernel's values are computed by recursion, in one function
/// that LLVM needs more than linear time for, and long before this many memory no longer matters beside arithmetic.
constexpr size_t fullAt = 256;

struct Group {
  llvm::SetVector<Operation *> ops;
  Operation *root = nullptr;
  const Device *device = nullptr;
  RankedTensorType shape; ///< the shape that elementwise members compute
};

/// Whether a launch on the group's device takes the arguments of a kernel that has these ops, too.
bool mayLaunch(const Group &group, ArrayRef<Operation *> more) {
  int64_t most = group.device->machine.limits.argumentBytes;
  if (most == target::MachineModel::Limits().argumentBytes) {
    return true;
  }
  SmallVector<Operation *> all(group.ops.begin(), group.ops.end());
  llvm::append_range(all, more);
  return argumentBytes(all) <= most;
}

/// A constant that is written into the region, not passed as an operand.
bool isScalarConstant(Value v) {
  ElementsAttr a = onnx::constantOf(v);
  auto dense = dyn_cast_or_null<DenseElementsAttr>(a);
  return dense && (dense.isSplat() || dense.getNumElements() == 1);
}

/// The kernel groups of one block: each op begins as a group of its own, and groups are joined as long as that pays.
class BlockGroups {
public:
  BlockGroups(Block &block, const DeviceMap &devicesOfOps) : block(block) {
    for (Operation &op : block) { // ops of other blocks are erased one by one
      if (auto place = devicesOfOps.find(&op); place != devicesOfOps.end()) {
        deviceOf.insert(*place);
      }
    }
  }

  void run() {
    for (Operation &op : block) {
      if (isa<onnx::SizesOp>(op) && deviceOf.count(&op)) {
        keepParameters(op);
      }
    }
    for (auto [i, op] : llvm::enumerate(block)) {
      order[&op] = i;
      earliest.push_back(i);
    }
    dependencies.emplace(block);
    for (auto [i, op] : llvm::enumerate(block)) {
      now = i;
      if (deviceOf.count(&op)) {
        assign(&op);
        earliest[i] = beginOf(*groupOf[&op]);
      }
    }
    for (Operation &op : llvm::make_early_inc_range(block)) {
      sinkWidening(&op);
    }
    materialize();
  }

private:
  Block &block;
  DeviceMap deviceOf;
  llvm::DenseMap<Operation *, size_t> order;
  std::vector<size_t> earliest; ///< for each op the beginning of the group that it joined
  size_t now = 0;               ///< the op that is assigned
  llvm::DenseMap<Operation *, std::shared_ptr<Group>> groupOf;
  std::optional<Dependencies> dependencies;

  /// Gives ops that have these sizes as a parameter sizes of their own, since sizes that become a kernel are a tensor
  /// to all that read them.
  static void keepParameters(Operation &sizes) {
    Operation *parameters = OpBuilder(&sizes).clone(sizes);
    sizes.getResult(0).replaceUsesWithIf(parameters->getResult(0), isParameterUse);
    if (parameters->use_empty()) {
      parameters->erase();
    }
  }

  size_t beginOf(const Group &group) {
    size_t first = order[group.ops.front()];
    for (Operation *op : group.ops) {
      first = std::min(first, order[op]);
    }
    return first;
  }

  /// Returns a place in the block such that no kernel that begins before it needs the group's.
  size_t horizonOf(const Group &group) {
    size_t first = beginOf(group);
    for (size_t i = now; i-- > first;) {
      first = std::min(first, earliest[i]);
    }
    return first;
  }

  /// Whether `from` depends on an op of the group without being one. A kernel needs all that any of its members needs,
  /// so what is asked is whether the kernels would wait for one another.
  bool dependsOn(Operation *from, const Group &group) {
    size_t first = horizonOf(group);
    SmallVector<Operation *> todo;
    llvm::SmallPtrSet<Operation *, 16> seen;
    auto visit = [&](Operation *op) {
      if (order[op] > first && seen.insert(op).second) {
        todo.push_back(op);
      }
    };
    auto push = [&](Operation *op) {
      visit(op);
      if (std::shared_ptr<Group> own = groupOf.lookup(op); own && own.get() != &group) {
        llvm::for_each(own->ops, visit);
      }
    };
    push(from);
    while (!todo.empty()) {
      bool found = false;
      dependencies->each(todo.pop_back_val(), [&](Operation *op) {
        found |= group.ops.contains(op);
        push(op);
      });
      if (found) {
        return true;
      }
    }
    return false;
  }

  /// Whether `op` may become a member: all it needs from outside is independent of the group.
  bool convexWith(Operation *op, const Group &group) {
    bool convex = true;
    dependencies->each(op,
                       [&](Operation *needed) { convex &= group.ops.contains(needed) || !dependsOn(needed, group); });
    return convex;
  }

  static bool sameShape(Type a, Type b) {
    return onnx::sizesOf(cast<RankedTensorType>(a)) == onnx::sizesOf(cast<RankedTensorType>(b));
  }

  void assign(Operation *op) {
    if (isa<onnx::Elementwise>(op)) {
      assignElementwise(op);
      return;
    }
    auto group = std::make_shared<Group>();
    group->root = op;
    group->device = deviceOf.lookup(op);
    const lower::KernelFamily &family = *lower::familyFor(op, group->device->machine);
    if (op->getNumResults()) {
      group->shape = onnx::ranked(op->getResult(0));
    }
    for (auto [i, v] : llvm::enumerate(op->getOperands())) {
      Operation *producer = v.getDefiningOp();
      std::shared_ptr<Group> from = producer ? groupOf.lookup(producer) : nullptr;
      if (from && !from->root && from->device == group->device && family.readsThrough(op, i) && onlyUsedBy(*from, op) &&
          sameShape(from->shape, v.getType())) {
        SmallVector<Operation *> more(from->ops.begin(), from->ops.end());
        more.push_back(op);
        if (!mayLaunch(*group, more)) {
          continue;
        }
        for (Operation *member : from->ops) {
          group->ops.insert(member);
          groupOf[member] = group;
        }
      }
    }
    group->ops.insert(op);
    groupOf[op] = group;
  }

  static bool onlyUsedBy(const Group &group, Operation *op) {
    return llvm::all_of(group.ops, [&](Operation *member) {
      return llvm::all_of(member->getUsers(), [&](Operation *user) { return user == op || group.ops.contains(user); });
    });
  }

  void assignElementwise(Operation *op) {
    std::shared_ptr<Group> best;
    for (Value v : op->getOperands()) {
      Operation *producer = v.getDefiningOp();
      std::shared_ptr<Group> g = producer ? groupOf.lookup(producer) : nullptr;
      if (!g || g == best || g->device != deviceOf.lookup(op) || !sameShape(v.getType(), op->getResult(0).getType()) ||
          g->ops.size() >= fullAt || !mayLaunch(*g, op) || !takesEpilogue(*g) ||
          !sameShape(g->shape, op->getResult(0).getType()) || !convexWith(op, *g) || (g->root && hasOpenChannels(op))) {
        continue;
      }
      // A root's group is preferred, and of two the later one: the earlier result is then an operand that is already
      // there.
      if (!best || (g->root && !best->root) ||
          (static_cast<bool>(g->root) == static_cast<bool>(best->root) &&
           order[g->ops.back()] > order[best->ops.back()])) {
        best = g;
      }
    }
    if (!best) {
      best = std::make_shared<Group>();
      best->device = deviceOf.lookup(op);
      best->shape = onnx::ranked(op->getResult(0));
    }
    mergeRootless(op, best);
    best->ops.insert(op);
    groupOf[op] = best;
  }

  /// Whether only the run knows how many channels an operand of `op` has, or whether it repeats them: roots may work on
  /// blocks of channels.
  static bool hasOpenChannels(Operation *op) {
    RankedTensorType y = onnx::ranked(op->getResult(0));
    return llvm::any_of(op->getOperands(), [&](Value v) {
      RankedTensorType type = onnx::ranked(v);
      int64_t channels = type ? 1 - (y.getRank() - type.getRank()) : -1;
      if (y.getRank() <= 2 || channels < 0 || channels >= type.getRank()) {
        return false;
      }
      onnx::Size own = onnx::sizeOf(type, channels), all = onnx::sizeOf(y, 1);
      return (all.isNumber() && !own.isNumber()) || !onnx::strideFactor(own, all).isNumber();
    });
  }

  static bool takesEpilogue(const Group &g) {
    return !g.root || lower::familyFor(g.root, g.device->machine)->fusesEpilogue(g.root);
  }

  /// Takes other rootless groups that feed `op` alone into `group`.
  void mergeRootless(Operation *op, std::shared_ptr<Group> group) {
    for (Value v : op->getOperands()) {
      Operation *producer = v.getDefiningOp();
      std::shared_ptr<Group> g = producer ? groupOf.lookup(producer) : nullptr;
      if (!g || g == group || g->root || g->device != group->device || g->ops.size() + group->ops.size() >= fullAt ||
          !sameShape(g->shape, op->getResult(0).getType()) || !onlyUsedBy(*g, op) ||
          (group->root && llvm::any_of(g->ops, hasOpenChannels))) {
        continue;
      }
      bool convex =
          group->ops.empty() || llvm::all_of(g->ops, [&](Operation *member) { return convexWith(member, *group); });
      SmallVector<Operation *> more(g->ops.begin(), g->ops.end());
      more.push_back(op);
      if (!convex || !mayLaunch(*group, more)) {
        continue;
      }
      for (Operation *member : g->ops) {
        group->ops.insert(member);
        groupOf[member] = group;
      }
    }
  }

  void sinkWidening(Operation *op) {
    std::shared_ptr<Group> group = groupOf.lookup(op);
    if (!group || op == group->root || !isa<onnx::Elementwise>(op) || op->use_empty() || !op->getNumOperands()) {
      return;
    }
    Value narrow = op->getOperand(0), wide = op->getResult(0);
    auto isOutside = [&](Operation *other) { return !group->ops.contains(other); };
    auto bits = [](Value v) {
      Type element = onnx::ranked(v) ? onnx::elementOf(v) : Type();
      return element && element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
    };
    bool widens =
        bits(narrow) && bits(narrow) < bits(wide) && llvm::all_of(op->getOperands().drop_front(), isScalarConstant);
    bool isInMemory =
        narrow.getDefiningOp() && !isOutside(narrow.getDefiningOp()) && llvm::any_of(narrow.getUsers(), isOutside);
    if (!widens || !isInMemory || !llvm::all_of(wide.getUsers(), [&](Operation *user) {
          std::shared_ptr<Group> reader = groupOf.lookup(user);
          return reader && reader != group && user != reader->root && reader->device == group->device &&
                 sameShape(wide.getType(), reader->shape);
        })) {
      return;
    }
    // A reader needs what it needed before: the group that the op leaves.
    for (OpOperand &use : llvm::make_early_inc_range(wide.getUses())) {
      std::shared_ptr<Group> reader = groupOf.lookup(use.getOwner());
      Operation *own = OpBuilder(op).clone(*op);
      order[own] = order[op];
      use.set(own->getResult(0));
      reader->ops.insert(own);
      groupOf[own] = reader;
    }
    group->ops.remove(op);
    groupOf.erase(op);
    order.erase(op);
    op->erase();
  }

  // These write the IR.

  void materialize() {
    llvm::SetVector<Group *> groups;
    SmallVector<Operation *> ops;
    for (Operation &op : block) {
      ops.push_back(&op);
    }
    for (Operation *op : ops) {
      if (isView(*op)) {
        makeView(op);
      } else if (Group *g = groupOf.lookup(op).get(); g && isLast(op, *g)) {
        makeKernel(*g);
      }
    }
  }

  bool isLast(Operation *op, const Group &g) {
    return llvm::all_of(g.ops, [&](Operation *other) { return order[other] <= order[op]; });
  }

  void makeView(Operation *op) {
    OpBuilder b(op);
    Value y = op->getResult(0);
    onnx::Size offset = *cast<onnx::View>(op).viewOffset() * onnx::elementBytes(onnx::elementOf(y));
    y.replaceAllUsesWith(
        plan::ViewOp::create(b, op->getLoc(), y.getType(), op->getOperand(0), b.getAttr<onnx::SizeAttr>(offset)));
    op->erase();
  }

  /// Whether the kernel's results are those of its root.
  static bool writesAll(Operation *op, const Group &g) {
    return op == g.root && (op->getNumResults() > 1 || onnx::dataDependentSizeOf(op));
  }

  void makeKernel(Group &g) {
    SmallVector<Operation *> members(g.ops.begin(), g.ops.end());
    llvm::sort(members, [&](Operation *a, Operation *b) { return order[a] < order[b]; });
    Operation *last = members.back();
    llvm::SetVector<Value> ins, outs;
    for (Operation *op : members) {
      for (auto [i, v] : llvm::enumerate(op->getOperands())) {
        bool inside = v.getDefiningOp() && g.ops.contains(v.getDefiningOp());
        auto parametric = dyn_cast<onnx::Parametric>(op);
        bool inRegion = op == g.root ? parametric && parametric.isParameter(i) && onnx::sizesIn(v).has_value()
                                     : isScalarConstant(v);
        if (!inside && onnx::present(v) && !inRegion) {
          ins.insert(v);
        }
      }
      for (Value v : op->getResults()) {
        bool rootResult = writesAll(op, g); // families with several results write all that are used
        if (llvm::any_of(v.getUsers(), [&](Operation *user) { return !g.ops.contains(user); }) && !rootResult) {
          outs.insert(v);
        }
      }
      if (writesAll(op, g)) {
        for (Value v : op->getResults()) {
          bool number =
              onnx::dataDependentSizeOf(op) && v == op->getResults().back(); // the run itself reads the number
          if (!v.use_empty() || number) {
            outs.insert(v);
          }
        }
      }
    }
    OpBuilder b(last);
    plan::KernelOp kernel = wrapOps(b, members, ins.getArrayRef(), outs.getArrayRef(), g.device->machine.spec);
    for (unsigned i = 0; i < outs.size(); ++i) {
      Value(outs[i]).replaceAllUsesWith(kernel.getResult(i));
    }
    for (Operation *op : llvm::reverse(members)) {
      op->erase();
      groupOf.erase(op);
    }
  }
};

} // namespace

int64_t argumentBytes(ArrayRef<Operation *> ops) {
  llvm::SmallPtrSet<void *, 16> values;
  onnx::SymbolSet symbols;
  auto note = [&](const onnx::Size &size) { size.eachSymbol([&](support::Symbol symbol) { symbols.insert(symbol); }); };
  auto isOutside = [inside = llvm::SmallPtrSet<Operation *, 16>(ops.begin(), ops.end())](Operation *other) {
    return !inside.contains(other);
  };
  auto noteValue = [&](Value v) {
    values.insert(v.getAsOpaquePointer());
    RankedTensorType type = onnx::ranked(v);
    llvm::for_each(type ? onnx::sizesOf(type) : onnx::Sizes(), note);
  };
  for (Operation *op : ops) {
    onnx::walkSizes(op, note);
    llvm::for_each(llvm::make_filter_range(op->getOperands(), [&](Value v) { return isOutside(v.getDefiningOp()); }),
                   noteValue);
    llvm::for_each(
        llvm::make_filter_range(op->getResults(), [&](Value v) { return llvm::any_of(v.getUsers(), isOutside); }),
        noteValue);
  }
  constexpr size_t others = 4, wordBytes = 8; // scratch memory, a status and its node, how many items there are
  return static_cast<int64_t>((values.size() + symbols.size() + others) * wordBytes);
}

void nameDevices(func::FuncOp function, ArrayRef<Device> devices) {
  SmallVector<StringRef> own;
  for (const Device &device : devices) {
    if (device.machine.hasOwnMemory) {
      own.push_back(device.machine.spec);
    }
  }
  if (!own.empty()) {
    function->setAttr(plan::devicesName, Builder(function.getContext()).getStrArrayAttr(own));
  }
}

void formKernels(func::FuncOp function, const DeviceMap &devicesOfOps) {
  std::vector<BlockGroups> all;
  for (Block *block : blocksOf(function)) {
    all.emplace_back(*block, devicesOfOps);
  }
  llvm::for_each(all, [](BlockGroups &groups) { groups.run(); });
}

} // namespace ingot::partition
