// Block by block and way by way, transfers are candidates in the order in which they stand; the rule of Bundles.h picks
// those that go together. What a kernel makes for nobody but kernels lies in the bundle from the start, on either side;
// what lies elsewhere (the caller's inputs and outputs, what control flow carries or gives) is staged: copied into the
// bundle ahead of it, or out of it where it is wanted. There is nobody to do that on a device.
//
// Not in a bundle are values of which only the run knows how large they are, inputs that may be missing, and slices of
// a scan output, each of which crosses to where it belongs while the loop goes on.
#include "compiler/partition/MergeTransfers.h"
#include "compiler/onnx/Optional.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/ops/Control.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "compiler/partition/Bundles.h"
#include "compiler/plan/Layout.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace ingot::partition {
namespace {

struct BundleMember {
  plan::TransferOp transfer;
  Crossing crossing;
  bool liesApart = false; ///< whether the value has to be staged to cross
};

/// Calls `f` with each operand by which a value is read, also through views.
void eachReader(Value v, llvm::function_ref<void(OpOperand &)> f) {
  for (OpOperand &use : llvm::make_early_inc_range(v.getUses())) {
    if (auto view = dyn_cast<plan::ViewOp>(use.getOwner())) {
      eachReader(view.getY(), f);
    } else {
      f(use);
    }
  }
}

/// Whether a value is made by kernels, and nobody says where it lies.
bool mayLieAnywhere(Value v) {
  bool may = isa_and_nonnull<plan::KernelOp, plan::JoinOp>(v.getDefiningOp());
  eachReader(v, [&](OpOperand &use) {
    may &= !isa<func::ReturnOp, onnx::YieldOp, plan::JoinOp, plan::BundleOp>(use.getOwner());
  });
  return may;
}

/// Whether a value is wanted in a certain place. What a loop carries is copied there when the iteration ends.
bool wantsPlace(OpOperand &use) {
  return isa<func::ReturnOp>(use.getOwner()) ||
         (isa<onnx::YieldOp>(use.getOwner()) && isa<onnx::IfOp>(use.getOwner()->getParentOp()));
}

/// Whether a use is a slice, which is stacked where it belongs.
bool isSlice(OpOperand &use) {
  auto loop = dyn_cast<onnx::LoopOp>(use.getOwner()->getParentOp());
  return loop && isa<onnx::YieldOp>(use.getOwner()) && use.getOperandNumber() > loop.carried();
}

/// Joins small transfers of one block into bundles, each of which crosses in one copy.
class TransferMerge {
public:
  TransferMerge(func::FuncOp function, const Memories &memories) : function(function), memories(memories) {}

  std::vector<MergedTransfer> run() {
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<plan::KernelOp>(op)) {
        return WalkResult::skip();
      }
      for (Region &region : op->getRegions()) {
        for (Block &block : region) {
          mergeIn(block);
        }
      }
      return WalkResult::advance();
    });
    return std::move(merged);
  }

private:
  using Way = std::pair<int64_t, int64_t>; ///< from the memory of a device to that of another; 0: the host
  func::FuncOp function;
  const Memories &memories;
  std::vector<MergedTransfer> merged;

  static Way wayOf(plan::TransferOp transfer) {
    return {plan::deviceOf(transfer.getX()), static_cast<int64_t>(transfer.getDevice())};
  }

  void mergeIn(Block &block) {
    llvm::MapVector<Way, SmallVector<plan::TransferOp>> ways;
    for (auto transfer : block.getOps<plan::TransferOp>()) {
      ways[wayOf(transfer)].push_back(transfer);
    }
    for (auto &[way, transfers] : ways) {
      mergeOn(way, transfers, block);
    }
  }

  void mergeOn(Way way, ArrayRef<plan::TransferOp> transfers, Block &block) {
    llvm::DenseMap<Operation *, size_t> places;
    for (auto [place, op] : llvm::enumerate(block)) {
      places[&op] = place;
    }
    SmallVector<BundleMember> members;
    SmallVector<Crossing> crossings;
    for (plan::TransferOp transfer : transfers) {
      if (std::optional<BundleMember> member = memberFor(transfer, places)) {
        members.push_back(*member);
        crossings.push_back(member->crossing);
      }
    }
    auto [from, to] = way;
    const auto &link = to ? memories.devices[to - 1]->upload : memories.devices[from - 1]->download;
    for (const Bundle &bundle : bundlesOf(crossings, link)) {
      merge(llvm::map_to_vector(bundle.members, [&](size_t i) { return members[i]; }), bundle.saved);
    }
  }

  std::optional<BundleMember> memberFor(plan::TransferOp transfer, const llvm::DenseMap<Operation *, size_t> &places) {
    Value x = transfer.getX();
    auto [from, to] = wayOf(transfer);
    std::optional<int64_t> bytes = bytesOf(x);
    if (onnx::constantOf(x) || onnx::optionalInput(plan::placeOf(x).base) || !bytes) {
      return std::nullopt;
    }
    BundleMember member = {transfer, {static_cast<double>(*bytes)}, !mayLieAnywhere(x)};
    bool isPossible = from == 0 || !member.liesApart;
    int stagings = member.liesApart;
    Block *block = transfer->getBlock();
    member.crossing.ready = places.at(transfer);
    member.crossing.wanted = places.at(block->getTerminator());
    eachReader(transfer.getY(), [&](OpOperand &use) {
      Operation *reader = block->findAncestorOpInBlock(*use.getOwner());
      member.crossing.wanted = std::min(member.crossing.wanted, places.at(reader));
      isPossible &= !isSlice(use) && !(wantsPlace(use) && to != 0);
      stagings += wantsPlace(use);
    });
    member.crossing.staging = stagings * stagingSeconds(member.crossing.bytes, *memories.host);
    return isPossible ? std::optional(member) : std::nullopt;
  }

  /// Returns the bytes of a value by estimate; nothing: only the run knows.
  std::optional<int64_t> bytesOf(Value v) const {
    support::Size size = plan::physicalBytes(cast<RankedTensorType>(v.getType()));
    auto some = [&](support::Symbol symbol) -> std::optional<int64_t> {
      bool isChosen = symbol.kind() == support::SymbolKind::Chosen;
      return isChosen ? std::optional(memories.sizeOf(symbol)) : std::nullopt;
    };
    std::optional<int64_t> bytes = size.isUnknown() ? std::nullopt : size.evaluate(some);
    return bytes && *bytes > 0 ? bytes : std::nullopt;
  }

  /// Makes one transfer of several, where the last one stands, or the first if all values are there.
  void merge(ArrayRef<BundleMember> members, double saved) {
    auto to = static_cast<uint64_t>(wayOf(members.front().transfer).second);
    MLIRContext *context = function.getContext();
    OpBuilder b(context);
    plan::TransferOp first = members.front().transfer;
    auto isThere = [&](const BundleMember &member) {
      Operation *maker = member.transfer->getOperand(0).getDefiningOp();
      return !maker || maker->getBlock() != first->getBlock() || maker->isBeforeInBlock(first);
    };
    if (llvm::all_of(members, isThere)) {
      b.setInsertionPoint(first);
    } else {
      b.setInsertionPointAfter(members.back().transfer);
    }
    SmallVector<Value> parts;
    SmallVector<Location> locations;
    for (const BundleMember &member : members) {
      Value x = member.transfer->getOperand(0);
      Location loc = member.transfer->getLoc();
      locations.push_back(loc);
      parts.push_back(member.liesApart ? plan::StageOp::create(b, loc, x.getType(), x).getY() : x);
    }
    Location loc = FusedLoc::get(context, locations);
    Type bytes = onnx::sizedType({plan::offsetIn(parts, parts.size())}, b.getI8Type());
    auto bundle = plan::BundleOp::create(b, loc, bytes, parts);
    auto all = plan::TransferOp::create(b, loc, bytes, bundle, to);
    for (auto [i, member] : llvm::enumerate(members)) {
      auto at = onnx::SizeAttr::get(context, plan::offsetIn(parts, i));
      Value y = member.transfer->getResult(0);
      auto part = plan::ViewOp::create(b, member.transfer->getLoc(), y.getType(), all, at);
      y.replaceAllUsesWith(part);
      moveBehind(part);
      stageBehind(part);
    }
    for (plan::TransferOp transfer : llvm::map_range(members, [](const BundleMember &c) { return c.transfer; })) {
      transfer.erase();
    }
    merged.push_back({all, saved});
  }

  /// Moves views of a value that crossed earlier behind its part of the bundle.
  static void moveBehind(plan::ViewOp part) {
    for (Operation *user : part->getUsers()) {
      if (auto view = dyn_cast<plan::ViewOp>(user);
          view && view->getBlock() == part->getBlock() && view->isBeforeInBlock(part)) {
        view->moveAfter(part);
        moveBehind(view);
      }
    }
  }

  static void stageBehind(Value part) {
    eachReader(part, [&](OpOperand &use) {
      if (wantsPlace(use)) {
        OpBuilder b(use.getOwner());
        use.set(plan::StageOp::create(b, use.get().getLoc(), use.get().getType(), use.get()));
      }
    });
  }
};

} // namespace

std::vector<MergedTransfer> mergeTransfers(func::FuncOp function, const Memories &memories) {
  return TransferMerge(function, memories).run();
}

} // namespace ingot::partition
