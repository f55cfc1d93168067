// What a model file says about itself, without compiling it: enough to inspect it, and to fix its symbolic dimensions
// from data.
#pragma once
#include "llvm/Support/Error.h"
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ingot::driver {

struct ValueFacts {
  struct Dim {
    int64_t size = -1;  ///< -1: not known
    std::string symbol; ///< of an unknown one, often empty
  };
  std::string name;
  int32_t type = 0;                      ///< ONNX's number; 0: no tensor
  bool isOptional = false;               ///< an optional tensor
  bool isSequence = false;               ///< a sequence of tensors of this type
  std::optional<std::vector<Dim>> shape; ///< none: not even the rank is known

  std::string text() const; ///< "float32[batch,3,?]"
};

struct ModelFacts {
  std::string producer;
  int64_t irVersion = 0;
  std::map<std::string, int64_t> opsets; ///< by domain, of those that a node uses
  std::vector<ValueFacts> inputs;        ///< those that are no initializers: what a caller passes
  std::vector<ValueFacts> outputs;
  std::map<std::string, int64_t> ops; ///< count by name; nodes of subgraphs and of the model's own functions included
  std::set<std::string> functions;    ///< of the model's own, by names like those of `ops`
  std::map<std::string, std::string> makers; ///< value of the graph itself -> the node that makes it, "'conv1' (Conv)"
  int64_t nodes = 0, parameterTensors = 0, parameters = 0, parameterBytes = 0;
};

/// A name of the file, safe to print, without quotation marks.
std::string plainName(const std::string &name);

/// The error has the importer's messages, a line each.
llvm::Expected<ModelFacts> readModelFacts(const std::string &path);

} // namespace ingot::driver
