#include "compiler/driver/quantizing/Quantizer.h"
#include "compiler/driver/Progress.h"
#include "compiler/importer/ElementType.h"
#include "compiler/quantizer/Adjust.h"
#include "compiler/quantizer/Dynamic.h"
#include "compiler/quantizer/InverseFactor.h"
#include "compiler/quantizer/Tables.h"
#include "compiler/support/ElementTypes.h"
#include "compiler/support/Problems.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <functional>
#include <numeric>

namespace ingot::driver {

/// The reason why a layer that the user names stays in float.
static const char *const kByUser = "by --keep";

static Quantizer::Values byName(const std::vector<HostTensor> &tensors) {
  Quantizer::Values values;
  for (const HostTensor &tensor : tensors) {
    values[tensor.name] = &tensor;
  }
  return values;
}

Quantizer::Quantizer(const Invocation &invocation, quantizer::Model model, SampleSet samples, std::string folder)
    : invocation(invocation), options(invocation.quantization), model(std::move(model)), samples(std::move(samples)),
      folder(std::move(folder)) {}

void Quantizer::keep(llvm::StringRef layer, const std::string &why) {
  for (std::vector<quantizer::Layer> *own : {&layers, &tables}) {
    llvm::erase_if(*own, [&](const quantizer::Layer &other) { return other.name == layer; });
  }
  for (LayerFacts &fact : facts.layers) {
    if (fact.name == layer && fact.kept.empty()) {
      fact.kept = why, fact.bytesAfter = fact.bytesBefore;
    }
  }
}

void Quantizer::warn(const std::string &text) {
  llvm::errs() << text << '\n';
  facts.warnings.push_back(text);
}

void Quantizer::keepWithWarning(const quantizer::Layer &layer, const std::string &why) {
  warn(invocation.model.modelPath + ": warning: node " + support::quoted(layer.name) + " (" + layer.op +
       ") stays in float: " + why);
  keep(std::string(layer.name), why);
}

std::string Quantizer::problemOfWeights(const quantizer::Index &index, const quantizer::Layer &layer) const {
  for (const std::string &name :
       {layer.weight, layer.recurrent, options.scheme == quantizer::Scheme::Int8 ? layer.bias : ""}) {
    llvm::ArrayRef<float> values = name.empty() ? llvm::ArrayRef<float>() : quantizer::floatsOf(*index.weight(name));
    std::string problem = quantizer::problemOf(values);
    if (problem.empty() && name != layer.bias) {
      problem = quantizer::problemOfSmall(values);
    }
    if (!problem.empty()) {
      return "its operand " + support::quoted(name) + " " + problem;
    }
  }
  return "";
}

void Quantizer::keepStrangeWeights() {
  for (auto [number, graph] : llvm::enumerate(model.graphs())) {
    quantizer::Index index(model, *graph);
    for (const quantizer::Layer &layer : all()) {
      std::string problem = layer.graph == int(number) ? problemOfWeights(index, layer) : "";
      if (!problem.empty()) {
        keepWithWarning(layer, problem);
      }
    }
  }
}

std::vector<quantizer::Layer> Quantizer::all() const {
  std::vector<quantizer::Layer> both = layers;
  llvm::append_range(both, tables);
  return both;
}

LayerFacts &Quantizer::factsOf(const quantizer::Layer &layer) {
  return *llvm::find_if(facts.layers, [&](const LayerFacts &fact) { return fact.name == layer.name; });
}

llvm::Error Quantizer::chooseLayers() {
  layers = quantizer::layersOf(model);
  if (options.scheme == quantizer::Scheme::Int4) {
    llvm::append_range(layers, quantizer::tablesOf(model, quantizer::kLeastOfInt4Table));
  } else {
    tables = quantizer::tablesOf(model, quantizer::kLeastOfByteTable);
  }
  for (const quantizer::Layer &layer : all()) {
    LayerFacts &fact = facts.layers.emplace_back();
    fact.name = layer.name, fact.op = layer.op;
    fact.bytesBefore = layer.values() * int64_t(sizeof(float));
  }
  for (const std::string &name : options.keep) {
    if (llvm::none_of(facts.layers, [&](const LayerFacts &layer) { return layer.name == name; })) {
      return llvm::createStringError(
          "--keep " + name + ": the model has no layer of this name" +
          (facts.layers.empty() ? "" : "; its first is " + support::quoted(facts.layers.front().name)));
    }
    keep(name, kByUser);
  }
  if (layers.empty()) {
    return llvm::createStringError(invocation.model.modelPath + ": error: nothing to quantize: no " +
                                   (facts.layers.empty()
                                        ? "convolution, product or recurrent layer with constant float32 weights"
                                        : "layer is left by --keep"));
  }
  keepStrangeWeights();
  return checkLeft();
}

llvm::Expected<std::string> Quantizer::fileWith(quantizer::Model &observed, llvm::ArrayRef<std::string> values) {
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
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, "model" + std::to_string(files++) + ".onnx");
  support::OutputFiles written;
  llvm::Expected<int64_t> bytes = observed.save(written, std::string(path));
  outputs->DeleteSubrange(own, outputs->size() - own);
  if (!bytes) {
    return bytes.takeError();
  }
  if (llvm::Error error = written.keep()) {
    return support::located(std::move(error));
  }
  return std::string(path);
}

ModelRuns &Quantizer::original() {
  if (!ofUser) {
    ofUser = std::make_unique<ModelRuns>(invocation, invocation.model.modelPath);
  }
  return *ofUser;
}

ModelRuns Quantizer::runsOf(const quantizer::Model &which, const std::string &file) const {
  const std::string &own = invocation.model.modelPath;
  return {invocation, file, &which == &model ? own : own + " (quantized)"};
}

llvm::Expected<Quantizer::Observation> Quantizer::observation(quantizer::Model &observed,
                                                              llvm::ArrayRef<std::string> values) {
  llvm::Expected<std::string> file = fileWith(observed, values);
  if (!file) {
    return file.takeError();
  }
  return Observation{std::unique_ptr<ModelRuns>(new ModelRuns(runsOf(observed, *file))), &observed == &quantized};
}

llvm::Error Quantizer::observe(Observation &observation, llvm::ArrayRef<size_t> which, Take take) {
  ProgressBar bar(true);
  for (auto [number, sample] : llvm::enumerate(which)) {
    llvm::Expected<DataSet> data = samples.read(sample);
    if (!data) {
      return data.takeError();
    }
    llvm::Expected<std::vector<HostTensor>> outputs =
        observation.runs->outputs(observation.isQuantized ? forQuantized(*data) : std::move(*data));
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

llvm::Error Quantizer::observe(quantizer::Model &observed, llvm::ArrayRef<std::string> values, Take take) {
  llvm::Expected<Observation> observing = observation(observed, values);
  return observing ? observe(*observing, allSamples(), take) : observing.takeError();
}

std::vector<size_t> Quantizer::allSamples() const {
  std::vector<size_t> all(samples.size());
  std::iota(all.begin(), all.end(), size_t(0));
  return all;
}

std::vector<quantizer::Layer> Quantizer::again(quantizer::Model &changed) const {
  std::vector<quantizer::Layer> found = quantizer::layersOf(changed);
  llvm::erase_if(found, [&](const quantizer::Layer &layer) {
    return llvm::none_of(layers, [&](const quantizer::Layer &other) { return other.name == layer.name; });
  });
  return found;
}

void Quantizer::writeStatic(const std::map<std::string, quantizer::FloatRange> &ranges) {
  auto encodings = quantizer::encodingsOf(quantizer::wantedBy(model, layers), ranges, options.signedActivations);
  quantized = model;
  std::vector<quantizer::Layer> written = layers;
  if (options.correctBias) { // only these have an error to be corrected, not a layer that stays in float
    quantizer::correctBias(quantized, layers, biasChannels, options.weights);
    written = again(quantized);
  }
  quantizer::writeStatic(quantized, written, encodings, options.weights);
  for (const quantizer::Layer &layer : layers) {
    LayerFacts &fact = factsOf(layer);
    const quantizer::Encoding &encoding = encodings.at(layer.x);
    fact.hasRange = true;
    fact.low = double(float(encoding.least() - encoding.zero) * encoding.scale);
    fact.high = double(float(encoding.most() - encoding.zero) * encoding.scale);
  }
}

void Quantizer::keepBodies() {
  for (const quantizer::Layer &layer : std::vector(layers)) {
    if (layer.graph > 0) {
      keep(layer.name, "it is in a body of control flow, whose values are not observed");
    }
  }
}

llvm::Error Quantizer::checkLeft() const {
  auto isOther = [](const LayerFacts &layer) { return layer.kept != kByUser; };
  return layers.empty()
             ? llvm::createStringError(invocation.model.modelPath + ": error: nothing is left to quantize: " +
                                       llvm::find_if(facts.layers, isOther)->kept)
             : llvm::Error::success();
}

llvm::Error Quantizer::quantizeStatic() {
  keepBodies();
  if (llvm::Error error = adjust()) {
    return error;
  }
  std::map<std::string, std::string> problems;
  llvm::Expected<Ranges> ranges = rangesOf(quantizer::wantedBy(model, layers), problems);
  if (!ranges) {
    return ranges.takeError();
  }
  for (const quantizer::Layer &layer : std::vector(layers)) {
    if (auto problem = problems.find(layer.x); problem != problems.end()) {
      keepWithWarning(layer, problem->second);
    }
  }
  if (llvm::Error error = checkLeft()) {
    return error;
  }
  llvm::Expected<quantizer::Method> best = compareWhole(*ranges);
  if (!best) {
    return best.takeError();
  }
  Chosen chosen = ranges->by(*best);
  if (options.maxDrop >= 0) {
    if (llvm::Error error = limitDrop(chosen.ranges)) {
      return error;
    }
  }
  if (llvm::Error error = checkLeft()) {
    return error;
  }
  writeStatic(chosen.ranges);
  quantizer::writeTables(quantized, tables);
  for (const quantizer::Layer &layer : layers) {
    factsOf(layer).method = chosen.methods.at(layer.x);
  }
  return llvm::Error::success();
}

llvm::Error Quantizer::quantizeDynamic() {
  quantized = model;
  quantizer::writeDynamic(quantized, layers, options.weights);
  quantizer::writeTables(quantized, tables);
  return llvm::Error::success();
}

llvm::Error Quantizer::quantizeInt4() {
  for (const quantizer::Layer &layer : std::vector(layers)) {
    if (layer.op == "Conv" || layer.isRecurrent()) {
      keep(layer.name, "int4 is for products of matrices");
    }
  }
  if (options.gptq) {
    keepBodies();
  }
  if (llvm::Error error = checkLeft()) {
    return error;
  }
  if (llvm::Error error = scaleForInt4()) {
    return error;
  }
  std::vector<quantizer::BlockWeights> weights;
  if (options.gptq) {
    if (llvm::Error error = compensate(weights)) {
      return error;
    }
  }
  for (const quantizer::Layer &layer : llvm::ArrayRef(layers).drop_front(weights.size())) {
    quantizer::Index index(model, *model.graphs()[size_t(layer.graph)]);
    weights.push_back(
        quantizer::roundBlocks(quantizer::rowsByColumns(layer, quantizer::floatsOf(*index.weight(layer.weight))),
                               quantizer::rowsOf(layer), quantizer::columnsOf(layer), options.block));
  }
  quantized = model;
  quantizer::writeInt4(quantized, layers, weights, options.block);
  return llvm::Error::success();
}

llvm::Error Quantizer::convertToNarrowFloats() {
  for (const std::string &name : options.keep) {
    bool known = llvm::any_of(model.graphs(), [&](const auto *graph) {
      return llvm::any_of(graph->node(), [&](const auto &node) { return quantizer::nameOf(node) == name; });
    });
    if (!known) {
      return llvm::createStringError("--keep " + name + ": the model has no node of this name");
    }
  }
  // Outputs that are right say that nothing is lost that matters: masks may well be infinite.
  auto isRight = [](const OutputFacts &output) { return !output.isFloat || output.similarity.sqnr() >= 40; };
  facts.beyond = weightsBeyondFloat16();
  std::vector<std::string> kept = options.keep;
  llvm::transform(facts.beyond, std::back_inserter(kept), [](const quantizer::KeptNode &node) { return node.name; });
  for (;;) {
    quantized = model;
    facts.nodes = quantizer::writeNarrowFloats(quantized, narrowType(), kept, options.keepIo);
    if (facts.nodes.converted == 0) {
      return llvm::createStringError(
          invocation.model.modelPath + ": error: nothing to convert: " +
          (facts.beyond.empty() ? "no node computes with float32" : "float16 loses values of all nodes"));
    }
    if (options.scheme != quantizer::Scheme::Float16 || samples.size() == 0) {
      return llvm::Error::success();
    }
    if (llvm::Error error = measure()) {
      return error;
    }
    if (llvm::all_of(facts.outputs, isRight)) {
      return llvm::Error::success();
    }
    llvm::Expected<std::vector<quantizer::KeptNode>> lost = lostInFloat16();
    if (!lost) {
      return lost.takeError();
    }
    llvm::erase_if(*lost, [&](const quantizer::KeptNode &node) { return llvm::is_contained(kept, node.name); });
    if (lost->empty()) {
      return llvm::Error::success();
    }
    llvm::transform(*lost, std::back_inserter(kept), [](const quantizer::KeptNode &node) { return node.name; });
    llvm::append_range(facts.beyond, *lost);
  }
}

static double largestOf(llvm::ArrayRef<float> values) {
  double largest = 0;
  for (float value : values) {
    largest = std::max(largest, std::isfinite(value) ? std::abs(double(value)) : 0);
  }
  return largest;
}

std::vector<quantizer::KeptNode> Quantizer::weightsBeyondFloat16() {
  constexpr double kMost = 65504;
  std::vector<quantizer::Layer> all =
      options.scheme == quantizer::Scheme::Float16 ? quantizer::layersOf(model) : std::vector<quantizer::Layer>();
  std::vector<quantizer::KeptNode> nodes;
  for (auto [number, graph] : llvm::enumerate(model.graphs())) {
    quantizer::Index index(model, *graph);
    for (const quantizer::Layer &layer : all) {
      if (layer.graph != int(number) || llvm::is_contained(options.keep, layer.name)) {
        continue;
      }
      double w = largestOf(quantizer::floatsOf(*index.weight(layer.weight)));
      double r = layer.isRecurrent() ? largestOf(quantizer::floatsOf(*index.weight(layer.recurrent))) : 0;
      if (std::max(w, r) > kMost) {
        nodes.push_back({layer.name, layer.op,
                         support::quoted(w > kMost ? layer.weight : layer.recurrent) +
                             llvm::formatv(" goes to {0:e2}", w > kMost ? w : r).str()});
      }
    }
  }
  return nodes;
}

llvm::Expected<std::vector<quantizer::KeptNode>> Quantizer::lostInFloat16() {
  std::map<std::string, std::string> values; // values by the name of the narrow float
  std::vector<std::string> names;
  for (const quantizer::NarrowValue &value : facts.nodes.values) {
    values[value.narrow] = value.value;
    names.push_back(value.narrow);
  }
  auto isFinite = [](float value) { return std::isfinite(value); };
  std::map<std::string, int64_t> strange; // elements that are not finite as narrow floats, and not in float32
  llvm::Error error = observe(quantized, names, [&](const Values &results, size_t) {
    for (const std::string &name : names) {
      strange[values[name]] += llvm::count_if(floatsOf(*results.lookup(name)), std::not_fn(isFinite));
    }
    return llvm::Error::success();
  });
  if (error) {
    return error;
  }
  names.clear();
  for (const auto &[value, count] : strange) {
    if (count > 0) {
      names.push_back(value);
    }
  }
  std::map<std::string, quantizer::Reach> reaches;
  error = observe(model, names, [&](const Values &results, size_t) {
    for (const std::string &name : names) {
      for (float value : floatsOf(*results.lookup(name))) {
        strange[name] -= isFinite(value) ? 0 : 1;
        reaches[name].largest = std::max(reaches[name].largest, isFinite(value) ? std::abs(double(value)) : 0);
      }
    }
    return llvm::Error::success();
  });
  if (error) {
    return error;
  }
  for (auto &[name, reach] : reaches) {
    reach.isLost = strange[name] > 0;
  }
  return quantizer::nodesBeyondFloat16(model, reaches);
}

/// Compensates by GPTQ, which needs a matrix of moments for each operand. Those of a group of layers that fit into some
/// memory are gathered at a time, so that memory does not grow with the model.
llvm::Error Quantizer::compensate(std::vector<quantizer::BlockWeights> &weights) {
  constexpr int64_t kMostBytes = int64_t(1) << 30;
  ProgressBar bar(true);
  auto count = size_t(llvm::find_if(layers, quantizer::isTable) - layers.begin()); // tables are behind the products
  for (size_t first = 0; first < count;) {
    std::map<std::string, quantizer::Channels> channels;
    std::map<std::string, int64_t> rows;
    size_t last = first;
    for (int64_t bytes = 0; last < count && bytes < kMostBytes; ++last) {
      int64_t own = quantizer::rowsOf(layers[last]);
      bytes += rows.try_emplace(layers[last].x, own).second ? own * own * int64_t(sizeof(float)) : 0;
    }
    std::vector<std::string> names;
    llvm::transform(rows, std::back_inserter(names), [](const auto &entry) { return entry.first; });
    llvm::Error error = observe(model, names, [&](const Values &values, size_t) {
      for (const std::string &name : names) {
        channels[name].addMoments(floatsOf(*values.lookup(name)), rows[name]);
      }
      return llvm::Error::success();
    });
    if (error) {
      return error;
    }
    quantizer::Index index(model, *model.proto.mutable_graph());
    std::string factored; // layers that read the same value mostly stand together
    std::vector<double> factor;
    for (; first < last; ++first) {
      const quantizer::Layer &layer = layers[first];
      int64_t own = quantizer::rowsOf(layer);
      if (factored != layer.x) {
        factored = layer.x, factor = quantizer::inverseFactor(channels[layer.x].moments(), own);
        if (!channels[layer.x].hasMoments()) {
          warn(invocation.model.modelPath + ": warning: node " + support::quoted(layer.name) + " (" + layer.op +
               ") is rounded to the nearest, not by GPTQ: what it reads, " + support::quoted(layer.x) +
               ", is 0, infinite or too large in all samples");
        }
      }
      weights.push_back(
          quantizer::compensateBlocks(quantizer::rowsByColumns(layer, quantizer::floatsOf(*index.weight(layer.weight))),
                                      own, quantizer::columnsOf(layer), options.block, factor));
      bar.show(int(first + 1), int(count), "layers rounded by GPTQ");
    }
  }
  return llvm::Error::success();
}

int32_t Quantizer::narrowType() const {
  return options.scheme == quantizer::Scheme::Float16 ? importer::kFloat16 : importer::kBFloat16;
}

DataSet Quantizer::forQuantized(DataSet data) const {
  bool isNarrow = options.isFloat() && !options.keepIo;
  for (HostTensor &input : data.inputs) {
    if (isNarrow && input.type == importer::kFloat) {
      input = narrowed(input, narrowType());
    }
  }
  return data;
}

llvm::Error Quantizer::write() {
  if (options.isFloat()) {
    return convertToNarrowFloats();
  }
  if (llvm::Error error = chooseLayers()) {
    return error;
  }
  if (options.scheme == quantizer::Scheme::Int8) {
    return quantizeStatic();
  }
  if (llvm::Error error = adjust()) {
    return error;
  }
  if (options.scheme == quantizer::Scheme::Int4) {
    return quantizeInt4();
  }
  return quantizeDynamic();
}

/// Returns the bytes that the file has for a layer's weights.
int64_t Quantizer::bytesOf(const quantizer::Layer &layer) const {
  int64_t values = layer.values(), scale = sizeof(float);
  if (options.scheme != quantizer::Scheme::Int4 && quantizer::isTable(layer)) {
    return values + layer.dims[1] * scale;
  }
  if (options.scheme == quantizer::Scheme::Int4) {
    int64_t blocks = (quantizer::rowsOf(layer) + options.block - 1) / options.block * quantizer::columnsOf(layer);
    return (values + 1) / 2 + blocks * scale + (blocks + 1) / 2;
  }
  int64_t scales = options.weights.perTensor ? 1 : layer.dims[size_t(layer.axis)];
  return values + (layer.isRecurrent() ? 2 : 1) * scales * scale;
}

llvm::Expected<QuantizeFacts> Quantizer::run(support::OutputFiles &files) {
  facts.path = options.output;
  facts.samples = int64_t(samples.size());
  facts.bytesBefore = model.bytes;
  if (llvm::Error error = checkSamples()) {
    return error;
  }
  if (llvm::Error error = write()) {
    return error;
  }
  if (samples.size() == 0) {
    if (llvm::Error error = checkQuantized()) {
      return error;
    }
  } else if (facts.outputs.empty()) {
    if (llvm::Error error = measure()) {
      return error;
    }
  }
  warnOfLosses();
  if (invocation.profile) {
    if (llvm::Error error = measureTimes()) {
      return error;
    }
  }
  quantized.mergeConstants();
  llvm::Expected<int64_t> bytes = quantized.save(files, options.output);
  if (!bytes) {
    return bytes.takeError();
  }
  facts.bytesAfter = *bytes;
  for (const quantizer::Layer &layer : all()) {
    factsOf(layer).bytesAfter = bytesOf(layer);
  }
  return facts;
}

} // namespace ingot::driver
