// Forms kernels greedily, in one walk over each block. A kernel is a group of ops of one device: at most one root (an
// op such as Conv, to which a kernel family gives the loops) and elementwise ops, which are applied to vectors in
// registers.
//
//   %a = Sigmoid %x          {Sigmoid} starts a group without a root
//   %b = MatMul %a, %w       a root takes in such a group if its family computes that operand where it is read:
//                            {Sigmoid, MatMul}
//   %c = Add %b, %bias       an elementwise op joins the group that makes an operand of its shape:
//                            {Sigmoid, MatMul, Add}
//
//  - Of several groups that an elementwise op could join, one with a root is preferred, since it costs more to run
//    alone. Groups without a root that feed the op alone are merged into it.
//  - A group becomes a plan.kernel where its last op stands. It therefore has to be convex: no op outside of it lies on
//    a path of dependencies between two of its ops.
//  - An op that only widens a tensor which is in memory anyway (a Cast of a bfloat16 image that a convolution reads,
//    too) moves into the groups that read it. The wide tensor is then never in memory.
//  - An op that only renames memory (a reshape, a contiguous slice) becomes a plan.view instead.
//  - An If or a Loop stays as it is. Kernels form in its regions.
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

/// An elementwise op joins no group that has this many ops. A kernel is one function, whose values are computed by
/// recursion, and LLVM's time grows faster than linearly with its size. Fusion saves memory traffic, and with far fewer
/// ops than this the arithmetic already takes longer than memory does.
constexpr size_t fullAt = 256;

/// The ops that are to become one kernel.
struct Group {
  llvm::SetVector<Operation *> ops; ///< members in the order in which they joined
  Operation *root = nullptr;        ///< null: all members are elementwise
  const Device *device = nullptr;
  RankedTensorType shape; ///< the type of the root's first result, or of what the elementwise members compute
};

/// Whether the arguments of a kernel of the group's ops and `more` are few enough for a launch on the group's device.
bool mayLaunch(const Group &group, ArrayRef<Operation *> more) {
  int64_t most = group.device->machine.limits.argumentBytes;
  if (most == target::MachineModel::Limits().argumentBytes) {
    return true;
  }
  SmallVector<Operation *> all(group.ops.begin(), group.ops.end());
  llvm::append_range(all, more);
  return argumentBytes(all) <= most;
}

/// Whether `v` is a constant whose elements are all equal. Elementwise ops have such a constant in the kernel's region,
/// where it becomes an immediate; other constants are operands of the kernel.
bool isScalarConstant(Value v) {
  ElementsAttr a = onnx::constantOf(v);
  auto dense = dyn_cast_or_null<DenseElementsAttr>(a);
  return dense && (dense.isSplat() || dense.getNumElements() == 1);
}

/// Forms the groups of one block, and then replaces them by kernels.
class BlockGroups {
public:
  /// `devicesOfOps` has the device of each op that a kernel has to compute, of other blocks as well.
  BlockGroups(Block &block, const DeviceMap &devicesOfOps) : block(block) {
    // Only the ops of this block are looked up: the groups of other blocks erase theirs.
    for (Operation &op : block) {
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
  llvm::DenseMap<Operation *, size_t> order; ///< the position of each op in the block
  /// For the op at each position, the position of the first op of the group that it joined; its own if in no group.
  std::vector<size_t> earliest;
  size_t now = 0; ///< the position of the op that run() is assigning to a group
  llvm::DenseMap<Operation *, std::shared_ptr<Group>> groupOf;
  std::optional<Dependencies> dependencies;

  /// Splits an onnx.Sizes that some ops read as a tensor and others as a parameter (isParameterUse). The kernel that
  /// computes it would turn it into a tensor for all of them, so those with a parameter read a copy of the op.
  static void keepParameters(Operation &sizes) {
    Operation *parameters = OpBuilder(&sizes).clone(sizes);
    sizes.getResult(0).replaceUsesWithIf(parameters->getResult(0), isParameterUse);
    if (parameters->use_empty()) {
      parameters->erase();
    }
  }

  /// Returns the position of the group's first op.
  size_t beginOf(const Group &group) {
    size_t first = order[group.ops.front()];
    for (Operation *op : group.ops) {
      first = std::min(first, order[op]);
    }
    return first;
  }

  /// Returns a position at which searches for a dependency on the group may stop: no group that ends before it depends
  /// on the group, and each group with ops behind it begins at it or behind it.
  size_t horizonOf(const Group &group) {
    size_t first = beginOf(group);
    for (size_t i = now; i-- > first;) {
      first = std::min(first, earliest[i]);
    }
    return first;
  }

  /// Whether `from`, which is no member of the group, depends on a member. A kernel starts only when everything that
  /// any of its ops needs is there. An op therefore depends on what any op of its own group depends on.
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

  /// Whether the group stays convex with `op` as a member: nothing that `op` reads from outside depends on the group.
  bool convexWith(Operation *op, const Group &group) {
    bool convex = true;
    dependencies->each(op,
                       [&](Operation *needed) { convex &= group.ops.contains(needed) || !dependsOn(needed, group); });
    return convex;
  }

  static bool sameShape(Type a, Type b) {
    return onnx::sizesOf(cast<RankedTensorType>(a)) == onnx::sizesOf(cast<RankedTensorType>(b));
  }

  /// Puts an op into a group. An op that is not elementwise becomes the root of a new group, with the groups without a
  /// root whose result it alone reads, at an operand that its family reads through.
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

  /// Whether no op but `op` and the group's own reads what the group makes.
  static bool onlyUsedBy(const Group &group, Operation *op) {
    return llvm::all_of(group.ops, [&](Operation *member) {
      return llvm::all_of(member->getUsers(), [&](Operation *user) { return user == op || group.ops.contains(user); });
    });
  }

  /// Puts an elementwise op into the best of the groups that make its operands, or into a new one, and merges groups
  /// without a root into that.
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
      // A group with a root is preferred. Of two such groups, or two without, it is the one that ends later: what the
      // other one makes is then in memory already when this one runs.
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

  /// Whether it is open how many channels (axis 1) an operand of `op` has, or whether they are broadcast to those of
  /// the result. A root may work on blocks of channels, in which such an operand cannot be read.
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

  /// Whether elementwise ops may join the group: it has no root, or its root's family applies them to its results.
  static bool takesEpilogue(const Group &g) {
    return !g.root || lower::familyFor(g.root, g.device->machine)->fusesEpilogue(g.root);
  }

  /// Merges the groups without a root whose results only `op` reads into `group`, which `op` is about to join.
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

  /// Moves an op that only widens a tensor (a Cast from bfloat16 to float32) out of its group into the groups of its
  /// readers, a copy for each use. This happens where the narrow tensor is in memory anyway, since another group reads
  /// it, and all readers of the wide one are elementwise ops around the root of other groups.
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
    // The readers stay convex: their groups depended on the op's group before, and depend on nothing else now.
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

  // These functions write the IR.

  /// Replaces views by plan.view, and each group, where its last op stands, by a plan.kernel.
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

  /// Whether `op` is a root whose family writes all of its results, so that they are the results of the kernel: it has
  /// several, or finds a data-dependent size.
  static bool writesAll(Operation *op, const Group &g) {
    return op == g.root && (op->getNumResults() > 1 || onnx::dataDependentSizeOf(op));
  }

  /// Makes the kernel of a group. Its operands are the values from outside, but for scalar constants of elementwise ops
  /// and sizes that are parameters of the root: these are in the region. Its results are the values that are read
  /// outside; where the root writes several results, all that are read.
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
        bool rootResult = writesAll(op, g); // the loop below enters these
        if (llvm::any_of(v.getUsers(), [&](Operation *user) { return !g.ops.contains(user); }) && !rootResult) {
          outs.insert(v);
        }
      }
      if (writesAll(op, g)) {
        for (Value v : op->getResults()) {
          bool number =
              onnx::dataDependentSizeOf(op) && v == op->getResults().back(); // the run reads the size that was found
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

/// The estimate counts each value from and to outside of the ops, and each symbol of their sizes, once.
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
  constexpr size_t others = 4, wordBytes = 8; // the others: scratch memory, status, the status' node, number of items
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
