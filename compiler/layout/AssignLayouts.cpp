// One walk forward decides blocked or row-major for every kernel, from its rule (LayoutRule) and its operands. An
// operand in another form gets a plan.reorder kernel, which is made once for each value and form. Then concatenations
// whose pieces lie one behind the other become plan.join, and each blocked value gets the widest halo that a consumer
// reads (joined values share one).
//
// Last, the edges of blocks are made row-major: the caller's tensors, and what goes into and out of regions of
// control ops, have row-major buffers. A value that a region reads from around it may be blocked.
#include "compiler/layout/AssignLayouts.h"
#include "compiler/layout/ChannelViews.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/constants/Evaluate.h"
#include "compiler/onnx/ops/Control.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "compiler/plan/Layout.h"

using namespace mlir;

namespace ingot::layout {
namespace {

using lower::LayoutRule;

/// Assigns the layouts of one function, in the order of run().
class LayoutAssignment {
public:
  LayoutAssignment(func::FuncOp function, lower::MachineOf machineOf, StringRef host)
      : function(function), machineOf(machineOf), host(host) {}

  void run() {
    for (plan::KernelOp kernel : all<plan::KernelOp>()) {
      assign(kernel);
    }
    makeViewsPlain();
    for (plan::KernelOp kernel : all<plan::KernelOp>()) {
      joinInPlace(kernel);
    }
    shareImages();
    assignHalos();
    isolateOutputs();
  }

private:
  func::FuncOp function;
  lower::MachineOf machineOf;
  StringRef host;
  /// Value and form -> the value in that form, so that it is made once.
  llvm::DenseMap<std::pair<Value, Type>, Value> converted;
  /// Values that are one block of all their channels.
  llvm::DenseSet<Value> channelsLast;

  /// Returns the ops of a class in their order; those in regions come right behind their control op.
  template <typename Op> SmallVector<Op> all() {
    SmallVector<Op> found;
    function.walk<WalkOrder::PreOrder>([&](Op op) { found.push_back(op); });
    return found;
  }
  /// Returns the ops that give the results of a block: the function's, a branch's or an iteration's.
  SmallVector<Operation *> ends() {
    SmallVector<Operation *> found = {function.getBody().front().getTerminator()};
    llvm::append_range(found, all<onnx::YieldOp>());
    return found;
  }

  static RankedTensorType plain(RankedTensorType t) { return plan::withLayout(t, {}); }
  static RankedTensorType blocked(RankedTensorType t, int64_t lanes) {
    return plan::withLayout(t, plan::blockedBy(t.getContext(), lanes));
  }
  static bool isConstant(Value v) { return static_cast<bool>(onnx::constantOf(v)); }

  // Blocked or row-major

  /// Decides the form of a kernel's operands and results, and converts operands that have another.
  void assign(plan::KernelOp kernel) {
    const target::MachineModel &machine = machineOf(kernel.getTarget());
    Operation *root = kernel.root();
    auto rule = kernel.getPiece() ? LayoutRule::RowMajor : lower::familyOf(kernel, machine).layoutRule(root, machine);
    if (rule != LayoutRule::RowMajor && rule != LayoutRule::RowMajorToBlocked) {
      llvm::for_each(kernel.getIns(), blockChannels);
    }
    bool areLast =
        rule == LayoutRule::ChannelsLast || (rule == LayoutRule::Follow && !root && readsChannelsLast(kernel));
    auto lanesOf = [&](RankedTensorType t) {
      return areLast && t.getRank() > 1 ? t.getDimSize(1) : machine.blockLanes();
    };
    bool isBlocked =
        rule == LayoutRule::Blocked || rule == LayoutRule::RowMajorToBlocked || rule == LayoutRule::ChannelsLast;
    bool toBlocks = isBlocked ||
                    (rule == LayoutRule::Follow && (areLast || machine.blockLanes() > 1) && shouldFollow(kernel, root));
    bool fromBlocks = toBlocks || rule == LayoutRule::BlockedToRowMajor;
    if (toBlocks && root) {
      separateReaders(kernel, root, rule);
    }
    for (unsigned i = 0; i < kernel.getIns().size(); ++i) {
      if (toBlocks) {
        setOperand(kernel, i, withBatchAxis(kernel, root, i));
      }
      Value v = kernel.getIns()[i];
      RankedTensorType type = fromBlocks ? wanted(kernel, root, rule, i, lanesOf(typeOf(v))) : plain(typeOf(v));
      setOperand(kernel, i, convert(kernel, v, type));
    }
    for (OpResult result : kernel->getResults()) {
      result.setType(toBlocks ? blocked(typeOf(result), lanesOf(typeOf(result))) : plain(typeOf(result)));
      if (areLast && toBlocks) {
        channelsLast.insert(result);
      }
    }
  }

  /// Returns whether an operand was made with all its channels last, by a kernel of the same machine.
  bool readsChannelsLast(plan::KernelOp kernel) const {
    return llvm::any_of(kernel.getIns(), [&](Value v) {
      auto maker = v.getDefiningOp<plan::KernelOp>();
      return maker && maker.getTarget() == kernel.getTarget() && channelsLast.contains(v);
    });
  }

  /// Gives the root an operand of its own where it reads by rows what others read in blocks, as in x + Conv(x).
  static void separateReaders(plan::KernelOp kernel, Operation *root, LayoutRule rule) {
    for (BlockArgument argument : llvm::to_vector(kernel.getBody().getArguments())) {
      bool readsBlocks = rule == LayoutRule::Blocked || rule == LayoutRule::ChannelsLast;
      bool inBlocks = rule == LayoutRule::Follow || (readsBlocks && root->getOperand(0) == argument);
      auto isOther = [&](OpOperand &use) { return use.getOwner() != root; };
      if (inBlocks || !rootReads(kernel, root, argument.getArgNumber()) || llvm::none_of(argument.getUses(), isOther)) {
        continue;
      }
      kernel.getInsMutable().append(kernel.getIns()[argument.getArgNumber()]);
      Value other = kernel.getBody().addArgument(argument.getType(), argument.getLoc());
      argument.replaceUsesWithIf(other, isOther);
    }
  }

  /// Sets an operand of a kernel, and the type of the region's argument that stands for it.
  static void setOperand(plan::KernelOp kernel, unsigned i, Value v) {
    kernel->setOperand(i, v);
    kernel.getBody().getArgument(i).setType(v.getType());
  }

  /// Returns whether the root itself reads operand `i`.
  static bool rootReads(plan::KernelOp kernel, Operation *root, unsigned i) {
    return root && llvm::is_contained(root->getOperands(), Value(kernel.getBody().getArgument(i)));
  }

  /// Returns whether a kernel for either layout works in blocks: at least half of its full-size operands have them.
  static bool shouldFollow(plan::KernelOp kernel, Operation *root) {
    RankedTensorType result = typeOf(kernel.getResult(0));
    int64_t inBlocks = 0, rowMajor = 0;
    for (auto [i, v] : llvm::enumerate(kernel.getIns())) {
      RankedTensorType t = typeOf(v);
      int64_t channels = 1 - (result.getRank() - t.getRank());
      if (!root && result.getRank() > 2 && channels >= 0 && t.isDynamicDim(channels)) {
        return false; // the operand may have one channel that is repeated for all
      }
      bool full =
          root ? rootReads(kernel, root, i) && t.getRank() == result.getRank() : t.getShape() == result.getShape();
      if (!full || isConstant(v)) {
        continue;
      }
      if (!plan::canBlock(t)) {
        return false;
      }
      (plan::blockedOf(t) ? inBlocks : rowMajor) += 1;
    }
    return result.getRank() >= 3 && plan::canBlock(result) && inBlocks > 0 && inBlocks >= rowMajor;
  }

  /// Returns operand `i` with a batch axis where it is [C, H, W] beside [N, C, H, W], for a reorder to blocks.
  static Value withBatchAxis(plan::KernelOp kernel, Operation *root, unsigned i) {
    Value v = kernel.getIns()[i];
    RankedTensorType t = typeOf(v);
    bool pixels = t.getRank() > 0 && llvm::any_of(t.getShape().drop_front(), [](int64_t d) { return d != 1; });
    if (rootReads(kernel, root, i) || t.getRank() + 1 != typeOf(kernel.getResult(0)).getRank() ||
        t.getDimSize(0) == 1 || !pixels) {
      return v;
    }
    support::Sizes shape = onnx::sizesOf(t);
    shape.insert(shape.begin(), 1);
    OpBuilder b(kernel);
    RankedTensorType type = onnx::sizedType(shape, t.getElementType());
    if (ElementsAttr constant = onnx::constantOf(v)) {
      return onnx::makeConstant(b, v.getLoc(), onnx::reshaped(constant, type));
    }
    return plan::ViewOp::create(b, v.getLoc(), type, v, b.getAttr<onnx::SizeAttr>(0));
  }

  /// Returns the form that operand `i` has to have in a blocked kernel.
  static RankedTensorType wanted(plan::KernelOp kernel, Operation *root, LayoutRule rule, unsigned i, int64_t lanes) {
    Value v = kernel.getIns()[i];
    RankedTensorType t = typeOf(v);
    int64_t rank = typeOf(kernel.getResult(0)).getRank();
    if (rootReads(kernel, root, i)) {
      bool data = root->getOperand(0) == kernel.getBody().getArgument(i);
      bool follows = rule == LayoutRule::Follow && !isConstant(v) && t.getRank() == rank;
      bool readsBlocks =
          rule == LayoutRule::Blocked || rule == LayoutRule::BlockedToRowMajor || rule == LayoutRule::ChannelsLast;
      bool inBlocks = follows || (data && readsBlocks);
      return inBlocks ? blocked(t, lanes) : plain(t);
    }
    if (rule == LayoutRule::BlockedToRowMajor) {
      return plain(t);
    }
    if (t.getRank() != rank || t.getDimSize(1) == 1) {
      // The kernel reads one scalar for all lanes of a pixel, or whole vectors of a row-major [C, 1, 1].
      return plain(t);
    }
    bool onePixel = llvm::all_of(t.getShape().drop_front(2), [](int64_t d) { return d == 1; });
    // In a row-major [N, C, 1, 1] whole blocks are contiguous; the weights section pads a constant's last block.
    bool piecewise = onePixel && (t.getDimSize(1) % lanes == 0 || (isConstant(v) && t.getDimSize(0) == 1));
    return piecewise ? plain(t) : blocked(t, lanes);
  }

  /// Returns `v` in the form `type`, for `user` to read. Between blocks of different machines it is row-major.
  Value convert(plan::KernelOp user, Value v, RankedTensorType type) {
    if (v.getType() == type) {
      return v;
    }
    auto from = plan::blockedOf(v.getType()), to = plan::blockedOf(type);
    if (from && to && from.getLanes() != to.getLanes()) {
      return convert(user, convertAnywhere(v, plain(type)), type);
    }
    Value &known = converted[{v, type}];
    if (known) {
      return known;
    }
    OpBuilder b(user);
    if (v.getDefiningOp()) {
      b.setInsertionPointAfter(v.getDefiningOp());
    } else {
      b.setInsertionPointToStart(v.getParentBlock());
    }
    bool wholeBlocks = from || typeOf(v).getDimSize(1) % to.getLanes() == 0;
    if (wholeBlocks && plan::sameMemoryAsPlain(typeOf(v)) && plan::sameMemoryAsPlain(type)) {
      return known = plan::ViewOp::create(b, v.getLoc(), type, v, b.getAttr<onnx::SizeAttr>(0));
    }
    return known = reorder(b, v, type, user.getTarget());
  }

  /// Makes a kernel of `target` that brings `v` into the form `type`.
  static Value reorder(OpBuilder &b, Value v, RankedTensorType type, StringRef target) {
    auto kernel = plan::KernelOp::create(b, v.getLoc(), TypeRange{type}, ValueRange{v}, target);
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&kernel.getBody());
    Value x = body->addArgument(v.getType(), v.getLoc());
    Value y = plan::ReorderOp::create(b, v.getLoc(), type, x);
    plan::YieldOp::create(b, v.getLoc(), y);
    return kernel.getResult(0);
  }

  /// Brings what views and control ops read into row-major form, unless the view can stay blocked.
  void makeViewsPlain() {
    for (plan::ViewOp view : all<plan::ViewOp>()) {
      RankedTensorType t = typeOf(view.getX());
      if (plan::blockedOf(t) && !plan::sameMemoryAsPlain(t) && !isOfChannels(view)) {
        view->setOperand(0, convertAnywhere(view.getX(), plain(t)));
      }
    }
    SmallVector<Operation *> readers = ends();
    llvm::append_range(readers, all<onnx::IfOp>());
    llvm::append_range(readers, all<onnx::LoopOp>());
    for (Operation *reader : readers) {
      for (OpOperand &use : reader->getOpOperands()) {
        if (plan::blockedOf(use.get().getType())) {
          use.set(convertAnywhere(use.get(), plain(typeOf(use.get()))));
        }
      }
    }
  }
  /// Converts `v` on the target of the kernel that makes it, or makes what it is a view of.
  Value convertAnywhere(Value v, RankedTensorType type) {
    auto producer = v.getDefiningOp();
    auto kernel = dyn_cast<plan::KernelOp>(producer);
    while (!kernel) { // `v` is a view, and a blocked value's base is a kernel's result
      kernel = dyn_cast<plan::KernelOp>((producer = producer->getOperand(0).getDefiningOp()));
    }
    return convert(kernel, v, type);
  }

  // Concatenation in place

  /// Returns whether the pieces of a concatenation lie one behind the other in the result.
  static bool contiguousPieces(onnx::Join concat, plan::KernelOp kernel) {
    RankedTensorType t = typeOf(kernel.getResult(0));
    int64_t axis = concat.joinAxis();
    if (auto layout = plan::blockedOf(t)) { // parts of several images are strided, see shareImages()
      return axis == 0 || (axis == 1 && llvm::all_of(concat->getOperands().drop_back(), [&](Value v) {
                             return typeOf(v).getDimSize(1) % layout.getLanes() == 0;
                           }));
    }
    return llvm::all_of(t.getShape().take_front(axis), [](int64_t d) { return d == 1; });
  }

  /// Value -> the join that it is part of; it can be part of only one.
  llvm::DenseMap<Value, Value> memberOf;

  /// Returns whether a piece has a data-dependent size. Nothing can be written behind such a piece before its size is
  /// found, so the pieces are copied when all are there.
  static bool hasDataDependentPiece(plan::KernelOp kernel) {
    return llvm::any_of(kernel.getIns(), [](Value v) { return plan::physicalElements(typeOf(v)).isDataDependent(); });
  }

  /// Returns whether a loop carries the first piece on as the result, extended by the others. The kernel itself then
  /// writes only what is behind the first piece (plan.extends).
  static bool extendsCarried(plan::KernelOp kernel, onnx::Join concat) {
    auto loop = dyn_cast<onnx::LoopOp>(kernel->getParentOp());
    auto operand = cast<BlockArgument>(concat->getOperand(0));
    auto present = dyn_cast<BlockArgument>(plan::placeOf(kernel.getIns()[operand.getArgNumber()]).base);
    return loop && present && present.getOwner() == &loop.block() && present.getArgNumber() >= 2 &&
           plan::placeOf(loop.yielded(present.getArgNumber() - 2).get()).base == kernel.getResult(0);
  }

  /// Returns whether a piece is in the memory of the kernel that joins it: no tensor is joined across devices.
  static bool staysThere(Value piece, plan::KernelOp kernel) {
    auto function = kernel->getParentOfType<func::FuncOp>();
    if (plan::devicesOf(function).empty()) {
      return true;
    }
    int64_t device = plan::deviceOf(kernel);
    return plan::deviceOf(piece) == device && llvm::all_of(piece.getUsers(), [&](Operation *user) {
             auto reader = dyn_cast<plan::KernelOp>(user);
             return reader && plan::deviceOf(reader) == device;
           });
  }

  /// Replaces a kernel that only concatenates by a plan.join of its pieces. A piece that cannot be written in its place
  /// by the op that makes it is copied there.
  void joinInPlace(plan::KernelOp kernel) {
    auto concat = dyn_cast_or_null<onnx::Join>(kernel.root());
    if (!concat || kernel.getBody().front().getOperations().size() != 2 || !contiguousPieces(concat, kernel) ||
        extendsCarried(kernel, concat)) {
      return;
    }
    OpBuilder b(kernel);
    auto given = llvm::map_to_vector(concat->getOperands(), [&](Value operand) {
      return Value(kernel.getIns()[cast<BlockArgument>(operand).getArgNumber()]);
    });
    SmallVector<Value> pieces;
    bool known = !hasDataDependentPiece(kernel);
    for (Value v : concat.joinAxis() == 1 ? withWholeImages(given) : given) {
      Operation *producer = v.getDefiningOp();
      bool own = known && producer && isa<plan::KernelOp, plan::JoinOp>(producer) && !memberOf.count(v) &&
                 producer->getBlock() == kernel->getBlock() && !llvm::is_contained(pieces, v) &&
                 producer->getNumResults() == 1 && staysThere(v, kernel);
      auto layout = plan::blockedOf(kernel.getResult(0).getType());
      if (!plan::blockedOf(v.getType()) != !layout) { // a constant is row-major until now
        pieces.push_back(reorder(b, v, plan::withLayout(typeOf(v), layout), kernel.getTarget()));
      } else {
        pieces.push_back(own ? v : copy(b, v, kernel.getTarget()));
      }
    }
    auto join = plan::JoinOp::create(b, kernel.getLoc(), kernel.getResult(0).getType(), pieces);
    for (Value v : pieces) {
      memberOf[v] = join;
    }
    kernel.getResult(0).replaceAllUsesWith(join);
    kernel.erase();
  }

  /// Makes a kernel that copies `v` into a buffer of its own.
  static Value copy(OpBuilder &b, Value v, StringRef target) {
    auto kernel = plan::KernelOp::create(b, v.getLoc(), TypeRange{v.getType()}, ValueRange{v}, target);
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&kernel.getBody());
    Value x = body->addArgument(v.getType(), v.getLoc());
    plan::YieldOp::create(b, v.getLoc(), x);
    return kernel.getResult(0);
  }

  /// Lets the parts of joined images lie in these images. Where there may be several images, a part's images are as
  /// many blocks apart as the joined ones.
  void shareImages() {
    SmallVector<plan::JoinOp> joins = all<plan::JoinOp>();
    for (plan::JoinOp join : llvm::reverse(joins)) { // outer joins come first, whose blocks the inner ones take over
      RankedTensorType type = typeOf(join.getY());
      auto layout = plan::blockedOf(type);
      bool shared = layout && plan::joinsChannels(join) && type.getDimSize(0) != 1;
      int64_t blocks = layout ? layout.getBlocks() : 0;
      blocks = blocks == 0 && shared ? plan::blocksOf(type) : blocks;
      for (Value x : join.getXs()) {
        if (blocks) {
          Value part = separateViews(x);
          auto own = plan::blockedOf(part.getType());
          retype(part,
                 plan::withLayout(typeOf(part), plan::BlockedAttr::get(part.getContext(), own.getLanes(), own.getHalo(),
                                                                       {}, blocks, own.getFill())));
        }
      }
    }
  }

  // Halos

  /// Gives each blocked value the widest halo that a consumer reads, filled with what the consumers expect there.
  void assignHalos() {
    llvm::DenseMap<Value, SmallVector<int64_t>> halos;
    llvm::DenseMap<Value, int64_t> fills;
    for (plan::KernelOp kernel : all<plan::KernelOp>()) {
      Operation *root = kernel.root();
      if (!root || root->getNumOperands() == 0) {
        continue;
      }
      auto argument = dyn_cast<BlockArgument>(root->getOperand(0));
      Value v = argument ? kernel.getIns()[argument.getArgNumber()] : Value();
      if (!v || !plan::blockedOf(v.getType())) {
        continue;
      }
      const lower::KernelFamily &family = lower::familyOf(kernel, machineOf(kernel.getTarget()));
      SmallVector<int64_t> halo = family.halo(root);
      if (llvm::any_of(halo, [](int64_t h) { return h > 0; })) {
        auto [fill, isNew] = fills.try_emplace(v, family.fill(root));
        if (!isNew && fill->second != family.fill(root)) { // another kernel reads other values around it
          OpBuilder b(kernel);
          v = reorder(b, v, typeOf(v), kernel.getTarget());
          setOperand(kernel, argument.getArgNumber(), v);
          fills[v] = family.fill(root);
        }
      }
      widen(halos[v], halo);
    }
    // Joined values share the widest halo, and so do nested joins: the walk goes outward first, then inward.
    SmallVector<plan::JoinOp> joins = all<plan::JoinOp>();
    for (plan::JoinOp join : joins) {
      for (Value v : join.getXs()) {
        SmallVector<int64_t> inner = halos[v];
        widen(halos[join], inner);
        if (auto fill = fills.find(v); fill != fills.end()) {
          fills.try_emplace(join, fill->second);
        }
      }
    }
    for (plan::JoinOp join : llvm::reverse(joins)) {
      SmallVector<int64_t> outer = halos[join];
      for (Value v : join.getXs()) {
        halos[v] = outer;
        fills[v] = fills.lookup(join);
      }
    }
    for (auto &[key, halo] : halos) {
      Value v = key;
      auto layout = plan::blockedOf(v.getType());
      if (layout && llvm::any_of(halo, [](int64_t h) { return h > 0; })) {
        v = separateViews(v);
        retype(v, plan::withLayout(typeOf(v), plan::BlockedAttr::get(v.getContext(), layout.getLanes(), halo, {},
                                                                     layout.getBlocks(), fills.lookup(key))));
      }
    }
  }
  /// Widens each side of `halo` to at least that of `by`.
  static void widen(SmallVector<int64_t> &halo, ArrayRef<int64_t> by) {
    halo.resize(std::max(halo.size(), by.size()), 0);
    for (size_t i = 0; i < by.size(); ++i) {
      halo[i] = std::max(halo[i], by[i]);
    }
  }
  /// Makes `v`, which gets a halo, independent of other memory: a view becomes a copy, and views of it become views of
  /// a copy. Returns the value that takes the place of `v`.
  Value separateViews(Value v) {
    if (auto view = v.getDefiningOp<plan::ViewOp>()) {
      OpBuilder b(view);
      bool ofChannels = isOfChannels(view);
      if (ofChannels) {
        b.setInsertionPointAfter(view);
      }
      Value own = reorder(b, ofChannels ? v : view.getX(), typeOf(v), host);
      v.replaceAllUsesExcept(own, own.getDefiningOp());
      return own;
    }
    for (Operation *user : llvm::to_vector(v.getUsers())) {
      if (auto view = dyn_cast<plan::ViewOp>(user)) {
        OpBuilder b(view);
        bool ofChannels = isOfChannels(view);
        auto layout = plan::blockedOf(v.getType());
        view->setOperand(0, reorder(b, v, ofChannels ? blocked(typeOf(v), layout.getLanes()) : plain(typeOf(v)), host));
      }
    }
    return v;
  }

  // Edges of blocks

  /// Gives the results of blocks and the initial values of loops buffers of their own.
  void isolateOutputs() {
    for (Operation *end : ends()) {
      MutableArrayRef<OpOperand> uses = end->getOpOperands();
      if (uses.empty() || isa_and_nonnull<onnx::FailOp>(uses.front().get().getDefiningOp())) {
        continue;
      }
      // A loop's condition is read where it lies.
      isolate(end, isa<onnx::LoopOp>(end->getParentOp()) ? uses.drop_front() : uses);
    }
    for (onnx::LoopOp loop : all<onnx::LoopOp>()) {
      for (OpOperand &use : loop->getOpOperands().drop_front(2)) {
        if (isConstant(use.get())) { // a constant has memory only as an operand of a kernel
          OpBuilder b(loop);
          use.set(copy(b, use.get(), host));
        }
      }
    }
  }

  /// Copies each result of a block that is not a whole row-major buffer which an op of the block writes for it alone.
  void isolate(Operation *end, MutableArrayRef<OpOperand> results) {
    llvm::SmallPtrSet<Value, 8> taken;
    for (OpOperand &use : results) {
      plan::Place p = plan::placeOf(use.get());
      Operation *producer = p.base.getDefiningOp();
      bool own = producer && isa<plan::KernelOp, plan::JoinOp, onnx::IfOp, onnx::LoopOp>(producer) &&
                 producer->getBlock() == end->getBlock() && p.offset == 0 &&
                 plan::physicalBytes(typeOf(p.base)) == plan::physicalBytes(typeOf(use.get()));
      if (own && taken.insert(p.base).second) {
        continue;
      }
      OpBuilder b(end);
      use.set(copy(b, use.get(), host));
      taken.insert(use.get());
    }
  }
};

} // namespace

void assignLayouts(func::FuncOp function, lower::MachineOf machineOf, StringRef host) {
  LayoutAssignment(function, machineOf, host).run();
}

} // namespace ingot::layout
