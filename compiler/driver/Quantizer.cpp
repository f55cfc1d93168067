#include "compiler/driver/Quantizer.h"
#include "compiler/driver/Progress.h"
#include "compiler/importer/ElementType.h"
#include "compiler/importer/Problems.h"
#include "compiler/ptq/Static.h"
#include "compiler/support/ElementTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace ingot::driver {

static Quantizer::Values byName(const std::vector<HostTensor> &tensors) {
  Quantizer::Values values;
  for (const HostTensor &tensor : tensors) {
    values[tensor.name] = &tensor;
  }
  return values;
}

Quantizer::Quantizer(const Invocation &invocation, ptq::Model model, SampleSet samples, std::string folder)
    : invocation(invocation), options(invocation.quantization), model(std::move(model)), samples(std::move(samples)),
      folder(std::move(folder)) {}

void Quantizer::keep(llvm::StringRef layer, const std::string &why) {
  llvm::erase_if(layers, [&](const ptq::Layer &other) { return other.name == layer; });
  for (LayerFacts &fact : facts.layers) {
    if (fact.name == layer && fact.kept.empty()) {
      fact.kept = why, fact.bytesAfter = fact.bytesBefore;
    }
  }
}

llvm::Error Quantizer::chooseLayers() {
  layers = ptq::layersOf(model);
  for (const ptq::Layer &layer : layers) {
    LayerFacts &fact = facts.layers.emplace_back();
    fact.name = layer.name, fact.op = layer.op;
    fact.bytesBefore = layer.values() * int64_t(sizeof(float));
  }
  for (const std::string &name : options.keep) {
    if (llvm::none_of(facts.layers, [&](const LayerFacts &layer) { return layer.name == name; })) {
      return llvm::createStringError(
          "--keep " + name + ": the model has no layer of this name" +
          (facts.layers.empty() ? "" : "; its first is " + importer::quoted(facts.layers.front().name)));
    }
    keep(name, "by --keep");
  }
  if (layers.empty()) {
    return llvm::createStringError(invocation.model.modelPath + ": error: nothing to quantize: no " +
                                   (facts.layers.empty() ? "convolution or product with constant float32 weights"
                                                         : "layer is left by --keep"));
  }
  return llvm::Error::success();
}

llvm::Expected<std::string> Quantizer::fileWith(ptq::Model &observed, llvm::ArrayRef<std::string> values) {
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
  llvm::Error error = observed.save(std::string(path));
  outputs->DeleteSubrange(own, outputs->size() - own);
  if (error) {
    return error;
  }
  return std::string(path);
}

llvm::Error Quantizer::observe(llvm::ArrayRef<std::string> values,
                               llvm::function_ref<llvm::Error(const Values &)> take) {
  llvm::Expected<std::string> file = fileWith(model, values);
  if (!file) {
    return file.takeError();
  }
  Runs runs(invocation, *file);
  ProgressBar bar(true);
  for (size_t i = 0; i < samples.size(); ++i) {
    llvm::Expected<DataSet> data = samples.read(i);
    if (!data) {
      return data.takeError();
    }
    llvm::Expected<std::vector<HostTensor>> outputs = runs.outputs(*data);
    if (!outputs) {
      return outputs.takeError();
    }
    bar.show(int(i + 1), int(samples.size()), "samples observed");
    if (llvm::Error error = take(byName(*outputs))) {
      return error;
    }
  }
  return llvm::Error::success();
}

llvm::Expected<std::map<std::string, ptq::Range>> Quantizer::rangesOf(const ptq::Wanted &wanted) {
  std::vector<std::string> names;
  for (const auto &entry : wanted) {
    names.push_back(entry.first);
  }
  std::map<std::string, ptq::Statistics> statistics;
  llvm::Error error = observe(names, [&](const Values &values) {
    for (const std::string &name : names) {
      statistics[name].add(floatsOf(*values.lookup(name)));
    }
    return llvm::Error::success();
  });
  if (error) {
    return error;
  }
  std::map<std::string, ptq::Range> ranges;
  for (const auto &[name, own] : statistics) {
    if (own.notFinite() == 0) {
      ranges[name] = own.choose(options.method, options.percentile, options.signedActivations);
    }
  }
  return ranges;
}

llvm::Error Quantizer::quantizeStatic() {
  for (const ptq::Layer &layer : std::vector(layers)) {
    if (layer.graph > 0) {
      keep(layer.name, "it is in a body of control flow, whose values are not observed");
    }
  }
  importer::pb::GraphProto &graph = *model.proto.mutable_graph();
  llvm::Expected<std::map<std::string, ptq::Range>> ranges = rangesOf(ptq::wantedBy(graph, layers));
  if (!ranges) {
    return ranges.takeError();
  }
  for (const ptq::Layer &layer : std::vector(layers)) {
    if (!ranges->count(layer.x)) {
      keep(layer.name, "what it reads is infinite or no number on some data");
    }
  }
  ptq::Wanted wanted = ptq::wantedBy(graph, layers);
  auto encodings = ptq::encodingsOf(wanted, *ranges, options.signedActivations);
  quantized = model;
  ptq::writeStatic(quantized, layers, encodings, options.perTensor);
  for (const ptq::Layer &layer : layers) {
    LayerFacts &fact = *llvm::find_if(facts.layers, [&](const LayerFacts &f) { return f.name == layer.name; });
    const ptq::Encoding &encoding = encodings.at(layer.x);
    fact.hasRange = true;
    fact.low = (encoding.least() - encoding.zero) * encoding.scale;
    fact.high = (encoding.most() - encoding.zero) * encoding.scale;
    int64_t scales = options.perTensor ? 1 : layer.dims[size_t(layer.axis)];
    fact.bytesAfter = layer.values() + scales * int64_t(sizeof(float));
  }
  return llvm::Error::success();
}

llvm::Error Quantizer::measure() {
  std::vector<std::string> results;
  for (const ptq::Layer &layer : layers) {
    if (layer.graph == 0) {
      results.push_back(layer.y);
    }
  }
  llvm::Expected<std::string> before = fileWith(model, results), after = fileWith(quantized, results);
  if (!before || !after) {
    return llvm::joinErrors(before.takeError(), after.takeError());
  }
  Runs original(invocation, invocation.model.modelPath), ours(invocation, *before), theirs(invocation, *after);
  std::map<std::string, Similarity> outputs, values;
  for (size_t i = 0; i < samples.size(); ++i) {
    llvm::Expected<DataSet> data = samples.read(i);
    if (!data) {
      return data.takeError();
    }
    llvm::Expected<std::vector<HostTensor>> expected = original.outputs(*data);
    if (!expected) {
      return expected.takeError();
    }
    llvm::Expected<std::vector<HostTensor>> exact = ours.outputs(*data), got = theirs.outputs(*data);
    if (!exact || !got) {
      return llvm::joinErrors(exact.takeError(), got.takeError());
    }
    Values mine = byName(*exact), other = byName(*got);
    for (const HostTensor &output : *expected) {
      if (support::elementType(output.type).isFloat()) {
        outputs[output.name].add(floatsOf(output), floatsOf(*other.lookup(output.name)));
      }
    }
    for (const std::string &name : results) {
      values[name].add(floatsOf(*mine.lookup(name)), floatsOf(*other.lookup(name)));
    }
  }
  for (const auto &[name, similarity] : outputs) {
    facts.outputs.push_back({name, similarity.cosine(), similarity.sqnr()});
  }
  for (const ptq::Layer &layer : layers) {
    if (auto found = values.find(layer.y); found != values.end()) {
      LayerFacts &fact = *llvm::find_if(facts.layers, [&](const LayerFacts &f) { return f.name == layer.name; });
      fact.cosine = found->second.cosine(), fact.sqnr = found->second.sqnr();
    }
  }
  return llvm::Error::success();
}

llvm::Error Quantizer::measureTimes() {
  llvm::Expected<DataSet> data = samples.read(0);
  if (!data) {
    return data.takeError();
  }
  Runs before(invocation, invocation.model.modelPath), after(invocation, options.output);
  llvm::Expected<Runs::Times> old = before.times(*data, invocation.seconds);
  if (!old) {
    return old.takeError();
  }
  llvm::Expected<Runs::Times> now = after.times(*data, invocation.seconds);
  if (!now) {
    return now.takeError();
  }
  facts.secondsBefore = old->run, facts.secondsAfter = now->run;
  for (LayerFacts &layer : facts.layers) {
    std::string node = layer.name + " (" + layer.op + ")";
    if (old->nodes.count(node) && now->nodes.count(node)) {
      layer.secondsBefore = old->nodes[node], layer.secondsAfter = now->nodes[node];
    }
  }
  return llvm::Error::success();
}

static int64_t fileBytes(const std::string &path) {
  uint64_t bytes = 0, more = 0;
  (void)llvm::sys::fs::file_size(path, bytes);
  (void)llvm::sys::fs::file_size(path + ".data", more);
  return int64_t(bytes + more);
}

llvm::Expected<QuantizeFacts> Quantizer::run() {
  facts.path = options.output;
  facts.samples = int64_t(samples.size());
  if (llvm::Error error = chooseLayers()) {
    return error;
  }
  if (llvm::Error error = quantizeStatic()) {
    return error;
  }
  if (llvm::Error error = quantized.save(options.output)) {
    return error;
  }
  facts.bytesBefore = model.proto.ByteSizeLong(), facts.bytesAfter = fileBytes(options.output);
  if (samples.size() > 0) {
    if (llvm::Error error = measure()) {
      return error;
    }
  }
  if (invocation.profile) {
    if (llvm::Error error = measureTimes()) {
      return error;
    }
  }
  return facts;
}

} // namespace ingot::driver
