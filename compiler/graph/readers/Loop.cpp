// Reads the trip count of a Loop, which is a size where no condition can end the loop earlier.
#include "compiler/graph/SizeReader.h"
#include "compiler/onnx/ops/Control.h"
#include "compiler/onnx/sizes/LoopSizes.h"

using namespace mlir;
using ingot::onnx::Size;
using ingot::onnx::Sizes;

namespace ingot::graph {
namespace {

class LoopReader : SizeReader {
public:
  explicit LoopReader(const SizeReader &reader) : SizeReader(reader) {}

  bool run(onnx::LoopOp loop) {
    bool goesOn = loop.continues().get() == loop.enters() || onnx::splatNumber(loop.continues().get()) == 1;
    bool enters = !onnx::present(loop.getCondition()) || onnx::splatNumber(loop.getCondition()) == 1;
    auto length = lengthOf(loop.getTrips());
    Size most = onnx::LoopSizes::maxTripCount(loop);
    if (!length || *length != 1 || !goesOn || !enters || !mayRead(most)) {
      return false;
    }
    Value trips = element({loop.getTrips(), 0});
    Size times = read(f.op("Max", {trips, one(0, trips)}), most);
    loop.getTripsMutable().assign(onnx::makeSizes(f.b, f.loc, {times}, onnx::ranked(loop.getTrips())));
    return true;
  }
};

struct LoopTrips : ReadsSizes::ExternalModel<LoopTrips, onnx::LoopOp> {
  bool readSizes(Operation *op, SizeReader &reader) const { return LoopReader(reader).run(cast<onnx::LoopOp>(op)); }
};

} // namespace

void attachLoop(MLIRContext &context) { onnx::LoopOp::attachInterface<LoopTrips>(context); }

} // namespace ingot::graph
