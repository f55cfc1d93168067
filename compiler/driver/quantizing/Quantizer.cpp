#include "compiler/driver/quantizing/Quantizer.h"
#include "compiler/importer/ElementType.h"
#include "compiler/quantizer/Dynamic.h"
#include "compiler/quantizer/NarrowWeights.h"
#include "compiler/quantizer/RecurrentRuns.h"
#include "compiler/quantizer/Tables.h"
#include "compiler/support/ElementTypes.h"
#include "compiler/support/Problems.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <functional>
#include <numeric>

namespace ingot::driver {

/// The reason why a layer that the user names stays in float.
static const char *const kByUser = "by --keep";

static double largestOf(llvm::ArrayRef<float> values) {
  double largest = 0;
  for (float value : values) {
    largest = std::max(largest, std::isfinite(value) ? std::abs(double(value)) : 0);
  }
  return largest;
}

Quantizer::Quantizer(const Invocation &invocation, quantizer::Model model, SampleSet samples, std::string folder)
    : invocation(invocation), options(invocation.quantization), forSamples(invocation), model(std::move(model)),
      samples(std::move(samples)), folder(std::move(folder)) {
  forSamples.profile = false;
  forSamples.threads = int(invocation.model.jobs);
  constexpr int64_t kRunsOfSample =
      2; // what is observed or compared, and what is observed again where smoothing has divided
  pipeline::Options &compiled = forSamples.model;
  compiled.runs = kRunsOfSample * int64_t(this->samples.size());
  // Their kernels are longer than others, and few runs do not make up for it.
  if (compiled.winograd == lower::Winograd::Faster && compiled.chains == layout::Chains::Faster) {
    compiled.winograd = lower::Winograd::Off, compiled.chains = layout::Chains::Off;
  }
}

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
  for (const std::string &name : {layer.weight, layer.recurrent, options.hasRanges() ? layer.bias : ""}) {
    llvm::ArrayRef<float> values = name.empty() ? llvm::ArrayRef<float>() : quantizer::floatsOf(*index.weight(name));
    std::string problem = quantizer::problemOf(values);
    if (problem.empty() && name != layer.bias) {
      problem = quantizer::problemOfSmall(values);
    }
    bool isHalf = options.scheme == quantizer::Scheme::Float16Weights;
    if (double largest = isHalf ? largestOf(values) : 0; problem.empty() && largest > quantizer::kMostOfHalf) {
      problem = llvm::formatv("goes to {0:e2}, beyond the largest float16", largest).str();
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
  if (!options.hasByteActivations()) {
    llvm::append_range(layers, quantizer::tablesOf(model, options.blockBits() ? quantizer::kLeastOfBlockTable
                                                                              : quantizer::kLeastOfByteTable));
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

void Quantizer::smooth(const std::map<std::string, std::vector<float>> &factors) {
  if (factors.empty()) {
    return;
  }
  // Smoothing does not change what the model computes, and what its values inside are is known by those before. So
  // nothing is compiled anew.
  divided = quantizer::smooth(model, layers, factors);
  std::vector<quantizer::Layer> old = layers;
  layers = again(model);
  llvm::copy_if(old, std::back_inserter(layers), quantizer::isTable);
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

std::map<std::string, quantizer::Encoding>
Quantizer::encodingsOf(llvm::ArrayRef<quantizer::Layer> of,
                       const std::map<std::string, quantizer::FloatRange> &ranges) {
  bool isFloat8 = options.scheme == quantizer::Scheme::Float8;
  auto encodings =
      quantizer::encodingsOf(quantizer::wantedBy(model, of), ranges, options.signedActivations || isFloat8);
  for (auto &entry : encodings) {
    entry.second = isFloat8 ? quantizer::asFloat8(entry.second) : entry.second;
  }
  return encodings;
}

void Quantizer::writeStatic(const std::map<std::string, quantizer::FloatRange> &ranges) {
  seenOfQuantized.reset();
  std::vector<quantizer::Layer> others = notByRun();
  auto encodings = encodingsOf(others, ranges);
  quantized = model;
  quantizer::writeRunForms(quantized, byRun);
  quantizer::writeStatic(quantized, others, encodings, options.weights);
  quantizer::writeTables(quantized, tables);
}

std::vector<quantizer::Layer> Quantizer::notByRun() const {
  std::vector<quantizer::Layer> others = layers;
  llvm::erase_if(others, [&](const quantizer::Layer &layer) {
    return llvm::any_of(byRun, [&](const quantizer::Layer &own) { return own.name == layer.name; });
  });
  return others;
}

llvm::Error Quantizer::chooseRunForms(llvm::function_ref<void()> write) {
  constexpr double kMostDrop = 5e-4; // a form for the time may cost this
  bool isAsked = options.effort != quantizer::Effort::Quick && options.maxDrop < 0 && samples.size() > 0;
  llvm::copy_if(layers, std::back_inserter(byRun),
                [&](const quantizer::Layer &layer) { return isAsked && quantizer::hasRunForm(model, layer); });
  if (byRun.empty()) {
    return llvm::Error::success();
  }
  quantizer::Model before = quantized;
  std::optional<Compared> seenBefore = std::move(seenOfQuantized);
  write();
  llvm::Expected<Compared> compared = comparable();
  llvm::Error error = compared ? compare(*compared, judging()) : compared.takeError();
  bool isMeasured = !error;
  if (!isMeasured) { // the form is for time alone, and the other one is there
    warn(invocation.model.modelPath +
         ": warning: recurrent layers stay as they are: " + llvm::toString(std::move(error)));
  }
  if (!isMeasured || !(compared->drop() <= kMostDrop)) {
    quantized = std::move(before), seenOfQuantized = std::move(seenBefore), byRun.clear();
    return llvm::Error::success();
  }
  seenOfQuantized = std::move(*compared);
  for (const quantizer::Layer &layer : byRun) {
    factsOf(layer).form = "int8, by run", factsOf(layer).bytesAfter = bytesOf(layer);
  }
  return llvm::Error::success();
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

llvm::Expected<Quantizer::Chosen> Quantizer::chooseRanges() {
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
  return compareWhole(*ranges);
}

void Quantizer::noteRanges(llvm::ArrayRef<quantizer::Layer> of, const Chosen &chosen) {
  auto encodings = encodingsOf(of, chosen.ranges);
  for (const quantizer::Layer &layer : of) {
    LayerFacts &fact = factsOf(layer);
    const quantizer::Encoding &encoding = encodings.at(layer.x);
    fact.hasRange = true, fact.method = chosen.methods.at(layer.x);
    fact.low = double(float(encoding.least() - encoding.zero) * encoding.scale);
    fact.high = double(float(encoding.most() - encoding.zero) * encoding.scale);
  }
}

llvm::Error Quantizer::quantizeStatic() {
  llvm::Expected<Chosen> chosen = chooseRanges();
  if (!chosen) {
    return chosen.takeError();
  }
  if (options.maxDrop >= 0) {
    if (llvm::Error error = limitDrop(chosen->ranges)) {
      return error;
    }
    if (llvm::Error error = checkLeft()) {
      return error;
    }
    writeStatic(chosen->ranges);
  }
  if (llvm::Error error = chooseRunForms([&] { writeStatic(chosen->ranges); })) {
    return error;
  }
  noteRanges(notByRun(), *chosen);
  return llvm::Error::success();
}

void Quantizer::writeDynamic() {
  seenOfQuantized.reset();
  quantized = model;
  quantizer::writeRunForms(quantized, byRun);
  quantizer::writeDynamic(quantized, notByRun(), options.weights);
  quantizer::writeTables(quantized, tables);
}

llvm::Error Quantizer::quantizeDynamic() {
  writeDynamic();
  return chooseRunForms([&] { writeDynamic(); });
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
    seenOfQuantized.reset();
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

std::vector<quantizer::KeptNode> Quantizer::weightsBeyondFloat16() {
  constexpr double kMost = quantizer::kMostOfHalf;
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
  if (options.scheme == quantizer::Scheme::Int8 || options.scheme == quantizer::Scheme::Float8) {
    return quantizeStatic();
  }
  if (options.scheme == quantizer::Scheme::Mixed) {
    return quantizeMixed();
  }
  if (llvm::Error error = adjust()) {
    return error;
  }
  bool isHalf = options.scheme == quantizer::Scheme::Float16Weights;
  if (isHalf || options.scheme == quantizer::Scheme::Float8Weights) {
    quantized = model;
    isHalf ? quantizer::writeHalfWeights(quantized, layers) : quantizer::writeFloat8Weights(quantized, layers);
    return llvm::Error::success();
  }
  if (options.blockBits()) {
    return quantizeBlocks();
  }
  return quantizeDynamic();
}

/// Returns the bytes that the file has for a layer's weights.
int64_t Quantizer::bytesOf(const quantizer::Layer &layer) const {
  if (options.scheme == quantizer::Scheme::Float16Weights) {
    return layer.values() * int64_t(sizeof(uint16_t));
  }
  if (options.blockBits()) {
    return quantizer::bytesOf(layer, blockFormOf(layer));
  }
  return quantizer::bytesOf(quantizer::scaledBy(layer), options.weights);
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
  if (isPage(invocation.reportPath) && !options.isFloat()) {
    if (llvm::Error error = noteDistributions()) {
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
    LayerFacts &fact = factsOf(layer);
    if (fact.form.empty()) { // --scheme mixed has written the form of each layer already
      fact.form = support::wordOf(options.scheme), fact.bytesAfter = bytesOf(layer);
    }
  }
  return facts;
}

} // namespace ingot::driver
