// Recorded values in ONNX's own layout: a folder with input_0.pb, input_1.pb, ... and output_0.pb, ...
#pragma once
#include "compiler/driver/Manifest.h"
#include "compiler/driver/ModelFacts.h"
#include "compiler/importer/TensorFile.h"
#include "compiler/pipeline/Pipeline.h"

namespace ingot::driver {

using importer::HostTensor;

/// What the files of a folder hold, one behind the other.
struct Recorded {
  std::vector<HostTensor> tensors;
  std::vector<int64_t> sequences; ///< of each file: the tensors of the sequence that it holds; -1: it is a tensor, or
                                  ///< the values of maps; -2: the keys and the values of a map
};

struct DataSet {
  std::string folder;
  std::vector<HostTensor> inputs;
  std::vector<int64_t> sequences; ///< as above
};

/// FOLDER/KIND_0.pb, KIND_1.pb, ... up to the first number without a file.
llvm::Expected<Recorded> readTensors(const std::string &folder, const std::string &kind,
                                     const std::vector<ValueKind> &kinds = {});

/// An error if the folder has no input and the model wants some.
llvm::Expected<DataSet> readDataSet(const std::string &folder, const ValueKinds &kinds = {});

/// The shapes to compile with for this data: those of the inputs whose number of axes is not known and that the user
/// has not fixed, and how many tensors sequences have. An error if data and model cannot fit.
llvm::Error fixShapes(const ModelFacts &facts, const DataSet &data, pipeline::Options &options);

/// Writes output_0.pb, ... into folders, which are made where they do not exist. When it is destroyed before keep(),
/// everything that was written or made is removed again.
class OutputWriter {
public:
  ~OutputWriter();
  /// `sequences`: how many of the outputs go into each file, as in Recorded; empty: one.
  llvm::Error write(const std::string &folder, const std::vector<HostTensor> &outputs,
                    const std::vector<int64_t> &sequences = {});
  void keep() { written.clear(); }

private:
  std::vector<std::string> written; ///< files and folders, in the order of their making
};

} // namespace ingot::driver
