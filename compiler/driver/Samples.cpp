#include "compiler/driver/Samples.h"
#include "compiler/driver/SampleFiles.h"
#include "compiler/importer/ElementType.h"
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
  return set;
}

/// The first of the model's inputs that has a value which is no number; empty: none.
static std::string inputWithNaN(const ModelFacts &facts, const DataSet &data) {
  for (auto [number, tensor] : llvm::enumerate(data.inputs)) {
    if (tensor.type != importer::kFloat) {
      continue;
    }
    const auto *values = reinterpret_cast<const float *>(tensor.bytes.data());
    if (llvm::any_of(llvm::ArrayRef(values, tensor.bytes.size() / sizeof(float)),
                     [](float value) { return std::isnan(value); })) {
      return number < facts.inputs.size() ? facts.inputs[number].name : tensor.name;
    }
  }
  return "";
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
    data = {sample.path, std::move(*inputs), {}};
    data.sequences.assign(data.inputs.size(), Recorded::kTensor);
  }
  if (std::string name = inputWithNaN(facts, data); !name.empty()) {
    return llvm::createStringError(sample.path + ": error: input '" + plainName(name) +
                                   "' has values that are no numbers");
  }
  return data;
}

} // namespace ingot::driver
