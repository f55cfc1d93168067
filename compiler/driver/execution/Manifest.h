// Reads the manifest of a compiled model, NAME.json.
#pragma once
#include "compiler/emit/BuildInfo.h"
#include "compiler/plan/Model.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace ingot::driver {

/// Whether C can have the name, which a model's functions begin with.
bool isIdentifier(llvm::StringRef name);

/// What a file of data holds, which it does not say itself.
enum class ValueKind { Tensor, Sequence, Map, Maps };

/// The kinds of a model's inputs and outputs. Those behind the last are tensors.
struct ValueKinds {
  std::vector<ValueKind> inputs, outputs;
};

struct Manifest : plan::ModelInfo, emit::BuildInfo {
  ValueKinds kinds() const;
};

/// Reads FILE. A figure that is absent is 0; a name that is absent, or no C identifier, is an error.
llvm::Expected<Manifest> readManifest(const std::string &path);

/// Reads a manifest from text; `path` is for messages.
llvm::Expected<Manifest> parseManifest(llvm::StringRef text, const std::string &path);

} // namespace ingot::driver
