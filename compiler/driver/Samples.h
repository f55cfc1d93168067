// What a model is run on to be quantized: folders of recorded inputs, or of pictures, sounds and arrays.
#pragma once
#include "compiler/driver/DataSet.h"
#include "compiler/driver/Preprocessing.h"

namespace ingot::driver {

class SampleSet {
public:
  /// An error if a folder holds nothing, or what does not fit the model's inputs.
  static llvm::Expected<SampleSet> open(const std::vector<std::string> &folders, ModelFacts facts, SequenceKinds kinds,
                                        Preprocessing preprocessing);

  size_t size() const { return samples.size(); }
  const std::string &name(size_t number) const { return samples[number].path; }
  /// Read when it is asked for: there may be more than memory holds. An error if a value is no number.
  llvm::Expected<DataSet> read(size_t number) const;

private:
  struct Sample {
    std::string path; ///< a folder with input_K.pb, or a file
    bool isRecorded;
  };
  ModelFacts facts;
  SequenceKinds kinds;
  Preprocessing preprocessing;
  std::vector<Sample> samples;
};

} // namespace ingot::driver
