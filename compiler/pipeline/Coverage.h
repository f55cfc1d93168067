// Tells how the compiler takes an operator, by the tables that it uses itself.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace ingot::pipeline {

struct Coverage {
  /// The way in which an operator is taken: "kernel Conv" (a family of that name), "elementwise" or "movement" (parts
  /// of any kernel), "rewrite" (into other operators), "resolved" (what it means is settled when its node is resolved),
  /// "refused".
  std::string how;
  std::string why;   ///< why it is refused
  int64_t since = 0; ///< the version of the definition that its code was written for; 0: not known, or all versions
  /// The types that each input may have: "floats" (of 16 to 64 bits), "integers" (of 8 to 64), "booleans", "strings",
  /// "8-bit floats", "few bits" (all types below a byte), names of single types, or "any". They are the same on all
  /// targets, whose kernels compute narrow floats in float32. Empty for operators that are written as others, which say
  /// it.
  std::vector<std::string> types = {};
};

/// Returns the coverage of an operator as that version of its domain ("" is the standard's) defines it. Whether a
/// particular node is taken depends on its operands, too, which compiling it tells.
Coverage coverageOf(const std::string &domain, const std::string &op, int64_t opset);

} // namespace ingot::pipeline
