// Says how the values of a picture or a sound become those of an input.
#pragma once
#include <vector>

namespace ingot::driver {

/// An input's value is (value * scale - mean) / deviation, where values are from 0 to 255 in a picture and from -1 to 1
/// in a sound.
struct Preprocessing {
  std::vector<float> mean, deviation; ///< one for each channel, or one for all; empty: 0 and 1
  float scale = 1;
};

} // namespace ingot::driver
