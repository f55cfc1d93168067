// Hands what the user allows of arithmetic to the phases behind, as attributes of the module, and checks what he says
// of the machine.
#include "compiler/pipeline/State.h"
#include "compiler/plan/KernelAttributes.h"
#include "compiler/support/Attributes.h"

using namespace mlir;

namespace ingot::pipeline {

void markReproducible(const Options &options, ModuleOp module) {
  if (options.isReproducible()) {
    module->setAttr(support::reproducibleName, UnitAttr::get(module.getContext()));
  }
}

bool countsCycles(const State &s) { return partition::hostOf(s.devices).instructionCycles && s.options.levels.empty(); }

LogicalResult checkWaitStates(State &s) {
  if (!s.options.flashWaitStates || countsCycles(s)) {
    return success();
  }
  s.userFault = true;
  return s.model().module->emitError("--flash-wait-states is for microcontrollers: cycles of '")
         << partition::hostOf(s.devices).spec << "' are not estimated";
}

LogicalResult checkSymbols(State &s) {
  if (s.options.symbols == emit::Symbols::Libraries || countsCycles(s)) {
    return success();
  }
  s.userFault = true;
  return s.model().module->emitError("--symbols none is for microcontrollers: an object for '")
         << partition::hostOf(s.devices).spec << "' refers to the support library";
}

void setPolicies(const Options &options, ModuleOp module) {
  auto set = [&](StringRef name, StringRef value) {
    if (!value.empty()) {
      module->setAttr(name, StringAttr::get(module.getContext(), value));
    }
  };
  set(lower::winogradName, support::wordOf(options.winograd));
  set(lower::strassenName, support::wordOf(options.strassen));
  set(lower::splitFloatsName, support::wordOf(options.splitFloats));
  if (options.accuracy == Accuracy::Close || options.accuracy == Accuracy::Fast) {
    module->setAttr(lower::twoPartsName, UnitAttr::get(module.getContext()));
  }
  if (options.accuracy == Accuracy::Fast) {
    module->setAttr(lower::fastName, UnitAttr::get(module.getContext()));
  }
  if (options.isStrict()) {
    module->setAttr(plan::strictName, UnitAttr::get(module.getContext()));
  }
}

} // namespace ingot::pipeline
