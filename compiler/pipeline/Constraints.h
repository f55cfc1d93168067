// Solves what runs are checked for, and says it for people in terms of the sizes that they choose.
#pragma once
#include "compiler/onnx/sizes/Shapes.h"
#include "compiler/plan/Model.h"
#include "compiler/support/SizeRange.h"
#include <map>

namespace ingot::pipeline {

/// The bounds of a size of the caller's, and the nodes that set them; an empty name: --dim.
struct Bound {
  int64_t least = 0, most = -1; ///< -1: any
  std::optional<std::string> leastNode, mostNode;

  /// Returns one of the nodes.
  std::string node() const { return mostNode.value_or(leastNode.value_or("")); }
  /// Returns who sets the bounds: "--dim", "node 'n'", or both.
  std::string by() const;
};
using SymbolBounds = std::map<std::string, Bound>;

/// Solves checks for the symbols of `bounds`, which become narrower. Returns the checks that could not be solved and
/// are not implied, simplified for sizes within the bounds.
std::vector<plan::RequirementInfo> solveChecks(llvm::ArrayRef<onnx::SizeCheck> checks, SymbolBounds &bounds);

/// Returns a bound as a text: "input_1: 449 to 576", "seq <= 512".
std::string boundText(const std::string &symbol, const Bound &bound);

} // namespace ingot::pipeline
