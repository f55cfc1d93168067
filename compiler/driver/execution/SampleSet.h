// Finds what a model is run on to be quantized: folders of recorded inputs, or of pictures, sounds and arrays.
#pragma once
#include "compiler/driver/execution/DataSet.h"
#include "compiler/driver/execution/Preprocessing.h"

namespace ingot::driver {

class SampleSet {
public:
  /// Opens folders. It is an error if one holds nothing, or what does not fit the model's inputs.
  static llvm::Expected<SampleSet> open(const std::vector<std::string> &folders, ModelFacts facts, ValueKinds kinds,
                                        Preprocessing preprocessing);

  size_t size() const { return samples.size(); }
  const ModelFacts &model() const { return facts; }
  const std::string &name(size_t number) const { return samples[number].path; }
  /// Reads a sample when it is wanted, since there may be more than memory holds. It is converted to the types of the
  /// model's inputs, and gets a batch of one where the model has that axis more. It is an error if a value is no
  /// number, or there are none. `changes` gets what was changed, as "input 'x' is float32 and the data are float64:
  /// converted".
  llvm::Expected<DataSet> read(size_t number, std::vector<std::string> *changes = nullptr) const;

private:
  struct Sample {
    std::string path; ///< a folder with input_K.pb, or a file
    bool isRecorded;
  };
  ModelFacts facts;
  ValueKinds kinds;
  Preprocessing preprocessing;
  std::vector<Sample> samples;
};

} // namespace ingot::driver
