// Files that hold a tensor: arrays of numpy, pictures, sounds.
#pragma once
#include "compiler/driver/execution/SampleSet.h"

namespace ingot::driver {

/// Whether the name ends as one of a file that is read here.
bool isSampleFile(llvm::StringRef path);
/// Whether it is a picture or a sound, whose values preprocessing changes.
bool isPreprocessed(llvm::StringRef path);

/// The inputs of a model from one file: of .npz each by its name, of others the only one. Pictures are brought to the
/// size of the input; channels last or first is told by its shape.
llvm::Expected<std::vector<HostTensor>> readSampleFile(const std::string &path, const std::vector<ValueFacts> &inputs,
                                                       const Preprocessing &preprocessing);

} // namespace ingot::driver
