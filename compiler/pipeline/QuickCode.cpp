#include "compiler/pipeline/QuickCode.h"
#include "compiler/emit/QuickCode.h"
#include "compiler/pipeline/State.h"

namespace ingot::pipeline {

void markQuickCode(State &s) {
  constexpr int64_t kMostWork = 20'000'000'000; // multiply-adds of half a second and more
  int64_t macs = s.result.macs;
  bool hasTiles = partition::hostOf(s.devices).tiles.count > 0; // LLVM's other register allocator does not know them
  if (s.options.runs == 0 || hasTiles) {
    return;
  }
  bool areShort = macs >= 0 && macs < kMostWork / s.options.runs;
  (*s.model().module)->setAttr(areShort ? emit::quickCodeName : emit::fewRunsName, mlir::UnitAttr::get(&s.context));
}

} // namespace ingot::pipeline
