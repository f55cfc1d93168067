// The manifest of a compiled model, NAME.json, as far as the driver needs it. The rest stands in the library itself.
#pragma once
#include "compiler/support/Size.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace ingot::driver {

/// Which of a model's inputs and outputs are sequences, which files of data do not say. Those behind the last are none.
struct SequenceKinds {
  std::vector<bool> inputs, outputs;
};

struct Manifest {
  std::string name, target, triple;
  bool hasLevels = false; ///< a run takes one of the machines in `target`, and not all of them
  int64_t abi = 0, weightBytes = 0, codeBytes = 0;
  int64_t arenaBytes = 0; ///< -1: depends on the model's open sizes
  support::Size macs = 0; ///< of these sizes
  struct Launch {
    std::string kernel;
    std::vector<std::string> nodes;    ///< "name (Operator)"
    support::Size macs = 0, bytes = 0; ///< multiplications with accumulation; of operands and results
  };
  std::vector<Launch> launches;
  /// As in plan::ModelInfo: for each input and output of the ONNX model, the tensors of the sequence that it is, or -1.
  std::vector<int64_t> inputSequences, outputSequences;
  SequenceKinds kinds() const;
  std::vector<std::string> devices; ///< with a memory of their own, as after --target
};

/// Reads FILE. A figure that is absent is 0; a name that is absent, or no C identifier, is an error.
llvm::Expected<Manifest> readManifest(const std::string &path);

/// The same from text; `path` is for messages.
llvm::Expected<Manifest> parseManifest(llvm::StringRef text, const std::string &path);

} // namespace ingot::driver
