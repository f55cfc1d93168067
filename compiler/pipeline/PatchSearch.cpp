#include "compiler/pipeline/PatchSearch.h"
#include "compiler/graph/RowPatches.h"
#include "compiler/graph/Simplify.h"

using namespace mlir;

namespace ingot::pipeline {

constexpr int64_t mostPatches = 64;
constexpr size_t choicesOfEach = 3; ///< values to cut that are tried for each number of patches
constexpr int64_t mostInTurn = 8;   ///< numbers of patches that are tried one by one; those behind grow by a quarter

LogicalResult runInPatches(State &s, Variant &variant, Result &) {
  func::FuncOp function = variant.function();
  int64_t patches = s.patches.number;
  s.patches.areMade = patches > 1 && graph::runInPatches(function, patches, s.patches.choice);
  if (s.patches.areMade) {
    return graph::simplify(function);
  }
  if (s.options.patches > 1 && patches > 1 && s.patches.choice == 0) {
    return emitError(function.getLoc(), "--patches ")
           << patches << " takes no less memory: no first layers of this model are maps of fixed sizes that " << patches
           << " parts of its rows make smaller";
  }
  return success();
}

/// Whether the phases up to the memory plan run.
static bool plansMemory(const Options &options) {
  for (const Phase &phase : phaseTable()) {
    if (phase.name == llvm::StringRef("memory")) {
      return true;
    }
    if (phase.name == options.stopAfter) {
      return false;
    }
  }
  return false;
}

void PatchSearch::save(State &state) {
  bool isLimited = state.options.mostRam || !state.options.memories.empty();
  bool isWanted = state.options.patches > 1 || (state.options.patches == 0 && isLimited);
  if (!isWanted || before.isTaken()) {
    return;
  }
  auto hasOwnMemory = [](const partition::Device &device) { return device.machine.hasOwnMemory; };
  if (plansMemory(state.options) && state.options.levels.empty() && llvm::none_of(state.devices, hasOwnMemory)) {
    before.take(state);
  } else if (state.options.patches > 1) { // the estimate has to do
    state.patches.number = state.options.patches;
  }
}

/// Returns the RAM of a planned model but for writable data of its object, which is not made yet; -1: it is not a
/// number.
static int64_t ramOf(State &state) {
  auto slots = state.model().function().getOps<plan::SlotOp>();
  if (state.variants.size() > 1 || llvm::any_of(slots, [](plan::SlotOp slot) { return !slot.getAt(); })) {
    return -1;
  }
  plan::ModelInfo info = state.model().info;
  info.workspaceBytes = workspaceFor(info);
  emit::BuildSizes sizes;
  emit::addUp(info, /*hasMachineCode=*/false, sizes);
  return sizes.ram;
}

FailureOr<bool> PatchSearch::goesOn(State &state) {
  if (!before.isTaken()) {
    return false;
  }
  if (isFinal) {
    report(state);
    return false;
  }
  int64_t ram = ramOf(state), asked = state.options.patches;
  if (ram < 0) { // nothing can be compared
    return asked > 1 && finish(state, {{asked, 0}});
  }
  Tried tried = {state.patches, ram, llvm::all_of(state.model().info.memories, [](const plan::MemoryInfo &memory) {
                   return memory.workspaceBytes <= memory.mostBytes;
                 })};
  if (without.ram < 0) {
    tried.patches = {};
    without = least = tried;
    return asked == 0 && keepsToBudget(tried, state) ? finish(state, without) : tryWith(state, {asked ? asked : 2, 0});
  }
  if (state.patches.areMade && tried.isBetterThan(ofNumber)) {
    ofNumber = tried;
  }
  if (state.patches.areMade && state.patches.choice + 1 < choicesOfEach) {
    return tryWith(state, {state.patches.number, state.patches.choice + 1});
  }
  if (asked == 0) {
    return nextNumber(state);
  }
  if (ofNumber.ram < 0 || ofNumber.ram >= without.ram) {
    return emitError(state.model().function().getLoc(), "--patches ")
           << asked << " takes no less memory: " << without.ram << " bytes of RAM without, and " << ofNumber.ram
           << " with patches";
  }
  return finish(state, ofNumber);
}

/// Goes on with more patches, where the number that was tried last does not keep to the budget.
bool PatchSearch::nextNumber(State &state) {
  bool isBetter = ofNumber.ram >= 0 && ofNumber.isBetterThan(least);
  least = isBetter ? ofNumber : least;
  if (isBetter && keepsToBudget(least, state)) {
    return finish(state, least);
  }
  // Patches get smaller only where a row less is left for each of them.
  int64_t last = std::min(2 * least.patches.number + 2, mostPatches);
  int64_t number = state.patches.number, next = number < mostInTurn ? number + 1 : number + number / 4;
  ofNumber = {};
  return next > last ? finish(state, without) : tryWith(state, {next, 0});
}

bool PatchSearch::tryWith(State &state, Patches patches) {
  before.restore(state);
  state.patches = patches;
  return true;
}

/// Takes what was tried, and returns whether it has to be planned again.
bool PatchSearch::finish(State &state, const Tried &tried) {
  isFinal = true;
  bool isPlanned = tried.patches.number == state.patches.number && tried.patches.choice == state.patches.choice;
  if (isPlanned) {
    report(state);
  }
  return !isPlanned && tryWith(state, tried.patches);
}

/// Reports what a search for a budget has led to.
void PatchSearch::report(State &state) const {
  if (!isFinal || state.options.patches != 0) {
    return;
  }
  if (state.patches.areMade) {
    emitRemark(state.model().function().getLoc())
        << "the first layers run in " << state.patches.number << " patches of rows, with which a run takes "
        << least.ram << " bytes of RAM: without, it takes " << without.ram << ", and "
        << (without.fits ? "--budget ram=" + std::to_string(*state.options.mostRam) + " allows less"
                         : "--memories have no room for its parts")
        << "; --patches 1 refuses the model instead";
  } else {
    state.result.leastRam = least.ram;
    state.result.leastPatches = least.patches.number;
  }
}

} // namespace ingot::pipeline
