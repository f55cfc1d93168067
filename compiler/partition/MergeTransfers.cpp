// Replaces transfers of small values by one transfer of a bundle, whose buffer holds the values one behind the other:
//
//   %a1 = plan.transfer %a on 1               %bundle = plan.bundle %a, %b
//   %b1 = plan.transfer %b on 1               %all = plan.transfer %bundle on 1
//                                             %a1 = plan.view %all at 0
//                                             %b1 = plan.view %all at 64
//
// Transfers of one block with the same source and destination are considered together, in the order of the block.
// bundlesOf() (Bundles.h) picks those that share a copy.
//
// A value that a kernel makes and only kernels read can have its buffer inside of the bundle, so that bundling costs
// nothing. Other values have their own place: the caller's inputs and outputs, and what control flow carries. These are
// staged, which means that a plan.stage copies them into the bundle before it crosses, or out of it when they are
// wanted. Only the host stages. A value that had to be staged in the memory of a device stays a transfer of its own.
//
// Three kinds of values are never bundled: those whose size depends on data, inputs that a run may leave out, and
// slices of a scan output. Each slice crosses straight to its place in the output while the loop goes on.
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

/// A transfer that may become a part of a bundle.
struct BundleMember {
  plan::TransferOp transfer;
  Crossing crossing;         ///< its costs, and the positions in the block between which it has to cross
  bool needsStaging = false; ///< whether the value has to be copied into the bundle
};

/// Calls `f` with each use of a value, and with each use of its views, which are not uses themselves. `f` may change
/// the use.
void eachReader(Value v, llvm::function_ref<void(OpOperand &)> f) {
  for (OpOperand &use : llvm::make_early_inc_range(v.getUses())) {
    if (auto view = dyn_cast<plan::ViewOp>(use.getOwner())) {
      eachReader(view.getY(), f);
    } else {
      f(use);
    }
  }
}

/// Whether the buffer of a value may be a part of a bundle: a kernel or a join makes the value, and no reader needs it
/// in a place of its own.
bool mayLieAnywhere(Value v) {
  bool may = isa_and_nonnull<plan::KernelOp, plan::JoinOp>(v.getDefiningOp());
  eachReader(v, [&](OpOperand &use) {
    may &= !isa<func::ReturnOp, onnx::YieldOp, plan::JoinOp, plan::BundleOp>(use.getOwner());
  });
  return may;
}

/// Whether a use needs the value in a buffer of its own: the caller's, or that of the result of an If. What a Loop
/// carries does not, since the end of an iteration copies it anyway.
bool wantsPlace(OpOperand &use) {
  return isa<func::ReturnOp>(use.getOwner()) ||
         (isa<onnx::YieldOp>(use.getOwner()) && isa<onnx::IfOp>(use.getOwner()->getParentOp()));
}

/// Whether a use is the slice that an iteration of a Loop adds to a scan output. Behind the condition and the carried
/// values a Loop yields only slices.
bool isSlice(OpOperand &use) {
  auto loop = dyn_cast<onnx::LoopOp>(use.getOwner()->getParentOp());
  return loop && isa<onnx::YieldOp>(use.getOwner()) && use.getOperandNumber() > loop.carried();
}

/// Merges the transfers of all blocks of a function.
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
  using Way =
      std::pair<int64_t, int64_t>; ///< the devices between whose memories values cross, from and to; 0: the host
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

  /// Merges transfers of one block that go the same way.
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

  /// Returns what bundlesOf() has to know of a transfer; nothing if it cannot be a part of a bundle. `places` has the
  /// position of each op in the block.
  std::optional<BundleMember> memberFor(plan::TransferOp transfer, const llvm::DenseMap<Operation *, size_t> &places) {
    Value x = transfer.getX();
    auto [from, to] = wayOf(transfer);
    std::optional<int64_t> bytes = bytesOf(x);
    if (onnx::constantOf(x) || onnx::optionalInput(plan::placeOf(x).base) || !bytes) {
      return std::nullopt;
    }
    BundleMember member = {transfer, {static_cast<double>(*bytes)}, !mayLieAnywhere(x)};
    bool isPossible = from == 0 || !member.needsStaging;
    int stagings = member.needsStaging;
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

  /// Returns the bytes of a value, with an estimate for each size that the caller chooses; nothing if they depend on
  /// data or there are none.
  std::optional<int64_t> bytesOf(Value v) const {
    support::Size size = plan::physicalBytes(cast<RankedTensorType>(v.getType()));
    auto some = [&](support::Symbol symbol) -> std::optional<int64_t> {
      bool isChosen = symbol.kind() == support::SymbolKind::Chosen;
      return isChosen ? std::optional(memories.sizeOf(symbol)) : std::nullopt;
    };
    std::optional<int64_t> bytes = size.isUnknown() ? std::nullopt : size.evaluate(some);
    return bytes && *bytes > 0 ? bytes : std::nullopt;
  }

  /// Replaces transfers by one of their bundle. It stands before the first of them if all values have been made by
  /// then, else behind the last one. `saved` is in seconds, for the report.
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
      parts.push_back(member.needsStaging ? plan::StageOp::create(b, loc, x.getType(), x).getY() : x);
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

  /// Moves the views of a part, and views of these, behind the part: the bundle may cross later than the value alone
  /// did.
  static void moveBehind(plan::ViewOp part) {
    for (Operation *user : part->getUsers()) {
      if (auto view = dyn_cast<plan::ViewOp>(user);
          view && view->getBlock() == part->getBlock() && view->isBeforeInBlock(part)) {
        view->moveAfter(part);
        moveBehind(view);
      }
    }
  }

  /// Copies a part out of the bundle for each use that needs it in a buffer of its own.
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
