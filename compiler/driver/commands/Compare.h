// Compares computed with recorded values.
#pragma once
#include "compiler/importer/TensorFile.h"

namespace ingot::driver {

struct TensorComparison {
  bool equal = false;
  std::string why;        ///< when not equal: a sentence
  double maxError = 0;    ///< largest |a - b| of finite floats; of integers, how many differ
  double maxExpected = 0; ///< largest |b|
};

/// Compares tensors. Shape and type must be equal; integers and booleans exactly; floats where |a - b| <= tolerance *
/// max(1, max|b|) + 10 * tolerance * |b|, NaN and infinities in the same places. 16-bit floats get a tolerance of at
/// least 1e-2.
TensorComparison compareTensors(const importer::HostTensor &got, const importer::HostTensor &expected,
                                double tolerance);

} // namespace ingot::driver
