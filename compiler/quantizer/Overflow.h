// float16 ends at 65504 and knows nothing between 0 and 6e-8: which nodes of a model have to stay in float32.
#pragma once
#include "compiler/quantizer/Model.h"

namespace ingot::quantizer {

/// What a value was on the data.
struct Reach {
  double largest = 0;  ///< the largest finite magnitude in the model as it was
  bool isLost = false; ///< finite there, but infinite or no number in float16
};

struct KeptNode {
  std::string name, op, why;
};

/// The nodes because of which values are lost: those that make or read what is too large, and where a value of another
/// size is lost (by a division by what has become 0), the one that makes it and those in front of that one. Values that
/// are lost only because an operand is are not looked at: they may be right once that one is.
std::vector<KeptNode> nodesBeyondFloat16(Model &model, const std::map<std::string, Reach> &reaches);

} // namespace ingot::quantizer
