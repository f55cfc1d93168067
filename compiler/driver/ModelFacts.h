// Reads what a model file says about itself, without compiling it: enough to inspect it, and to fix its symbolic
// dimensions from data.
#pragma once
#include "llvm/Support/Error.h"
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ingot::driver {

constexpr int kMostNesting = 64; ///< how deep subgraphs are looked into

struct ValueFacts {
  struct Dim {
    int64_t size = -1;  ///< -1: it is not known
    std::string symbol; ///< the symbol of an unknown one, often empty
  };
  std::string name;
  int32_t type = 0;                      ///< the number that ONNX has for it; 0: it is no tensor
  bool isOptional = false;               ///< an optional tensor
  bool isSequence = false;               ///< a sequence of tensors of this type
  bool isMap = false, areMaps = false;   ///< a map, or a sequence of maps
  std::optional<std::vector<Dim>> shape; ///< nothing: not even the rank is known

  std::string text() const; ///< "float32[batch,3,?]"
};

/// An initializer, or what a Constant node holds.
struct ConstantFacts {
  ValueFacts value;
  int64_t bytes = 0;                ///< of the elements that the file has; 0 for strings
  std::vector<std::string> readers; ///< "conv1 (Conv)", or "output y" where the model gives it to its caller
};

struct ModelFacts {
  std::string producer;
  int64_t irVersion = 0;
  std::map<std::string, int64_t> opsets; ///< versions by domain, of those that a node uses
  std::vector<ValueFacts> inputs;        ///< inputs that are no initializers, which a caller passes
  std::vector<ValueFacts> outputs;
  /// How many nodes there are by operator, those of subgraphs and of the model's own functions included.
  std::map<std::string, int64_t> ops;
  std::set<std::string> functions; ///< the model's own functions, by names like those of `ops`
  /// For each value of the graph itself the node that makes it, "'conv1' (Conv)".
  std::map<std::string, std::string> makers;
  /// Inputs that neither a node nor an output of the graph reads, and initializers likewise with their bytes.
  std::vector<std::string> unreadInputs;
  std::vector<std::pair<std::string, int64_t>> unreadParameters;
  std::vector<ConstantFacts> constants; ///< those of the most bytes first, subgraphs and functions included
  int64_t nodes = 0, parameterTensors = 0, parameters = 0, parameterBytes = 0;
};

/// Returns a name of the file that is safe to print, without quotation marks.
std::string plainName(const std::string &name);

/// Reads the facts of a file. The error has the importer's messages, a line each.
llvm::Expected<ModelFacts> readModelFacts(const std::string &path);

} // namespace ingot::driver
