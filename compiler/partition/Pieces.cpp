// Forms pieces greedily. A target claims ops that it can compile. These are visited in the order of their block, and
// the pieces of an op and of the claimed ops whose results it reads become one piece, unless that made a cycle: a piece
// runs as a whole, so it may not depend on itself through an op outside of it or through another piece.
#include "compiler/partition/Pieces.h"
#include "compiler/onnx/Control.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/ops/Constant.h"
#include "compiler/partition/Dependencies.h"
#include "compiler/partition/DescribePiece.h"
#include "compiler/partition/Roles.h"
#include "compiler/partition/WrapOps.h"
#include "compiler/plan/Plan.h"
#include "compiler/target/PieceObject.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace ingot::partition {

struct Pieces::Taken {
  std::vector<Operation *> ops; ///< ops in the order of their block
  const Device *device;
  std::unique_ptr<DescribedPiece> described;
  target::PieceCode code;
  std::string symbol; ///< the symbol of the first piece equal to this one, which has the code
};

Pieces::Pieces(func::FuncOp function, const PieceOptions &options, ArrayRef<Device> devices)
    : function(function), prefix((function.getName() + options.suffix + "_piece_").str()), isStrict(options.isStrict),
      devices(devices) {}
Pieces::~Pieces() = default;

namespace {

constexpr int64_t mostScratch = int64_t(1) << 40;

/// Disjoint sets of ops, each of which is to become one kernel.
class Clusters {
public:
  explicit Clusters(const Dependencies &dependencies) : dependencies(dependencies) {}

  void add(ArrayRef<Operation *> ops) {
    auto set = std::make_shared<std::vector<Operation *>>(ops.begin(), ops.end());
    for (Operation *op : ops) {
      members[op] = set;
    }
  }
  bool contains(Operation *op) const { return members.contains(op); }
  const std::vector<Operation *> &of(Operation *op) const { return *members.at(op); }

  /// Merges the sets of two ops, unless their union depended on itself.
  void join(Operation *a, Operation *b) {
    std::shared_ptr<std::vector<Operation *>> one = members[a], other = members[b];
    if (one == other || wouldMakeCycle(*one, *other)) {
      return;
    }
    one->insert(one->end(), other->begin(), other->end());
    for (Operation *op : *other) {
      members[op] = one;
    }
  }

private:
  const Dependencies &dependencies;
  llvm::DenseMap<Operation *, std::shared_ptr<std::vector<Operation *>>> members;

  /// Whether the union of two sets depends on itself: whether a path of dependencies leaves it and comes back. An op of
  /// another set stands for all of that set.
  bool wouldMakeCycle(ArrayRef<Operation *> a, ArrayRef<Operation *> b) const {
    llvm::SmallPtrSet<Operation *, 16> seen, joined(a.begin(), a.end());
    joined.insert(b.begin(), b.end());
    SmallVector<Operation *> todo;
    auto visit = [&](Operation *op) {
      if (seen.insert(op).second) {
        todo.push_back(op);
      }
    };
    auto visitOutside = [&](Operation *needed) {
      if (joined.contains(needed)) {
        return;
      }
      if (auto own = members.find(needed); own != members.end()) {
        llvm::for_each(*own->second, visit);
      } else {
        visit(needed);
      }
    };
    for (Operation *op : joined) {
      dependencies.each(op, visitOutside);
    }
    while (!todo.empty()) {
      bool comesBack = false;
      dependencies.each(todo.pop_back_val(), [&](Operation *needed) {
        comesBack |= joined.contains(needed);
        visitOutside(needed);
      });
      if (comesBack) {
        return true;
      }
    }
    return false;
  }
};

bool canBeInPiece(Operation &op) { return isComputed(op) && !isa<onnx::SizesOp>(op) && op.getNumRegions() == 0; }

/// Calls the target, and reports an exception of it as an error.
template <typename F> LogicalResult guarded(Operation &at, const Device &device, F call) {
  try {
    call();
    return success();
  } catch (const std::exception &e) {
    return at.emitError("target '") << device.target->name() << "' failed: " << e.what();
  }
}

/// Compares what a target promised about its code with the piece.
llvm::Error check(const target::Piece &piece, const target::PieceCode &code, StringRef symbol) {
  auto isConstant = [&](int32_t number) {
    return number >= 0 && static_cast<size_t>(number) < piece.values.size() && piece.values[number].isConstant();
  };
  auto isOpenSize = [&](int32_t number) { return number >= 0 && static_cast<size_t>(number) < piece.openSizes.size(); };
  if (!llvm::all_of(code.constants, isConstant)) {
    return llvm::createStringError("it wants the bytes of a value that is no constant of the piece");
  }
  for (const target::ScratchTerm &term : code.scratch) {
    if (term.bytes < 0 || term.bytes > mostScratch || !llvm::all_of(term.sizes, isOpenSize)) {
      return llvm::createStringError("it wants scratch memory of an impossible size");
    }
  }
  if (llvm::Error wrong = target::checkPieceObject(code.object, symbol, piece.machine.triple)) {
    return llvm::createStringError("its object " + llvm::toString(std::move(wrong)));
  }
  return llvm::Error::success();
}

support::Size scratchOf(const target::PieceCode &code, ArrayRef<support::Size> openSizes) {
  support::Size bytes = 0;
  for (const target::ScratchTerm &term : code.scratch) {
    support::Size product = term.bytes;
    for (int32_t number : term.sizes) {
      product = product * openSizes[number];
    }
    bytes = bytes + product;
  }
  return bytes;
}

} // namespace

std::string Pieces::refusal(Operation *op, const Device &device) const {
  if (deviceOf.lookup(op) == &device) {
    return "";
  }
  auto reason = reasons.find({op, &device});
  return reason == reasons.end() ? "no operator that a piece can have" : reason->second;
}

LogicalResult Pieces::take(ArrayRef<Block *> blocks, const Rules &rules) {
  for (const Device &device : devices) {
    for (Block *block : blocks) {
      if (device.target->pieces() && failed(takeFrom(*block, device, rules))) {
        return failure();
      }
    }
  }
  return success();
}

LogicalResult Pieces::takeFrom(Block &block, const Device &device, const Rules &rules) {
  Dependencies dependencies(block);
  Clusters clusters(dependencies);
  for (const Taken &other : taken) { // what depends on a piece depends on all of its ops
    if (other.ops.front()->getBlock() == &block) {
      clusters.add(other.ops);
    }
  }
  llvm::SetVector<Operation *> claimed;
  for (Operation &op : block) {
    FailureOr<bool> claims = isOffered(op, device, rules) ? isClaimed(op, device) : false;
    if (failed(claims)) {
      return failure();
    }
    if (!*claims) {
      continue;
    }
    claimed.insert(&op);
    clusters.add(&op);
    for (Value v : op.getOperands()) {
      if (v.getDefiningOp() && claimed.contains(v.getDefiningOp())) {
        clusters.join(v.getDefiningOp(), &op);
      }
    }
  }
  llvm::SmallPtrSet<const void *, 8> done;
  for (Operation *op : claimed) {
    if (done.insert(&clusters.of(op)).second && failed(compile(clusters.of(op), device))) {
      return failure();
    }
  }
  return success();
}

bool Pieces::isOffered(Operation &op, const Device &device, const Rules &rules) const {
  if (!canBeInPiece(op) || deviceOf.contains(&op)) {
    return false;
  }
  if (const Device *wanted = rules.wanted(op)) {
    return wanted == &device;
  }
  auto takes = [&](const Device &other) {
    return &other < &device && !other.target->pieces() && rules.refusedByKernels(op, other).empty();
  };
  return llvm::none_of(devices, takes);
}

FailureOr<bool> Pieces::isClaimed(Operation &op, const Device &device) {
  std::string why = unfitForPieces(op);
  if (why.empty()) {
    DescribedPiece alone;
    describePiece(&op, device.machine, "", isStrict, alone);
    if (failed(guarded(op, device, [&] { why = device.target->pieces()->refuses(alone.piece); }))) {
      return failure();
    }
  }
  bool claims = why.empty();
  if (!claims) {
    reasons[{&op, &device}] = std::move(why);
  }
  return claims;
}

LogicalResult Pieces::compile(std::vector<Operation *> ops, const Device &device) {
  llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  Operation &first = *ops.front();
  Taken piece{std::move(ops), &device, std::make_unique<DescribedPiece>(), {}, {}};
  piece.symbol = prefix + std::to_string(known.size());
  describePiece(piece.ops, device.machine, piece.symbol, isStrict, *piece.described);
  std::string key = keyOf(piece.described->piece);
  if (auto equal = known.find(key); equal != known.end()) {
    piece.code = taken[equal->second].code, piece.symbol = taken[equal->second].symbol;
  } else if (failed(guarded(first, device,
                            [&] { piece.code = device.target->pieces()->compile(piece.described->piece); }))) {
    return failure();
  }
  if (!piece.code.refusal.empty()) {
    for (Operation *op : piece.ops) {
      reasons[{op, &device}] = piece.code.refusal;
    }
    return success();
  }
  if (llvm::Error wrong = check(piece.described->piece, piece.code, piece.symbol)) {
    return first.emitError("target '") << device.target->name()
                                       << "' brought code that cannot be used: " << llvm::toString(std::move(wrong));
  }
  for (Operation *op : piece.ops) {
    deviceOf[op] = &device;
  }
  known.try_emplace(std::move(key), taken.size());
  taken.push_back(std::move(piece));
  return success();
}

/// Declares the function of a piece, whose arguments target/Piece.h describes.
static func::FuncOp declare(OpBuilder &b, Location loc, StringRef symbol, size_t ins, size_t outs, size_t sizes) {
  auto list = [](size_t count, Type element) {
    return MemRefType::get({std::max<int64_t>(1, static_cast<int64_t>(count))}, element);
  };
  Type index = b.getIndexType();
  FunctionType type = b.getFunctionType(
      {list(ins, index), list(outs, index), list(1, b.getI8Type()), list(sizes, b.getI64Type())}, b.getI32Type());
  auto function = func::FuncOp::create(b, loc, symbol, type);
  function.setPrivate();
  return function;
}

/// Moves ops that stand between those of a piece, and depend on one of them, behind the piece's kernel.
static void moveDependentsBehind(Operation *kernel, ArrayRef<Operation *> ops) {
  if (ops.size() == 1) {
    return;
  }
  Dependencies dependencies(*kernel->getBlock());
  llvm::SmallPtrSet<Operation *, 16> dependents(ops.begin(), ops.end());
  Operation *behind = kernel;
  for (Operation *op = ops.front(); op != kernel;) {
    Operation *next = op->getNextNode();
    bool depends = false;
    dependencies.each(op, [&](Operation *needed) { depends |= dependents.contains(needed); });
    if (depends && dependents.insert(op).second) {
      op->moveAfter(behind);
      behind = op;
    }
    op = next;
  }
}

void Pieces::makeKernels() {
  auto module = function->getParentOfType<ModuleOp>();
  llvm::DenseMap<Value, Value> replaced; ///< the results of pieces in place of those of ops that are gone
  for (const Taken &piece : taken) {
    const target::Piece &described = piece.described->piece;
    SmallVector<Value> ins, outs;
    for (int32_t number : llvm::concat<const int32_t>(described.inputs, piece.code.constants)) {
      Value before = piece.described->values[number], now = replaced.lookup(before);
      ins.push_back(now ? now : before);
    }
    for (int32_t number : described.outputs) {
      outs.push_back(piece.described->values[number]);
    }
    Operation *last = piece.ops.back();
    OpBuilder b(last->getContext());
    if (!module.lookupSymbol(piece.symbol)) {
      b.setInsertionPointToEnd(module.getBody());
      auto declared = declare(b, last->getLoc(), piece.symbol, ins.size(), outs.size(), described.openSizes.size());
      ArrayRef<char> object(piece.code.object.data(), piece.code.object.size());
      auto bytes = RankedTensorType::get(static_cast<int64_t>(object.size()), b.getI8Type());
      declared->setAttr(plan::objectName, DenseElementsAttr::getFromRawBuffer(bytes, object));
    }
    b.setInsertionPointAfter(last);
    auto what = b.getAttr<plan::PieceAttr>(FlatSymbolRefAttr::get(b.getContext(), piece.symbol),
                                           b.getAttr<onnx::SizeAttr>(scratchOf(piece.code, piece.described->openSizes)),
                                           b.getAttr<onnx::SizesAttr>(piece.described->openSizes));
    plan::KernelOp kernel = wrapOps(b, piece.ops, ins, outs, piece.device->machine.spec, what);
    moveDependentsBehind(kernel, piece.ops);
    for (auto [result, v] : llvm::zip_equal(kernel.getResults(), outs)) {
      v.replaceAllUsesWith(result);
      replaced[v] = result;
    }
    for (Operation *op : llvm::reverse(piece.ops)) {
      op->erase();
    }
  }
}

} // namespace ingot::partition
