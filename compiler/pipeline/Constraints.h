// What runs are checked for, for people: in terms of the sizes that they choose.
#pragma once
#include "compiler/onnx/sizes/Shapes.h"
#include "compiler/plan/Model.h"
#include "compiler/support/SizeRange.h"
#include <map>

namespace ingot::pipeline {

/// What a size of the caller's can be, and the nodes that say so; an empty name: --dim.
struct Bound {
  int64_t least = 0, most = -1; ///< -1: any
  std::optional<std::string> leastNode, mostNode;

  /// One of them.
  std::string node() const { return mostNode.value_or(leastNode.value_or("")); }
  /// "--dim", "node 'n'", or both.
  std::string by() const;
};
using SymbolBounds = std::map<std::string, Bound>;

/// Solves checks for the symbols of `bounds`, which become narrower; gives what could not be solved and is not implied,
/// simplified for sizes within the bounds.
std::vector<plan::RequirementInfo> solveChecks(llvm::ArrayRef<onnx::SizeCheck> checks, SymbolBounds &bounds);

/// "input_1: 449 to 576", "seq <= 512"
std::string boundText(const std::string &symbol, const Bound &bound);

} // namespace ingot::pipeline
