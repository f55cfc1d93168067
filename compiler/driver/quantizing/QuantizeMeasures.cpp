// Measures a quantization on samples: whether the samples are fit for it, how near the outputs are to the float
// model's, and how long a run takes.
#include "compiler/driver/Driver.h"
#include "compiler/driver/Progress.h"
#include "compiler/driver/Text.h"
#include "compiler/driver/quantizing/Quantizer.h"
#include "compiler/importer/ElementType.h"
#include "compiler/quantizer/Alternatives.h"
#include "compiler/support/ElementTypes.h"
#include "compiler/support/Problems.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Parallel.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

namespace ingot::driver {
namespace {

void addTo(OutputFacts &facts, const HostTensor &expected, const HostTensor &got) {
  facts.isFloat = support::elementType(expected.type).isFloat();
  if (facts.isFloat) {
    facts.similarity.add(Floats(expected), Floats(got));
    return;
  }
  facts.differing += differing(expected, got);
  facts.elements += importer::elementCount(expected.dims).value_or(0);
}

/// Whether an input has one value in all elements of all samples.
struct Constancy {
  std::optional<float> value;
  bool isConstant = true;
  bool isFloat = false;
  int64_t elements = 0;

  void add(const HostTensor &tensor) {
    isFloat = support::elementType(tensor.type).isFloat();
    for (float element : floatsOf(tensor)) {
      value = value.value_or(element);
      isConstant &= element == *value;
      ++elements;
    }
  }
};

} // namespace

llvm::Error Quantizer::checkSamples() {
  const std::vector<ValueFacts> &inputs = samples.model().inputs;
  std::vector<Constancy> all(inputs.size());
  struct Change {
    std::string first; ///< the first sample
    int64_t samples = 0;
  };
  std::map<std::string, Change> changed;
  using Shapes = std::map<std::string, std::vector<int64_t>>;
  std::optional<Shapes> same; // the inputs' shapes, while they are the same in all samples
  for (size_t i = 0; i < samples.size(); ++i) {
    std::vector<std::string> changes;
    llvm::Expected<DataSet> data = samples.read(i, &changes);
    if (!data) {
      return data.takeError();
    }
    for (const std::string &change : changes) {
      Change &own = changed[change];
      own.first = own.samples++ ? own.first : samples.name(i);
    }
    pipeline::Options shapes = invocation.model; // each sample has to fit, before minutes of work
    if (llvm::Error error = fixShapes(samples.model(), *data, shapes)) {
      return error;
    }
    bool isPlain = data->inputs.size() == inputs.size(); // sequences have several tensors, or none
    Shapes own;
    for (size_t k = 0; isPlain && k < inputs.size(); ++k) {
      all[k].add(data->inputs[k]);
      if (!data->inputs[k].isAbsent && data->sequences[k] == Recorded::kTensor) {
        own[inputs[k].name] = data->inputs[k].dims;
      }
    }
    same = i == 0 || same == own ? own : Shapes();
  }
  // Code for one size is smaller than code for all, and soon made. The user's own words come first.
  if (same && invocation.model.shapes.empty() && invocation.model.dims.empty()) {
    forSamples.model.shapes = *same;
  }
  for (const auto &[change, own] : changed) {
    std::string others = own.samples > 1 ? " (so are " + std::to_string(own.samples - 1) + " more)" : "";
    llvm::errs() << own.first << ": note: " << change << others << '\n';
  }
  // A single number mostly is a setting. So are masks and the like among integers, unless nothing else says anything.
  auto isConstant = [&](const Constancy &input) {
    return input.value && input.isConstant && input.elements > int64_t(samples.size());
  };
  bool areAll = llvm::all_of(all, isConstant);
  for (auto [input, known] : llvm::zip(inputs, all)) {
    if (isConstant(known) && (known.isFloat || areAll)) {
      warn(samples.name(0) + ": warning: input '" + plainName(input.name) + "' is " + numberText(*known.value) +
           " in all of its elements" +
           (samples.size() > 1 ? " and all " + std::to_string(samples.size()) + " samples" : "") +
           ": ranges and measures from such data say nothing of other data");
    }
  }
  return llvm::Error::success();
}

llvm::Error Quantizer::checkQuantized() {
  llvm::Expected<std::string> file = fileWith(quantized, {});
  if (!file) {
    return file.takeError();
  }
  return runsOf(quantized, *file).check();
}

void Quantizer::warnOfLosses() {
  constexpr double kNear = 0.9;
  for (const OutputFacts &output : facts.outputs) {
    bool isFar = output.isFloat ? output.similarity.cosine() < kNear : output.differing > output.elements / 10;
    if (isFar) {
      std::string how = output.isFloat ? output.similarity.text()
                                       : std::to_string(output.differing) + " of " + std::to_string(output.elements) +
                                             " elements differ";
      warn(invocation.model.modelPath + ": warning: output '" + plainName(output.name) +
           "' of the quantized model is far from the float model's: " + how);
    }
  }
}

double Quantizer::Compared::drop() const {
  double most = 0;
  for (const OutputFacts &output : outputs) {
    most = std::max(most, output.isFloat ? 1 - output.similarity.cosine() : 0);
  }
  return most;
}

llvm::Expected<Quantizer::Compared> Quantizer::comparable() {
  std::vector<std::string> names = results();
  llvm::Expected<Observation> made = observation(quantized, names);
  if (!made) {
    return made.takeError();
  }
  return Compared{std::move(*made), std::move(names)};
}

static HostTensor hostTensor(const quantizer::pb::TensorProto &tensor) {
  HostTensor host;
  host.name = tensor.name(), host.type = tensor.data_type(), host.dims = quantizer::dimsOf(tensor).vec();
  host.bytes.assign(tensor.raw_data().begin(), tensor.raw_data().end());
  return host;
}

llvm::Expected<std::vector<Quantizer::Compared>> Quantizer::comparable(llvm::MutableArrayRef<quantizer::Model> models) {
  std::vector<Compared> made;
  std::optional<quantizer::Alternatives> all = quantizer::alternativesOf(models);
  for (size_t i = 0; i < models.size(); ++i) {
    if (all && i > 0) {
      made.push_back({made.front().runs, made.front().names});
    } else {
      quantizer::Model &own = all ? all->model : models[i];
      std::swap(quantized, own);
      llvm::Expected<Compared> one = comparable();
      std::swap(quantized, own);
      if (!one) {
        return one.takeError();
      }
      made.push_back(std::move(*one));
    }
    if (all) {
      llvm::transform(all->values[i], std::back_inserter(made.back().given), hostTensor);
    }
  }
  return made;
}

llvm::Error Quantizer::compare(llvm::MutableArrayRef<Compared> models, llvm::ArrayRef<size_t> which) {
  ProgressBar bar(true, /*inLogs=*/true);
  for (auto [number, sample] : llvm::enumerate(which)) {
    llvm::Expected<DataSet> data = samples.read(sample);
    if (!data) {
      return data.takeError();
    }
    llvm::Expected<std::vector<HostTensor>> exact = partsOf(sample);
    if (!exact) {
      return exact.takeError();
    }
    llvm::Expected<std::vector<HostTensor>> whole = expectedOutputs(sample);
    if (!whole) {
      return whole.takeError();
    }
    Values mine = byName(*exact);
    llvm::StringMap<const ValuePart *> parts;
    for (const ValuePart &part : kept.at(sample)) {
      parts[part.tensor.name] = &part;
    }
    for (Compared &model : models) {
      DataSet own = *data;
      llvm::append_range(own.inputs, model.given);
      own.sequences.resize(own.inputs.size(), Recorded::kTensor);
      llvm::Expected<std::vector<HostTensor>> got = valuesOf(model.runs, std::move(own), sample);
      if (!got) {
        return got.takeError();
      }
      Values other = byName(*got);
      model.outputs.resize(whole->size()), model.values.resize(model.names.size());
      for (auto [output, facts] : llvm::zip(*whole, model.outputs)) {
        facts.name = output.name;
        addTo(facts, output, *other.lookup(output.name));
      }
      llvm::parallelFor(0, model.names.size(), [&](size_t k) {
        const std::string &name = model.names[k];
        const ValuePart *part = parts.lookup(name);
        HostTensor got = part ? part->of(*other.lookup(name)) : *other.lookup(name);
        model.values[k].add(Floats(*mine.lookup(name)), Floats(got));
      });
      model.samples.push_back(sample);
    }
    bar.show(int(number + 1), int(which.size()), "samples compared");
  }
  return llvm::Error::success();
}

llvm::Error Quantizer::measure() {
  if (!seenOfQuantized) {
    llvm::Expected<Compared> made = comparable();
    if (!made) {
      return made.takeError();
    }
    seenOfQuantized = std::move(*made);
  }
  std::vector<size_t> others = allSamples();
  llvm::erase_if(others, [&](size_t sample) { return llvm::is_contained(seenOfQuantized->samples, sample); });
  if (llvm::Error error = compare(*seenOfQuantized, others)) {
    return error;
  }
  facts.outputs = seenOfQuantized->outputs;
  for (const quantizer::Layer &layer : all()) {
    const std::vector<std::string> &names = seenOfQuantized->names;
    if (auto found = llvm::find(names, layer.y); found != names.end()) {
      factsOf(layer).similarity = seenOfQuantized->values[size_t(found - names.begin())];
    }
  }
  return llvm::Error::success();
}

void Quantizer::warnOfTimes() {
  constexpr double kSlower = 1.05; // less is noise
  std::string slower;
  int count = 0;
  for (const LayerFacts &layer : facts.layers) {
    if (layer.kept.empty() && layer.secondsBefore >= 0 && layer.secondsAfter > kSlower * layer.secondsBefore) {
      slower += ++count <= 3 ? (count > 1 ? ", " : "") + support::quoted(layer.name) : "";
    }
  }
  auto times = [](double before, double after) {
    return llvm::formatv("{0:f1} us, before {1:f1}", after * 1e6, before * 1e6).str();
  };
  if (facts.secondsAfter > kSlower * facts.secondsBefore) {
    warn(invocation.model.modelPath + ": warning: by --scheme " + support::wordOf(options.scheme) +
         " a run is slower here than in float: " + times(facts.secondsBefore, facts.secondsAfter));
  }
  if (count > 0) {
    warn(invocation.model.modelPath + ": warning: " + std::to_string(count) +
         (count == 1 ? " layer is" : " layers are") + " slower than in float: " + slower + (count > 3 ? " ..." : "") +
         "; --keep NAME keeps one in float");
  }
}

/// Returns the distribution of what statistics have seen; nothing where they have seen nothing.
static std::optional<Distribution> distributionOf(const quantizer::Statistics &statistics) {
  constexpr size_t kParts = 80;
  return statistics.least() < statistics.greatest()
             ? std::optional(Distribution{statistics.least(), statistics.greatest(), statistics.histogram(kParts)})
             : std::nullopt;
}

llvm::Error Quantizer::noteDistributions() {
  constexpr size_t kMostLayers = 12, kMostSamples = 4;
  std::vector<quantizer::Layer> worst = all();
  auto noise = [&](const quantizer::Layer &layer) {
    const LayerFacts &fact = factsOf(layer);
    return fact.similarity && !fact.similarity->isEmpty() ? fact.similarity->sqnr() : HUGE_VAL;
  };
  llvm::erase_if(worst, [](const quantizer::Layer &layer) { return layer.graph != 0; });
  llvm::sort(worst,
             [&](const auto &a, const auto &b) { return std::pair(noise(a), a.node) < std::pair(noise(b), b.node); });
  worst.resize(std::min(worst.size(), kMostLayers));
  quantizer::Index index(model, *model.proto.mutable_graph());
  std::map<std::string, quantizer::Statistics> reads;
  for (const quantizer::Layer &layer : worst) {
    quantizer::Statistics weights;
    weights.add(quantizer::floatsOf(*index.weight(layer.weight)));
    factsOf(layer).weights = distributionOf(weights);
    if (!layer.x.empty()) {
      reads[layer.x];
    }
  }
  if (samples.size() == 0) {
    return llvm::Error::success();
  }
  llvm::Expected<Observation *> observing = ofModel();
  if (!observing) {
    return observing.takeError();
  }
  std::vector<size_t> some = allSamples();
  some.resize(std::min(some.size(), kMostSamples));
  llvm::Error error = observe(**observing, some, [&](const Values &values, size_t) {
    for (auto &[name, statistics] : reads) {
      statistics.add(Floats(*values.lookup(name)));
    }
    return llvm::Error::success();
  });
  for (const quantizer::Layer &layer : worst) {
    if (!layer.x.empty()) {
      factsOf(layer).reads = distributionOf(reads[layer.x]);
    }
  }
  return error;
}

llvm::Expected<ModelRuns::Times> Quantizer::timesOf(quantizer::Model &which, const DataSet &data) {
  llvm::Expected<std::string> file = fileWith(which, {});
  if (!file) {
    return file.takeError();
  }
  constexpr double kSeconds = 0.2;
  return runsOf(which, *file, /*timed=*/true).times(data, kSeconds);
}

llvm::Error Quantizer::measureTimes() {
  llvm::Expected<DataSet> data = samples.read(0);
  if (!data) {
    return data.takeError();
  }
  llvm::Expected<std::string> file = fileWith(quantized, {});
  if (!file) {
    return file.takeError();
  }
  ModelRuns before(invocation, invocation.model.modelPath), after = runsOf(quantized, *file, /*timed=*/true);
  llvm::Expected<ModelRuns::Times> old = before.times(*data, invocation.seconds);
  if (!old) {
    return old.takeError();
  }
  llvm::Expected<ModelRuns::Times> now = after.times(forQuantized(*data), invocation.seconds);
  if (!now) {
    return now.takeError();
  }
  facts.secondsBefore = old->run, facts.secondsAfter = now->run;
  for (LayerFacts &layer : facts.layers) {
    std::string node = layer.name + " (" + layer.op + ")";
    if (old->nodes.count(node) && now->nodes.count(node)) {
      layer.secondsBefore = old->nodes[node], layer.secondsAfter = now->nodes[node];
      layer.share = layer.secondsAfter / std::max(now->run, 1e-12);
    }
  }
  warnOfTimes();
  return llvm::Error::success();
}

} // namespace ingot::driver
