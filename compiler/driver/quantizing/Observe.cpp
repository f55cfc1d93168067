// Lets values of models be seen: a model is written with them as outputs, compiled and run on samples. Of a float model
// the user's file is compiled once, with the sizes that all samples have. Smoothing divides some of its values, and
// what they are then is computed from what they were.
#include "compiler/driver/Driver.h"
#include "compiler/driver/Progress.h"
#include "compiler/driver/quantizing/Quantizer.h"
#include "compiler/support/Problems.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Parallel.h"
#include "llvm/Support/Path.h"
#include <set>

namespace ingot::driver {

Quantizer::Values Quantizer::byName(const std::vector<HostTensor> &tensors) {
  Quantizer::Values values;
  for (const HostTensor &tensor : tensors) {
    values[tensor.name] = &tensor;
  }
  return values;
}

llvm::Expected<std::string> Quantizer::fileWith(quantizer::Model &observed, llvm::ArrayRef<std::string> values,
                                                size_t *added, double *size) {
  auto *outputs = observed.proto.mutable_graph()->mutable_output();
  int own = outputs->size();
  llvm::StringSet<> known;
  for (const auto &output : *outputs) {
    known.insert(output.name());
  }
  for (const std::string &value : values) {
    if (known.insert(value).second) {
      outputs->Add()->set_name(value);
    }
  }
  if (added) {
    *added = size_t(outputs->size() - own);
  }
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, "model" + std::to_string(files++) + ".onnx");
  support::OutputFiles written;
  llvm::Expected<int64_t> bytes = observed.save(written, std::string(path));
  outputs->DeleteSubrange(own, outputs->size() - own);
  if (!bytes) {
    return bytes.takeError();
  }
  if (size) {
    *size = double(*bytes);
  }
  if (llvm::Error error = written.keep()) {
    return support::located(std::move(error));
  }
  return std::string(path);
}

llvm::Expected<std::vector<HostTensor>> Quantizer::expectedOutputs(size_t sample) {
  if (auto known = expected.find(sample); known != expected.end()) {
    return known->second;
  }
  llvm::Expected<DataSet> data = samples.read(sample);
  if (!data) {
    return data.takeError();
  }
  bool isSeen = seen && seen->isUsers;
  if (!isSeen && !ofUser) {
    ofUser = Observation{std::make_unique<ModelRuns>(forSamples, invocation.model.modelPath), false, 0, true};
  }
  Observation &own = isSeen ? *seen : *ofUser;
  llvm::Expected<std::vector<HostTensor>> outputs = own.runs->outputs(*data);
  if (outputs) {
    outputs->erase(outputs->end() - ptrdiff_t(own.added), outputs->end());
    keepExpected(sample, *outputs);
  }
  return outputs;
}

void Quantizer::keepExpected(size_t sample, llvm::ArrayRef<HostTensor> outputs) {
  constexpr size_t kMostBytes = size_t(256) << 20;
  size_t bytes = 0;
  for (const HostTensor &output : outputs) {
    bytes += output.bytes.size();
  }
  if (expectedBytes + bytes <= kMostBytes && expected.try_emplace(sample, outputs.begin(), outputs.end()).second) {
    expectedBytes += bytes;
  }
}

ModelRuns Quantizer::runsOf(const quantizer::Model &which, const std::string &file, bool timed) const {
  const std::string &own = invocation.model.modelPath;
  Invocation given = timed ? invocation : forSamples;
  given.profile |= timed;
  return {given, file, &which == &quantized ? own + " (quantized)" : own};
}

llvm::Expected<Quantizer::Observation> Quantizer::observation(quantizer::Model &observed,
                                                              llvm::ArrayRef<std::string> values) {
  size_t added = 0;
  llvm::Expected<std::string> file = fileWith(observed, values, &added);
  if (!file) {
    return file.takeError();
  }
  return Observation{std::shared_ptr<ModelRuns>(new ModelRuns(runsOf(observed, *file))), &observed == &quantized,
                     added};
}

llvm::Error Quantizer::observe(Observation &observation, llvm::ArrayRef<size_t> which, Take take) {
  ProgressBar bar(true, /*inLogs=*/true);
  for (auto [number, sample] : llvm::enumerate(which)) {
    llvm::Expected<DataSet> data = samples.read(sample);
    if (!data) {
      return data.takeError();
    }
    llvm::Expected<std::vector<HostTensor>> outputs = valuesOf(observation, std::move(*data), sample);
    if (!outputs) {
      return outputs.takeError();
    }
    bar.show(int(number + 1), int(which.size()), "samples observed");
    if (llvm::Error error = take(byName(*outputs), sample)) {
      return error;
    }
  }
  return llvm::Error::success();
}

/// Divides a tensor of float32 as smoothing has it.
static void divide(HostTensor &tensor, const quantizer::Divided &how) {
  auto *values = reinterpret_cast<float *>(tensor.bytes.data());
  quantizer::AxisPlaces channels(tensor.dims, int(tensor.dims.size()) - how.fromEnd);
  quantizer::PlaceWalk walk(channels);
  for (size_t i = 0; i < tensor.bytes.size() / sizeof(float); ++i, walk.next()) {
    values[i] /= how.by[walk.place()];
  }
}

llvm::Expected<std::vector<HostTensor>> Quantizer::valuesOf(Observation &observation, DataSet data, size_t sample) {
  if (observation.isQuantized) {
    return observation.runs->outputs(forQuantized(std::move(data)));
  }
  llvm::Expected<std::vector<HostTensor>> outputs = observation.runs->outputs(data);
  if (!outputs) {
    return outputs;
  }
  if (observation.isUsers) { // smoothing, which divides values inside, is not of the user
    keepExpected(sample, llvm::ArrayRef(*outputs).drop_back(observation.added));
  }
  if (seen && &observation == &*seen) {
    keepParts(*outputs, sample);
  }
  divideSmoothed(*outputs);
  return outputs;
}

void Quantizer::divideSmoothed(std::vector<HostTensor> &values) const {
  std::vector<HostTensor> added; // behind those that the model has by itself
  for (HostTensor &tensor : values) {
    for (const auto &[name, how] : divided) {
      if (how.from == tensor.name && name != tensor.name) {
        divide(added.emplace_back(tensor), how), added.back().name = name;
      }
    }
    if (auto own = divided.find(tensor.name); own != divided.end()) {
      divide(tensor, own->second);
    }
  }
  llvm::append_range(values, added);
}

void Quantizer::keepParts(llvm::ArrayRef<HostTensor> values, size_t sample) {
  constexpr size_t kMostOfAll = size_t(32) << 20, kLeast = 1024, kMost = 32768; // elements
  if (kept.count(sample)) {
    return;
  }
  std::map<std::string, std::set<int>> channels; // the axes of the channels, as layers have them
  for (const quantizer::Layer &layer : layers) {
    for (const std::string &name : {layer.x, layer.y}) {
      channels[name].insert(quantizer::channelAxis(layer));
    }
  }
  size_t most = std::clamp(kMostOfAll / std::max<size_t>(values.size() * samples.size(), 1), kLeast, kMost);
  std::vector<ValuePart> &parts = kept[sample];
  parts.resize(values.size());
  llvm::parallelFor(0, values.size(), [&](size_t i) {
    auto own = channels.find(values[i].name);
    bool isKnown = own != channels.end();
    parts[i] = partOf(values[i], most,
                      isKnown ? llvm::SmallVector<int>(own->second.begin(), own->second.end())
                              : llvm::SmallVector<int>{1, -1});
  });
}

llvm::Expected<std::vector<HostTensor>> Quantizer::partsOf(size_t sample) {
  if (!kept.count(sample)) {
    llvm::Expected<DataSet> data = samples.read(sample);
    if (!data) {
      return data.takeError();
    }
    llvm::Expected<Observation *> observing = ofModel();
    if (!observing) {
      return observing.takeError();
    }
    if (llvm::Error error = valuesOf(**observing, std::move(*data), sample).takeError()) {
      return error;
    }
  }
  std::vector<HostTensor> parts;
  llvm::transform(kept.at(sample), std::back_inserter(parts), [](const ValuePart &part) { return part.tensor; });
  divideSmoothed(parts);
  return parts;
}

llvm::Error Quantizer::observeParts(llvm::ArrayRef<size_t> which, Take take) {
  for (size_t sample : which) {
    llvm::Expected<std::vector<HostTensor>> parts = partsOf(sample);
    if (!parts) {
      return parts.takeError();
    }
    if (llvm::Error error = take(byName(*parts), sample)) {
      return error;
    }
  }
  return llvm::Error::success();
}

llvm::Error Quantizer::observe(quantizer::Model &observed, llvm::ArrayRef<std::string> values, Take take) {
  llvm::Expected<Observation> observing = observation(observed, values);
  return observing ? observe(*observing, allSamples(), take) : observing.takeError();
}

std::vector<std::string> Quantizer::results() const {
  std::vector<std::string> names;
  for (const quantizer::Layer &layer : all()) {
    if (layer.graph == 0) {
      names.push_back(layer.y);
    }
  }
  return names;
}

llvm::Expected<Quantizer::Observation> Quantizer::observationOfModel(llvm::ArrayRef<std::string> values) {
  if (model.isAsRead && divided.empty()) {
    llvm::Expected<Observation> made = observation(model, values);
    if (made) {
      made->isUsers = true;
    }
    return made;
  }
  llvm::Expected<quantizer::Model> users = quantizer::Model::load(invocation.model.modelPath);
  if (!users) {
    return llvm::make_error<ExitError>(1, llvm::toString(users.takeError()));
  }
  quantizer::Index index(*users, *users->proto.mutable_graph());
  llvm::StringSet<> inputs;
  for (const auto &input : users->proto.graph().input()) {
    inputs.insert(input.name());
  }
  bool hasAll = llvm::all_of(
      values, [&](const std::string &value) { return index.producer(value) >= 0 || inputs.contains(value); });
  llvm::Expected<Observation> made = observation(hasAll ? *users : model, values);
  if (made) {
    made->isUsers = hasAll;
  }
  return made;
}

llvm::Expected<Quantizer::Observation *> Quantizer::ofModel() {
  if (!seen) {
    std::vector<std::string> names = results();
    for (const quantizer::Layer &layer : layers) {
      if (layer.graph == 0 && !quantizer::isTable(layer)) {
        names.push_back(layer.x);
      }
    }
    if (options.hasRanges()) {
      for (const auto &entry : quantizer::wantedBy(model, layers)) {
        names.push_back(entry.first);
      }
    }
    llvm::Expected<Observation> made = observationOfModel(names);
    if (!made) {
      return made.takeError();
    }
    seen = std::move(*made);
  }
  return &*seen;
}

} // namespace ingot::driver
