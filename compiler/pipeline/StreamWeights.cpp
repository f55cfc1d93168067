// Streams weights of a model and of all its variants (memory/StreamWeights.h), which have one file of them.
#include "compiler/memory/StreamWeights.h"
#include "compiler/pipeline/State.h"
#include "compiler/plan/Plan.h"

using namespace mlir;

namespace ingot::pipeline {

LogicalResult streamWeights(State &s) {
  SmallVector<func::FuncOp> functions;
  for (Variant &variant : s.variants) {
    if (variant.runs) {
      functions.push_back(variant.function());
    }
  }
  memory::StreamLimits limits{s.options.leastStreamed.value_or(usualLeastStreamed), s.options.streamBuffer};
  s.userFault = true; // whatever fails here is a limit that the user's flags set
  for (func::FuncOp function : functions) {
    if (SmallVector<StringRef> devices = plan::devicesOf(function); !devices.empty()) {
      return emitError(function.getLoc(),
                       "--weights stream is for models that run on the host alone, and nodes run on '")
             << devices.front() << "'";
    }
    if (failed(memory::streamWeights(function, s.weights, limits))) {
      return failure();
    }
  }
  s.userFault = false;
  memory::keepUnstreamed(functions, s.weights);
  return success();
}

void describeReads(State &s, Variant &variant, Result &report) {
  plan::ModelInfo &info = variant.info;
  info.streamedBytes = report.streamedBytes = s.weights.streamedBytes();
  bool isOpen = info.workspaceBytes < 0;
  report.streamBytes = info.streamBytes = isOpen && info.streamBytes ? -1 : info.streamBytes;
  variant.function().walk<WalkOrder::PreOrder>([&](plan::FetchOp fetch) {
    int64_t bytes = fetch.getInto().getType().getTensor().getNumElements();
    info.reads.push_back({fetch.getName().str(), static_cast<int64_t>(fetch.getAt()), bytes});
  });
  report.reads = info.reads;
}

} // namespace ingot::pipeline
