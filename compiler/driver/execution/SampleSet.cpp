#include "compiler/driver/execution/SampleSet.h"
#include "compiler/driver/execution/Conversion.h"
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
    if (llvm::sys::fs::is_regular_file(folder) && isSampleFile(folder)) {
      set.samples.push_back({folder, false});
      continue;
    }
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

/// Returns whether a tensor lacks only the first axis of an input, which can be 1.
static bool lacksBatch(const ValueFacts &input, llvm::ArrayRef<int64_t> dims) {
  if (!input.shape || input.shape->size() != dims.size() + 1 || input.shape->front().size > 1) {
    return false;
  }
  return llvm::all_of(llvm::zip(llvm::drop_begin(*input.shape), dims), [](const auto &pair) {
    return std::get<0>(pair).size < 0 || std::get<0>(pair).size == std::get<1>(pair);
  });
}

/// Makes tensors what the model's inputs are, where they say the same in another form.
static llvm::Error adapt(const ModelFacts &facts, DataSet &data, bool isRecorded, std::vector<std::string> *changes) {
  if (llvm::any_of(data.sequences, [](int64_t items) { return items != Recorded::kTensor; })) {
    return llvm::Error::success();
  }
  for (auto [number, input, tensor] : llvm::enumerate(facts.inputs, data.inputs)) {
    if (input.type != 0 && tensor.type != input.type && !tensor.isAbsent) {
      std::string from = support::elementType(tensor.type).name.str();
      llvm::Expected<HostTensor> converted = convertedTo(input.type, tensor);
      if (!converted) {
        return problem(facts, data, number,
                       "is " + input.text() + ", and the data " + llvm::toString(converted.takeError()));
      }
      tensor = std::move(*converted);
      if (changes) {
        changes->push_back("input '" + plainName(input.name) + "' is " + input.text() + ", and the data are " + from +
                           ": they are converted");
      }
    }
    if (!isRecorded && lacksBatch(input, tensor.dims)) {
      if (changes) {
        changes->push_back("input '" + plainName(input.name) + "' is " + input.text() + ", and the data are " +
                           importer::dimsText(tensor.dims) + ": each is a batch of one");
      }
      tensor.dims.insert(tensor.dims.begin(), 1);
    }
  }
  return llvm::Error::success();
}

llvm::Expected<DataSet> SampleSet::read(size_t number, std::vector<std::string> *changes) const {
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
  if (llvm::Error error = adapt(facts, data, sample.isRecorded, changes)) {
    return error;
  }
  if (llvm::Error error = checkValues(facts, data)) {
    return error;
  }
  return data;
}

} // namespace ingot::driver
