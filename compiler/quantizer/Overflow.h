// Finds the nodes of a model that have to stay in float32, since float16 ends at 65504 and has nothing between 0 and
// 6e-8.
#pragma once
#include "compiler/quantizer/Model.h"

namespace ingot::quantizer {

/// The range of a value in the runs on data.
struct Reach {
  double largest = 0;  ///< the largest finite magnitude in the model as it was
  bool isLost = false; ///< whether it is finite there, but infinite or no number in float16
};

struct KeptNode {
  std::string name, op, why;
};

/// Returns the nodes because of which values are lost: those that make or read a value that is too large. Where a
/// smaller value is lost (by a division by what has become 0), it is the node that makes it, and those in front of that
/// one. Values that are lost only because an operand is are not looked at, since they may be right once that one is.
std::vector<KeptNode> nodesBeyondFloat16(Model &model, const std::map<std::string, Reach> &reaches);

} // namespace ingot::quantizer
