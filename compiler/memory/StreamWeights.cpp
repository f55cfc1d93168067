// A launch reads its weights in one piece: they lie one behind the other in the streamed section, in the order in which
// launches stand in the function, so that a run reads the section from its beginning to its end. The reads overlap with
// the launches before them:
//
//   %a = plan.fetch "conv_a" at 0          begin to read
//   plan.fetched                           wait
//   %b = plan.fetch "conv_b" at 4096
//   plan.launch @conv_a(%x, view of %a)    while this one runs, the other one's weights come
//   plan.fetched
//   plan.launch @conv_b(%y, view of %b)
//
// So the weights of two launches are in memory at a time. These are two buffers of the arena like all others, each
// from the beginning of the read to the launch: what is free then has other tensors in it at other times. Where both
// are more than may be there at one time (--stream-buffer), the second read begins behind the first launch.
//
// One read at a time is under way. A branch or an iteration reads its own weights each time it runs, and no read is
// under way where one begins or ends: the first launch behind an If or a Loop, and the first one of a block, wait for
// what has begun there.
//
// What stays where it has an address: small constants, those that anything but a launch reads, and those of launches
// on texts, whose results may point into them.
#include "compiler/memory/StreamWeights.h"
#include "compiler/plan/KernelAttributes.h"
#include "compiler/plan/Layout.h"
#include "compiler/plan/Plan.h"
#include "mlir/IR/Iterators.h"
#include "llvm/Support/Format.h"

using namespace mlir;

namespace ingot::memory {
namespace {

/// An operand of a launch that is a streamed weight.
struct Operand {
  OpOperand *use;
  int64_t offset; ///< of the constant, in the host's part
  support::Size inside;
};

/// Returns the operands of a launch that are weights of `least` bytes and more.
SmallVector<Operand> streamedOperands(plan::LaunchOp launch, const plan::WeightTable &table, int64_t least) {
  SmallVector<Operand> operands;
  if (launch.getDevice() || launch->hasAttr(plan::textName)) {
    return operands;
  }
  for (OpOperand &use : launch->getOpOperands()) {
    plan::Place place = plan::placeOf(use.get());
    auto weight = place.base.getDefiningOp<plan::WeightOp>();
    bool hasBytes = weight && !plan::physicalBytes(cast<RankedTensorType>(weight.getType())).is(0);
    if (hasBytes && table.bytesAt(static_cast<int64_t>(weight.getOffset())) >= least) {
      operands.push_back({&use, static_cast<int64_t>(weight.getOffset()), place.offset});
    }
  }
  return operands;
}

/// Writes the reads of a function.
class Reads {
public:
  Reads(plan::WeightTable &table, const StreamLimits &limits) : table(table), limits(limits) {}

  /// Lets the launches of a block, and of those in it, read streamed weights.
  void stream(Block &block) {
    Operation *last = nullptr; // the last launch that reads some, since when no If or Loop has run
    int64_t lastBytes = 0;
    OpBuilder begins = OpBuilder::atBlockBegin(&block);
    for (Operation &op : llvm::make_early_inc_range(block)) {
      for (Region &region : op.getRegions()) {
        stream(region.front());
      }
      if (op.getNumRegions() > 0) {
        last = nullptr, lastBytes = 0;
        begins.setInsertionPointAfter(&op);
      }
      auto launch = dyn_cast<plan::LaunchOp>(op);
      SmallVector<Operand> operands = launch ? streamedOperands(launch, table, limits.least) : SmallVector<Operand>();
      if (operands.empty()) {
        continue;
      }
      int64_t bytes = noteBytes(operands);
      if (limits.most && bytes > *limits.most) {
        tooLarge.emplace_back(bytes, launch.getCallee().str());
      }
      if (last && limits.most && lastBytes + bytes > *limits.most) {
        begins.setInsertionPointAfter(last);
      }
      fetch(launch, operands, bytes, begins);
      begins.setInsertionPoint(launch);
      last = launch, lastBytes = bytes;
    }
  }

  /// Reports the launches whose weights do not fit, those with most first.
  LogicalResult check(Location loc) {
    if (tooLarge.empty()) {
      return success();
    }
    llvm::sort(tooLarge, [](const auto &a, const auto &b) {
      return std::pair(-a.first, a.second) < std::pair(-b.first, b.second);
    });
    std::string text;
    llvm::raw_string_ostream out(text);
    constexpr size_t most = 8;
    for (const auto &[bytes, kernel] : ArrayRef(tooLarge).take_front(most)) {
      out << "\n  " << llvm::format("%12lld  ", static_cast<long long>(bytes)) << "weights of " << kernel;
    }
    if (tooLarge.size() > most) {
      out << "\n                and " << tooLarge.size() - most << " with fewer";
    }
    out << "\n  what may help: --stream-buffer " << tooLarge.front().first
        << ": a kernel needs all of its weights at one time"
        << "\n                 --stream-least with more bytes: constants that are not read stay in flash"
        << "\n                 ingot quantize: int8 takes a quarter of float32's weights, --scheme int4 about an "
           "eighth";
    return emitError(loc) << "the weights of " << tooLarge.size()
                          << (tooLarge.size() == 1 ? " kernel are" : " kernels are")
                          << " more than --stream-buffer=" << *limits.most << " allows; nothing was written" << text;
  }

private:
  plan::WeightTable &table;
  const StreamLimits &limits;
  std::vector<std::pair<int64_t, std::string>> tooLarge;
  SmallVector<int64_t> offsets;             ///< of the constants that the present launch reads
  llvm::DenseMap<int64_t, int64_t> placeOf; ///< such an offset -> where the constant is in what is fetched

  /// Notes which constants a launch reads, and where each will be. Returns the bytes of all of them.
  int64_t noteBytes(ArrayRef<Operand> operands) {
    int64_t bytes = 0;
    offsets.clear(), placeOf.clear();
    for (const Operand &operand : operands) {
      if (placeOf.try_emplace(operand.offset, bytes).second) {
        offsets.push_back(operand.offset);
        bytes += table.bytesAt(operand.offset);
      }
    }
    return bytes;
  }

  /// Lets a launch read views of bytes that are fetched at `begins`.
  void fetch(plan::LaunchOp launch, ArrayRef<Operand> operands, int64_t bytes, OpBuilder &begins) {
    Location loc = launch.getLoc();
    OpBuilder b(launch);
    auto waits = plan::FetchedOp::create(b, loc);
    if (begins.getInsertionPoint() == launch->getIterator()) {
      begins.setInsertionPoint(waits);
    }
    Type type = RankedTensorType::get({bytes}, b.getI8Type());
    auto fetched = plan::FetchOp::create(begins, loc, type, launch.getCallee(), table.stream(offsets), Value());
    for (const Operand &operand : operands) {
      auto at = onnx::SizeAttr::get(launch.getContext(), support::Size(placeOf.at(operand.offset)) + operand.inside);
      operand.use->set(plan::ViewOp::create(b, loc, operand.use->get().getType(), fetched.getY(), at));
    }
  }
};

} // namespace

LogicalResult streamWeights(func::FuncOp function, plan::WeightTable &table, const StreamLimits &limits) {
  Reads reads(table, limits);
  reads.stream(function.getBody().front());
  function.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) { // what is not read at its place any more
    if (isa<plan::ViewOp, plan::WeightOp>(op) && op->use_empty()) {
      op->erase();
    }
  });
  return reads.check(function.getLoc());
}

void keepUnstreamed(ArrayRef<func::FuncOp> functions, plan::WeightTable &table) {
  SmallVector<plan::WeightOp> weights;
  std::set<int64_t> offsets;
  for (func::FuncOp function : functions) {
    function.walk([&](plan::WeightOp weight) {
      if (!weight.getDevice()) {
        weights.push_back(weight);
        offsets.insert(static_cast<int64_t>(weight.getOffset()));
      }
    });
  }
  std::map<int64_t, int64_t> moved = table.keep(offsets);
  for (plan::WeightOp weight : weights) {
    weight.setOffset(static_cast<uint64_t>(moved.at(static_cast<int64_t>(weight.getOffset()))));
  }
}

} // namespace ingot::memory
