// Chooses the patches in which the first layers of a model run (graph/RowPatches.h): of a number that the user gives
// (--patches 4), or as few as a model needs that takes more RAM than its budget (--budget ram=64K), or for whose parts
// of the workspace some memory has no room (--memories).
//
// The memory that a plan takes is known when kernels have their scratch memory and buffers have their places. So the
// phases from the simplification on run once for each plan: without patches, and then for each number of patches and
// the best few values to cut by RowPatches' estimate, which knows no scratch memory. A search for a budget takes the
// first number that keeps to it: of 2 to 8 patches each number is tried, and of more, such as 10, 12 and 15, each is a
// quarter larger than the one before it, since a plan takes about as long as half of a compilation. The search ends
// where twice as many patches have not led to less memory. The model runs without patches then, and the budget is
// refused; the result says what was the least.
#pragma once
#include "compiler/pipeline/Snapshot.h"

namespace ingot::pipeline {

/// Runs the first layers of a variant in the state's patches. Failure, with a message, where the user's patches take no
/// less memory by the estimate.
mlir::LogicalResult runInPatches(State &state, Variant &variant, Result &report);

class PatchSearch {
public:
  /// Keeps what the phases from the simplification on change, where patches are to be chosen.
  void save(State &state);
  /// Returns, behind the memory phase, whether the phases from the simplification on are to run once more: then the
  /// state is the one that was saved, with other patches. Failure, with a message, where the user's patches take no
  /// less memory.
  mlir::FailureOr<bool> goesOn(State &state);

private:
  struct Tried {
    Patches patches;
    int64_t ram = -1; ///< bytes; -1: nothing was tried
    bool fits = true; ///< whether all memories have room for their parts of the workspace
    bool isBetterThan(const Tried &other) const {
      return other.ram < 0 || std::pair(!fits, ram) < std::pair(!other.fits, other.ram);
    }
  };
  Snapshot before;
  Tried without, ofNumber, least; ///< least of the number of patches that is tried, and of all
  bool isFinal = false;

  static bool keepsToBudget(const Tried &tried, const State &state) {
    return tried.fits && tried.ram <= state.options.mostRam.value_or(tried.ram);
  }
  bool tryWith(State &state, Patches patches);
  bool finish(State &state, const Tried &tried);
  bool nextNumber(State &state);
  void report(State &state) const;
};

} // namespace ingot::pipeline
