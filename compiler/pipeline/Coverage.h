// How the compiler takes an operator: asked of the tables that it uses itself.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace ingot::pipeline {

struct Coverage {
  /// "kernel Conv" (a family of that name), "elementwise" or "movement" (parts of any kernel), "rewrite" (into other
  /// operators), "resolved" (what it means is settled when its node is resolved), "refused".
  std::string how;
  std::string why;   ///< refused
  int64_t since = 0; ///< the version of the definition that its code was written for; 0: not known, or of all
  /// What each input may be made of: "floats" (of 16 to 64 bits), "integers" (of 8 to 64), "booleans", "strings",
  /// "8-bit floats", "few bits" (all types below a byte), names of single types, or "any". The same on all targets,
  /// whose kernels compute narrow floats in float32. Empty for what is written as other operators, which say it.
  std::vector<std::string> types = {};
};

/// Of an operator as that version of its domain ("" is the standard's) defines it. Whether a particular node is taken
/// depends on its operands, too; that is for compiling it.
Coverage coverageOf(const std::string &domain, const std::string &op, int64_t opset);

} // namespace ingot::pipeline
