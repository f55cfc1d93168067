// One walk forward decides blocked or row-major for every kernel from its rule (LayoutRule) and its operands;
// operands in another form get a plan.reorder kernel, made once a value. Then concatenations whose pieces lie one
// behind the other become plan.join, and each blocked value's halo is the widest that a consumer reads (joined values
// share one). Last, what the caller passes in and out is made row-major buffers of its own, and so is what goes into
// and out of the regions of control ops; a value that a region reads from around it may be blocked.
#include "compiler/layout/AssignLayouts.h"
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

RankedTensorType typeOf(Value v) { return cast<RankedTensorType>(v.getType()); }

class Assigner {
public:
  Assigner(func::FuncOp function, lower::MachineOf machineOf, StringRef host)
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
  llvm::DenseMap<std::pair<Value, Type>, Value> converted;
  llvm::DenseSet<Value> channelsLast;

  /// The ops of a kind, those in regions where their control op stands.
  template <typename Op> SmallVector<Op> all() {
    SmallVector<Op> found;
    function.walk<WalkOrder::PreOrder>([&](Op op) { found.push_back(op); });
    return found;
  }
  /// What leaves a block: the function's, a branch's, an iteration's results.
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

  // Blocked or row-major.

  void assign(plan::KernelOp kernel) {
    const target::MachineModel &machine = machineOf(kernel.getTarget());
    Operation *root = kernel.root();
    auto rule = kernel.getPiece() ? LayoutRule::Plain : lower::familyOf(kernel, machine).layoutRule(root, machine);
    if (rule != LayoutRule::Plain && rule != LayoutRule::PlainToBlocked) {
      llvm::for_each(kernel.getIns(), blockChannels);
    }
    bool areLast =
        rule == LayoutRule::ChannelsLast || (rule == LayoutRule::Follow && !root && readsChannelsLast(kernel));
    auto lanesOf = [&](RankedTensorType t) {
      return areLast && t.getRank() > 1 ? t.getDimSize(1) : machine.blockLanes();
    };
    bool isBlocked =
        rule == LayoutRule::Blocked || rule == LayoutRule::PlainToBlocked || rule == LayoutRule::ChannelsLast;
    bool toBlocks = isBlocked ||
                    (rule == LayoutRule::Follow && (areLast || machine.blockLanes() > 1) && shouldFollow(kernel, root));
    bool fromBlocks = toBlocks || rule == LayoutRule::BlockedToPlain;
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

  /// Whether an operand was made with all its channels last, on the kernel's own machine.
  bool readsChannelsLast(plan::KernelOp kernel) const {
    return llvm::any_of(kernel.getIns(), [&](Value v) {
      auto maker = v.getDefiningOp<plan::KernelOp>();
      return maker && maker.getTarget() == kernel.getTarget() && channelsLast.contains(v);
    });
  }

  // Channels of a blocked image.

  /// The first channel of a view that is whole blocks of channels of one blocked image; nothing: it is another view.
  static std::optional<int64_t> firstChannel(plan::ViewOp view) {
    RankedTensorType x = typeOf(view.getX()), y = typeOf(view.getY());
    auto layout = plan::blockedOf(x);
    if (!layout || x.getRank() != y.getRank() || !x.hasStaticShape() || !y.hasStaticShape() || x.getDimSize(0) != 1 ||
        y.getDimSize(0) != 1 || x.getShape().drop_front(2) != y.getShape().drop_front(2) ||
        x.getElementType() != y.getElementType() || y.getDimSize(1) % layout.getLanes()) {
      return std::nullopt;
    }
    int64_t channelBytes =
        ShapedType::getNumElements(x.getShape().drop_front(2)) * onnx::elementBytes(x.getElementType());
    support::Size offset = view.getOffset().getValue();
    if (!offset.isNumber() || !channelBytes || offset.number() % (layout.getLanes() * channelBytes)) {
      return std::nullopt;
    }
    return offset.number() / channelBytes;
  }
  static bool isOfChannels(plan::ViewOp view) { return plan::blockedOf(view.getY().getType()) && firstChannel(view); }

  /// They begin where they do in a row-major image, and stay blocked.
  static void blockChannels(Value v) {
    auto view = v.getDefiningOp<plan::ViewOp>();
    if (!view || plan::blockedOf(v.getType())) {
      return;
    }
    blockChannels(view.getX());
    if (firstChannel(view)) {
      retype(v, plan::withLayout(typeOf(v), plan::blockedOf(view.getX().getType())));
    }
  }

  /// Views of all channels of an image, one behind the other, are that image.
  static SmallVector<Value> withWholeImages(ArrayRef<Value> pieces) {
    SmallVector<Value> found;
    for (size_t i = 0; i < pieces.size();) {
      auto first = pieces[i].getDefiningOp<plan::ViewOp>();
      Value image = first && isOfChannels(first) ? first.getX() : Value();
      int64_t channels = 0, all = image ? typeOf(image).getDimSize(1) : 0;
      size_t end = i;
      for (; end < pieces.size() && channels < all; ++end) {
        auto view = pieces[end].getDefiningOp<plan::ViewOp>();
        if (!view || view.getX() != image || !isOfChannels(view) || firstChannel(view) != channels) {
          break;
        }
        channels += typeOf(pieces[end]).getDimSize(1);
      }
      bool isWhole = image && channels == all;
      found.push_back(isWhole ? image : pieces[i]);
      i = isWhole ? end : i + 1;
    }
    return found;
  }

  /// What a root reads row by row is another operand to those behind it, which read blocks: x + Conv(x) of few
  /// channels.
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

  static void setOperand(plan::KernelOp kernel, unsigned i, Value v) {
    kernel->setOperand(i, v);
    kernel.getBody().getArgument(i).setType(v.getType());
  }

  /// Whether an operand is read by the root directly.
  static bool rootReads(plan::KernelOp kernel, Operation *root, unsigned i) {
    return root && llvm::is_contained(root->getOperands(), Value(kernel.getBody().getArgument(i)));
  }

  /// A kernel that can work in either layout follows its full-size operands: blocked where at least half of them are.
  static bool shouldFollow(plan::KernelOp kernel, Operation *root) {
    RankedTensorType result = typeOf(kernel.getResult(0));
    int64_t inBlocks = 0, rowMajor = 0;
    for (auto [i, v] : llvm::enumerate(kernel.getIns())) {
      RankedTensorType t = typeOf(v);
      int64_t channels = 1 - (result.getRank() - t.getRank());
      if (!root && result.getRank() > 2 && channels >= 0 && t.isDynamicDim(channels)) {
        return false; // perhaps one channel for all
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

  /// Gives [C, H, W] beside [N, C, H, W] its batch axis, so that it can be reordered to channel blocks.
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

  /// The form of operand `i` in a blocked kernel.
  static RankedTensorType wanted(plan::KernelOp kernel, Operation *root, LayoutRule rule, unsigned i, int64_t lanes) {
    Value v = kernel.getIns()[i];
    RankedTensorType t = typeOf(v);
    int64_t rank = typeOf(kernel.getResult(0)).getRank();
    if (rootReads(kernel, root, i)) {
      bool data = root->getOperand(0) == kernel.getBody().getArgument(i);
      bool follows = rule == LayoutRule::Follow && !isConstant(v) && t.getRank() == rank;
      bool readsBlocks =
          rule == LayoutRule::Blocked || rule == LayoutRule::BlockedToPlain || rule == LayoutRule::ChannelsLast;
      bool inBlocks = follows || (data && readsBlocks);
      return inBlocks ? blocked(t, lanes) : plain(t);
    }
    if (rule == LayoutRule::BlockedToPlain) {
      return plain(t);
    }
    if (t.getRank() != rank || t.getDimSize(1) == 1) {
      return plain(t); // a scalar for all lanes of a pixel, or [C, 1, 1]
    }
    bool onePixel = llvm::all_of(t.getShape().drop_front(2), [](int64_t d) { return d == 1; });
    // [N, C, 1, 1]: whole blocks are contiguous, and constants are padded in the weights section.
    bool piecewise = onePixel && (t.getDimSize(1) % lanes == 0 || (isConstant(v) && t.getDimSize(0) == 1));
    return piecewise ? plain(t) : blocked(t, lanes);
  }

  /// `v` in the form `type`, before `user`. Between blocks of different machines it is row-major.
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

  static Value reorder(OpBuilder &b, Value v, RankedTensorType type, StringRef target) {
    auto kernel = plan::KernelOp::create(b, v.getLoc(), TypeRange{type}, ValueRange{v}, target);
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&kernel.getBody());
    Value x = body->addArgument(v.getType(), v.getLoc());
    Value y = plan::ReorderOp::create(b, v.getLoc(), type, x);
    plan::YieldOp::create(b, v.getLoc(), y);
    return kernel.getResult(0);
  }

  /// Views are made of row-major memory.
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
  Value convertAnywhere(Value v, RankedTensorType type) {
    auto producer = v.getDefiningOp();
    auto kernel = dyn_cast<plan::KernelOp>(producer);
    while (!kernel) { // a view of a blocked value; its base is a kernel's result
      kernel = dyn_cast<plan::KernelOp>((producer = producer->getOperand(0).getDefiningOp()));
    }
    return convert(kernel, v, type);
  }

  // Concatenation in place.

  /// Whether the pieces of a concatenation lie one behind the other in the result.
  static bool contiguousPieces(onnx::Join concat, plan::KernelOp kernel) {
    RankedTensorType t = typeOf(kernel.getResult(0));
    int64_t axis = concat.joinAxis();
    if (auto layout = plan::blockedOf(t)) { // of several images each part strides over the others: shareImages()
      return axis == 0 || (axis == 1 && llvm::all_of(concat->getOperands().drop_back(), [&](Value v) {
                             return typeOf(v).getDimSize(1) % layout.getLanes() == 0;
                           }));
    }
    return llvm::all_of(t.getShape().take_front(axis), [](int64_t d) { return d == 1; });
  }

  llvm::DenseMap<Value, Value> memberOf;

  /// Behind a piece whose size the run has yet to find nothing can be written: they are copied when all are there.
  static bool hasFoundPiece(plan::KernelOp kernel) {
    return llvm::any_of(kernel.getIns(), [](Value v) { return plan::physicalElements(typeOf(v)).isFound(); });
  }

  /// Whether a loop carries on, as one value, the result and the first piece: the kernel itself writes only what is
  /// behind it (plan.extends).
  static bool extendsCarried(plan::KernelOp kernel, onnx::Join concat) {
    auto loop = dyn_cast<onnx::LoopOp>(kernel->getParentOp());
    auto operand = cast<BlockArgument>(concat->getOperand(0));
    auto present = dyn_cast<BlockArgument>(plan::placeOf(kernel.getIns()[operand.getArgNumber()]).base);
    return loop && present && present.getOwner() == &loop.block() && present.getArgNumber() >= 2 &&
           plan::placeOf(loop.yielded(present.getArgNumber() - 2).get()).base == kernel.getResult(0);
  }

  /// Whether a piece is made and read in the memory of the kernel that joins it: what crosses is whole tensors.
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
    bool known = !hasFoundPiece(kernel);
    for (Value v : concat.joinAxis() == 1 ? withWholeImages(given) : given) {
      Operation *producer = v.getDefiningOp();
      bool own = known && producer && isa<plan::KernelOp, plan::JoinOp>(producer) && !memberOf.count(v) &&
                 producer->getBlock() == kernel->getBlock() && !llvm::is_contained(pieces, v) &&
                 producer->getNumResults() == 1 && staysThere(v, kernel);
      auto layout = plan::blockedOf(kernel.getResult(0).getType());
      if (!plan::blockedOf(v.getType()) != !layout) { // a constant: row-major until now
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

  /// A kernel that copies `v` into a buffer of its own.
  static Value copy(OpBuilder &b, Value v, StringRef target) {
    auto kernel = plan::KernelOp::create(b, v.getLoc(), TypeRange{v.getType()}, ValueRange{v}, target);
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&kernel.getBody());
    Value x = body->addArgument(v.getType(), v.getLoc());
    plan::YieldOp::create(b, v.getLoc(), x);
    return kernel.getResult(0);
  }

  /// Parts of joined images lie in these: where there may be several images, so many blocks apart.
  void shareImages() {
    SmallVector<plan::JoinOp> joins = all<plan::JoinOp>();
    for (plan::JoinOp join : llvm::reverse(joins)) { // outward ones first
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

  // Halos.

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
        if (!isNew && fill->second != family.fill(root)) { // what another one reads around it is not for this kernel
          OpBuilder b(kernel);
          v = reorder(b, v, typeOf(v), kernel.getTarget());
          setOperand(kernel, argument.getArgNumber(), v);
          fills[v] = family.fill(root);
        }
      }
      widen(halos[v], halo);
    }
    // Joined values share the widest halo, nested joins too: outward, then inward.
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
  static void widen(SmallVector<int64_t> &halo, ArrayRef<int64_t> by) {
    halo.resize(std::max(halo.size(), by.size()), 0);
    for (size_t i = 0; i < by.size(); ++i) {
      halo[i] = std::max(halo[i], by[i]);
    }
  }
  /// A value that gets a halo is no longer the memory of another one: its views become reorders, or views of one.
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

  static void retype(Value v, RankedTensorType type) {
    Type before = v.getType();
    v.setType(type);
    for (OpOperand &use : v.getUses()) {
      if (auto kernel = dyn_cast<plan::KernelOp>(use.getOwner())) {
        kernel.getBody().getArgument(use.getOperandNumber()).setType(type);
      }
    }
    if (auto kernel = v.getDefiningOp<plan::KernelOp>(); kernel && isa_and_nonnull<plan::ReorderOp>(kernel.root())) {
      Value y = kernel.root()->getResult(0);
      assert(y.getType() == before);
      (void)before;
      y.setType(type);
    }
  }

  // The edge.

  void isolateOutputs() {
    for (Operation *end : ends()) {
      MutableArrayRef<OpOperand> uses = end->getOpOperands();
      if (uses.empty() || isa_and_nonnull<onnx::FailOp>(uses.front().get().getDefiningOp())) {
        continue;
      }
      // A loop's condition is only looked at.
      isolate(end, isa<onnx::LoopOp>(end->getParentOp()) ? uses.drop_front() : uses);
    }
    for (onnx::LoopOp loop : all<onnx::LoopOp>()) {
      for (OpOperand &use : loop->getOpOperands().drop_front(2)) {
        if (isConstant(use.get())) { // a kernel's operands only have memory
          OpBuilder b(loop);
          use.set(copy(b, use.get(), host));
        }
      }
    }
  }

  /// Every result of a block is a whole row-major buffer that an op of the block writes and that is no other result:
  /// else it is copied.
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
  Assigner(function, machineOf, host).run();
}

} // namespace ingot::layout
