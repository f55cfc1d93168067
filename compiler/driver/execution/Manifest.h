// The manifest of a compiled model, NAME.json, as far as the driver needs it. The rest stands in the library itself.
#pragma once
#include "compiler/support/Size.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace ingot::driver {

/// Whether C can have the name, which a model's functions begin with.
bool isIdentifier(llvm::StringRef name);

/// What a file of data holds, which it does not say itself.
enum class ValueKind { Tensor, Sequence, Map, Maps };

/// What a model's inputs and outputs are. Those behind the last are tensors.
struct ValueKinds {
  std::vector<ValueKind> inputs, outputs;
};

struct Manifest {
  std::string name, target, triple;
  bool hasLevels = false; ///< a run takes one of the machines in `target`, and not all of them
  int64_t abi = 0, weightBytes = 0, codeBytes = 0;
  int64_t arenaBytes = 0; ///< -1: depends on the model's open sizes
  support::Size macs = 0; ///< of these sizes
  struct Launch {
    std::string kernel;
    std::vector<std::string> nodes;             ///< "name (Operator)"
    support::Size macs = 0, bytes = 0;          ///< multiplications with accumulation; of operands and results
    support::Size ownMacs = 0, weightBytes = 0; ///< of float32, as long as the kernel's; of operands that are weights
    std::string choice = {};                    ///< its algorithm, and what else there was; empty: nothing
  };
  std::vector<Launch> launches;
  /// How each input and output of the ONNX model stands among the tensors, as in plan::ModelInfo.
  std::vector<int64_t> inputSequences, outputSequences;
  ValueKinds kinds() const;
  /// Of each output: the keys of the maps whose values it is, or none.
  struct Keys {
    std::vector<std::string> keys;
    bool areStrings = false;
  };
  std::vector<Keys> outputKeys;
  std::vector<std::string> devices; ///< with a memory of their own, as after --target
};

/// Reads FILE. A figure that is absent is 0; a name that is absent, or no C identifier, is an error.
llvm::Expected<Manifest> readManifest(const std::string &path);

/// The same from text; `path` is for messages.
llvm::Expected<Manifest> parseManifest(llvm::StringRef text, const std::string &path);

} // namespace ingot::driver
