#include "compiler/driver/execution/SampleSet.h"
#include "compiler/driver/execution/SampleFiles.h"
#include "compiler/driver/execution/Similarity.h"
#include "compiler/importer/ElementType.h"
#include "compiler/support/ElementTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cmath>

namespace ingot::driver {

llvm::Expected<SampleSet> SampleSet::open(const std::vector<std::string> &folders, ModelFacts facts, ValueKinds kinds,
                                          Preprocessing preprocessing) {
  SampleSet set;
  set.facts = std::move(facts), set.kinds = std::move(kinds), set.preprocessing = std::move(preprocessing);
  for (const std::string &folder : folders) {
    if (!llvm::sys::fs::is_directory(folder)) {
      return llvm::createStringError(folder + ": error: is not a folder");
    }
    llvm::SmallString<128> first(folder);
    llvm::sys::path::append(first, "input_0.pb");
    if (llvm::sys::fs::exists(first)) {
      set.samples.push_back({folder, true});
      continue;
    }
    std::vector<std::string> files;
    std::error_code error;
    for (llvm::sys::fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
      if (isSampleFile(entry->path())) {
        files.push_back(entry->path());
      }
    }
    if (error) {
      return llvm::createStringError(folder + ": error: cannot be read: " + error.message());
    }
    if (files.empty()) {
      return llvm::createStringError(folder +
                                     ": error: has neither input_0.pb nor a .npy, .npz, .png, .jpg, .bmp, .ppm, "
                                     ".pgm or .wav file");
    }
    llvm::sort(files);
    for (std::string &file : files) {
      set.samples.push_back({std::move(file), false});
    }
  }
  const Preprocessing &how = set.preprocessing;
  bool isGiven = !how.mean.empty() || !how.deviation.empty() || how.scale != 1;
  if (isGiven && llvm::none_of(set.samples, [](const Sample &sample) { return isPreprocessed(sample.path); })) {
    return llvm::createStringError(
        "--scale, --mean and --deviation are for pictures and sounds, and the data has none");
  }
  return set;
}

/// Returns an error about a tensor of a sample. Where there are sequences, its number is not that of the input.
static llvm::Error problem(const ModelFacts &facts, const DataSet &data, size_t number, const llvm::Twine &text) {
  bool isPlain = llvm::all_of(data.sequences, [](int64_t items) { return items == Recorded::kTensor; });
  return llvm::createStringError((isPlain ? data.fileOf(number) : data.folder) + ": error: input '" +
                                 plainName(isPlain ? facts.inputs[number].name : data.inputs[number].name) + "' " +
                                 text);
}

/// Checks that a sample says something of a model: its values are numbers, and there are some.
static llvm::Error checkValues(const ModelFacts &facts, const DataSet &data) {
  auto isEmpty = [](const HostTensor &tensor) { return tensor.bytes.empty() && tensor.strings.empty(); };
  if (!data.inputs.empty() && llvm::all_of(data.inputs, isEmpty)) {
    return problem(facts, data, 0, "has no values: its shape is " + importer::dimsText(data.inputs[0].dims));
  }
  for (auto [number, tensor] : llvm::enumerate(data.inputs)) {
    bool isFloat = support::elementType(tensor.type).isFloat();
    if (isFloat && llvm::any_of(floatsOf(tensor), [](float value) { return std::isnan(value); })) {
      return problem(facts, data, number, "has values that are no numbers");
    }
  }
  return llvm::Error::success();
}

llvm::Expected<DataSet> SampleSet::read(size_t number) const {
  const Sample &sample = samples[number];
  DataSet data;
  if (sample.isRecorded) {
    llvm::Expected<DataSet> recorded = readDataSet(sample.path, kinds);
    if (!recorded) {
      return recorded.takeError();
    }
    data = std::move(*recorded);
  } else {
    llvm::Expected<std::vector<HostTensor>> inputs = readSampleFile(sample.path, facts.inputs, preprocessing);
    if (!inputs) {
      return inputs.takeError();
    }
    data = {sample.path, std::move(*inputs), {}, /*isFile=*/true};
    data.sequences.assign(data.inputs.size(), Recorded::kTensor);
  }
  if (data.sequences.size() != facts.inputs.size()) {
    return data; // the compilation for it says so
  }
  if (llvm::Error error = checkValues(facts, data)) {
    return error;
  }
  return data;
}

} // namespace ingot::driver
