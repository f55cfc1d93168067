// How the values of a picture or a sound become those of an input.
#pragma once
#include <vector>

namespace ingot::driver {

/// (value * scale - mean) / deviation, of values from 0 to 255 of a picture and from -1 to 1 of a sound.
struct Preprocessing {
  std::vector<float> mean, deviation; ///< of each channel, or one for all; empty: 0 and 1
  float scale = 1;
};

} // namespace ingot::driver
