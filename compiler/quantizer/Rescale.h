// Finds where a factor for each channel of a value can go without a node of its own: into constants of the nodes that
// make the value.
#pragma once
#include "compiler/quantizer/Model.h"
#include <optional>
#include <set>

namespace ingot::quantizer {

/// A constant operand along whose axis channels lie: when it is multiplied, so is the value.
struct ScaledOperand {
  int node, operand, axis;
};

/// A value all of whose readers are to get its channels multiplied.
struct Scaled {
  std::string value;
  int fromEnd;   ///< the place of the channels' axis, counted from the end: 1 is the last one
  bool isSecond; ///< whether it is the second axis, as that of images is
  int64_t channels;
  size_t readers;
  std::set<int> products; ///< the nodes whose weights may be multiplied: others are to stay as they are
};

/// The places in a model into which a factor is multiplied so that a value gets it.
struct ScalePlaces {
  std::vector<ScaledOperand> operands; ///< the constants to be multiplied
  std::vector<std::string> values;     ///< all values that get the factor by that
};

/// Returns where the factor of a value goes; nothing: there is no place, because another node reads the value, too, or
/// what makes it does more to it than a positive factor goes through (a GELU, a Clip).
std::optional<ScalePlaces> placesOf(const Index &index, const pb::GraphProto &graph, const Scaled &scaled);

/// Gives a node other values in place of a constant operand; where others read the constant, it gets a copy of its own.
void replaceOperand(Model &model, Names &names, const Index &index, int number, int operand,
                    llvm::ArrayRef<float> values);
/// Multiplies a constant operand along an axis, for its node alone.
void multiply(Model &model, Names &names, const Index &index, ScaledOperand place, llvm::ArrayRef<float> by);

} // namespace ingot::quantizer
