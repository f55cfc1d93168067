// Has the facts of a build that a manifest takes beside those of the model.
//
// What a model takes of a machine is counted before anything is linked:
//   flash: the object's code, constants and initial values, and the weights, wherever they are stored
//   ram: the workspace, the inputs and outputs that the caller holds, and what the object has to write
//   stack: what a call of NAME_run takes, with all that it calls (StackBound.cpp)
// Flash and RAM have neither the support library nor the stack.
#pragma once
#include "compiler/support/JsonFields.h"
#include <cstdint>
#include <string>
#include <vector>

namespace ingot::plan {
struct ModelInfo;
struct TensorInfo;
} // namespace ingot::plan

namespace ingot::emit {

/// The version of manifests. It counts up when a field that readers know is renamed, goes, or changes its meaning; new
/// fields do not count.
inline constexpr int64_t manifestVersion = 1;

/// The code of one function.
struct FunctionSize {
  std::string name;
  int64_t bytes = 0;
};

template <typename V> void visitFields(V &v, typename V::template Ref<FunctionSize> function) {
  v("name", function.name);
  v("bytes", function.bytes);
}

/// How much of the stack a call takes at most.
struct StackBound {
  int64_t bytes = -1;                                           ///< -1: it is not known
  std::string why = "it is computed for microcontrollers only"; ///< why it is not
  std::vector<FunctionSize> path = {}; ///< the calls by which that much is taken: frames, from the first function on
};

/// The cycles of one function, in all its calls.
struct FunctionCycles {
  std::string name;
  int64_t cycles = 0;
};

template <typename V> void visitFields(V &v, typename V::template Ref<FunctionCycles> function) {
  v("name", function.name);
  v("cycles", function.cycles);
}

/// The cycles that a run is expected to take (CycleEstimate.h).
struct CycleEstimate {
  int64_t cycles = -1;                                              ///< -1: it is not known
  std::string why = "they are estimated for microcontrollers only"; ///< why it is not
  int64_t flashWaitStates = 0;                                      ///< that it counts
  std::vector<FunctionCycles> functions = {};                       ///< those with most first
};

/// What a model takes, in bytes; -1: it is not known.
struct BuildSizes {
  int64_t code = 0;                         ///< sections with code
  int64_t constants = 0;                    ///< sections that are only read, without the weights
  int64_t data = 0;                         ///< sections that are written and have initial values
  int64_t zeroed = 0;                       ///< sections that are written and begin as zeros
  int64_t flash = -1, ram = -1;             ///< the sums, with the parts that are not in the object
  std::vector<FunctionSize> functions = {}; ///< largest first, with their names in C
  StackBound stack = {};
  CycleEstimate cycles = {};
};

/// Returns the bytes of an input or output that a caller holds in the host's memory, at most; -1: nothing bounds them.
int64_t callerBytes(const plan::TensorInfo &tensor, const plan::ModelInfo &model);

/// Computes flash and ram of the other sizes and of what is not in the object. Without machine code flash stays
/// unknown.
void addUp(const plan::ModelInfo &model, bool hasMachineCode, BuildSizes &sizes);

/// The facts of a build that a manifest has besides those of the model.
struct BuildInfo {
  int64_t version = manifestVersion;
  int64_t abi = 0, codeBytes = 0;
  std::vector<std::string> files = {}; ///< the other artifacts, without folders
  BuildSizes sizes = {};
  /// The version of the arithmetic that gives the same bits on every machine (target/Reproducible.h); 0: machines may
  /// differ.
  int64_t arithmeticVersion = 0;
  int64_t patches = 0; ///< parts of rows in which the first layers run; 0: they run as a whole
};

} // namespace ingot::emit
