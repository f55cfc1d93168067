// Reads and writes recorded values in ONNX's own layout: a folder with input_0.pb, input_1.pb, ... and output_0.pb, ...
#pragma once
#include "compiler/driver/ModelFacts.h"
#include "compiler/driver/execution/Manifest.h"
#include "compiler/importer/TensorFile.h"
#include "compiler/pipeline/Pipeline.h"
#include "compiler/support/OutputFiles.h"

namespace ingot::driver {

using importer::HostTensor;

/// The values that the files of a folder hold, one behind the other.
struct Recorded {
  static constexpr int64_t kTensor = -1, kAbsent = -2, kMap = -3;
  std::vector<HostTensor> tensors;
  /// For each file, the number of tensors of the sequence that it holds; or that it is a tensor, or the values of maps,
  /// or an optional sequence that is not there, or a map, of which there are the keys and the values.
  std::vector<int64_t> sequences;
  std::vector<bool> optionals = {}; ///< sequences that are, or would be, in an OptionalProto; those behind are not
};

/// Returns what a run gave as files hold it: packed sequences are taken apart. `forms` is the manifest's
/// outputSequences.
llvm::Expected<Recorded> recordedOf(std::vector<HostTensor> outputs, const std::vector<int64_t> &codes);

struct DataSet {
  std::string folder;
  std::vector<HostTensor> inputs;
  std::vector<int64_t> sequences; ///< those of Recorded for the inputs
  bool isFile = false;            ///< whether `folder` is one file that holds them all, in place of files with one each
  /// Returns the file that holds the input of this number.
  std::string fileOf(size_t input) const;
};

/// Reads FOLDER/KIND_0.pb, KIND_1.pb, ... up to the first number without a file.
llvm::Expected<Recorded> readTensors(const std::string &folder, const std::string &kind,
                                     const std::vector<ValueKind> &kinds = {});

/// Returns the kinds of the inputs and outputs that a file describes.
ValueKinds kindsOf(const ModelFacts &facts);

/// Reads a folder. It is an error if it has no input and the model wants some.
llvm::Expected<DataSet> readDataSet(const std::string &folder, const ValueKinds &kinds = {});

/// Returns the folders test_data_set_* beside the model, which is ONNX's own layout.
std::vector<std::string> dataBeside(const std::string &modelPath);

/// Fixes the shapes to compile with for this data: those of the inputs whose number of axes is not known and that the
/// user has not fixed, and how many tensors sequences have. An error if data and model cannot fit.
llvm::Error fixShapes(const ModelFacts &facts, const DataSet &data, pipeline::Options &options);

/// Writes output_0.pb, ... into folders, which are made where they do not exist. Files are there from keep() on;
/// without it, those that were there before stay as they are, and folders that were made are removed again.
class OutputWriter {
public:
  ~OutputWriter();
  llvm::Error write(const std::string &folder, const Recorded &outputs);
  llvm::Error keep();

private:
  std::vector<std::string> made; ///< folders that were made, in their order
  std::optional<support::OutputFiles> files{std::in_place};
};

} // namespace ingot::driver
