// Chooses a form for each layer by --scheme mixed. What each form of each layer costs is measured: the drop of the
// outputs by a model with a switch for each layer (Sensitivity.cpp), bytes by what is written for the weights, and the
// rest by the model with all layers in that form: the bytes of its nodes and names, and the time, where it counts. The
// sums of these say which forms to try
// (quantizer/Mix.h); the whole model that is made of them is measured, and where it misses a budget, less is allowed of
// that.
#include "compiler/driver/Text.h"
#include "compiler/driver/quantizing/Quantizer.h"
#include "compiler/quantizer/Blocks.h"
#include "compiler/quantizer/Mix.h"
#include "compiler/quantizer/Tables.h"
#include "compiler/support/Problems.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

namespace ingot::driver {
namespace {

using quantizer::Form;
using quantizer::FormCosts;
using quantizer::Layer;
using quantizer::Measure;

constexpr Measure kMeasures[] = {Measure::Drop, Measure::Latency, Measure::Size};

/// Whether a layer is a product of matrices, whose weights may be blocks.
bool isProduct(const Layer &layer) { return layer.op == "MatMul" || layer.op == "Gemm"; }

/// Returns the forms that a layer may have, float first.
std::vector<Form> formsOf(const Layer &layer) {
  if (quantizer::isTable(layer)) {
    return {Form::Float, Form::Int8Weights, Form::Int4};
  }
  std::vector<Form> forms{Form::Float, Form::Int8, Form::Int8Weights};
  if (isProduct(layer)) {
    forms.push_back(Form::Int4);
  }
  return forms;
}

/// Whether a form of a layer is one of blocks, beside activations in float.
bool isBlocks(const Layer &layer, Form form) {
  return form == Form::Int4 || (form == Form::Int8Weights && isProduct(layer));
}

quantizer::BlockForm blocksOf(Form form, const Layer &layer, const quantizer::Options &options) {
  return quantizer::fitted({form == Form::Int4 ? 4 : 8, options.block}, layer);
}

quantizer::BlockWeights blocksOf(const quantizer::Index &index, const Layer &layer, quantizer::BlockForm form) {
  return quantizer::roundBlocks(
      layer, quantizer::rowsByColumns(layer, quantizer::floatsOf(*index.weight(layer.weight))), form);
}

std::vector<std::vector<float>> roundedWeights(const quantizer::Index &index, const Layer &layer, Form form,
                                               const quantizer::Options &options) {
  if (isBlocks(layer, form)) {
    return {quantizer::valuesOf(blocksOf(index, layer, blocksOf(form, layer, options)), layer)};
  }
  std::vector<std::vector<float>> weights;
  for (const auto &[operand, own] : quantizer::weightsOf(quantizer::scaledBy(layer))) {
    weights.push_back(quantizer::valuesOf(
        quantizer::quantizeWeights(quantizer::floatsOf(*index.weight(own.weight)), own, options.weights), own));
  }
  return weights;
}

/// Returns the bytes of a layer's weights in a form, with the constants beside them.
int64_t bytesIn(Form form, const Layer &layer, const quantizer::Options &options) {
  int64_t scale = sizeof(float);
  if (form == Form::Float) {
    return layer.values() * scale;
  }
  if (isBlocks(layer, form)) {
    return quantizer::bytesOf(layer, blocksOf(form, layer, options));
  }
  // A bias becomes steps of 4 bytes as its floats are, with scales beside it.
  Layer own = quantizer::scaledBy(layer);
  bool hasBias = form == Form::Int8 && !layer.bias.empty() && !layer.isRecurrent();
  int64_t scales = options.weights.perTensor ? 1 : own.dims[size_t(own.axis)];
  return quantizer::bytesOf(own, options.weights) + (hasBias ? scales * scale : 0);
}

/// Returns what is best where several choices keep to the budgets: the first measure that has none.
Measure goalOf(const FormCosts &most) {
  const auto *open = llvm::find_if(kMeasures, [&](Measure measure) { return !std::isfinite(most[measure]); });
  return open == std::end(kMeasures) ? Measure::Drop : *open;
}

std::string textOf(Measure measure, double value) {
  switch (measure) {
  case Measure::Drop:
    return "1 - cosine of the outputs is " + numberText(value);
  case Measure::Size:
    return "the file has " + countText(int64_t(value)) + " bytes";
  case Measure::Latency:
    return llvm::formatv("a run takes {0:f1} us", value * 1e6).str();
  }
  return "";
}

} // namespace

/// The forms of all layers, with what they cost.
struct Quantizer::Mixture {
  std::vector<Layer> layers;
  std::vector<std::vector<Form>> forms;
  std::vector<std::vector<FormCosts>> costs;
  FormCosts most;                        ///< what the whole may cost; infinite where nothing is asked for
  double restBytes = 0, restSeconds = 0; ///< what the model has and takes beside its layers, in float
  std::optional<FormCosts> tried;        ///< what the last whole model cost
  Chosen ranges;

  bool counts(Measure measure) const { return std::isfinite(most[measure]) || goalOf(most) == measure; }
  std::vector<Form> allIn(Form form) const; ///< that form for the layers that may have it, float for others
  /// Returns for each layer the number of the form that costs least by one measure.
  std::vector<size_t> leastOf(Measure measure) const {
    std::vector<size_t> least;
    for (const std::vector<FormCosts> &own : costs) {
      auto best =
          llvm::min_element(own, [&](const FormCosts &a, const FormCosts &b) { return a[measure] < b[measure]; });
      least.push_back(size_t(best - own.begin()));
    }
    return least;
  }
  std::vector<Layer> of(llvm::ArrayRef<Form> chosen, llvm::function_ref<bool(const Layer &, Form)> isWanted) const {
    std::vector<Layer> found;
    for (auto [layer, form] : llvm::zip(layers, chosen)) {
      if (isWanted(layer, form)) {
        found.push_back(layer);
      }
    }
    return found;
  }
};

void Quantizer::writeMixed(const Mixture &mixture, llvm::ArrayRef<Form> chosen) {
  seenOfQuantized.reset();
  quantized = model;
  auto found = [&](llvm::ArrayRef<Layer> wanted) { // nodes have other numbers behind each step
    std::vector<Layer> own = quantizer::layersOf(quantized);
    llvm::append_range(own, quantizer::tablesOf(quantized, quantizer::kLeastOfByteTable));
    llvm::erase_if(own, [&](const Layer &layer) {
      return llvm::none_of(wanted, [&](const Layer &other) { return other.name == layer.name; });
    });
    return own;
  };
  std::vector<Layer> bytes = mixture.of(chosen, [](const Layer &, Form form) { return form == Form::Int8; });
  quantizer::writeStatic(quantized, bytes, encodingsOf(bytes, mixture.ranges.ranges), options.weights);
  std::vector<Layer> alone = mixture.of(chosen, [](const Layer &layer, Form form) {
    return form == Form::Int8Weights && !isProduct(layer) && !quantizer::isTable(layer);
  });
  quantizer::writeByteWeights(quantized, found(alone), options.weights);
  quantizer::writeTables(quantized, mixture.of(chosen, [](const Layer &layer, Form form) {
    return form == Form::Int8Weights && quantizer::isTable(layer);
  }));
  std::vector<Layer> products = found(mixture.of(chosen, isBlocks));
  std::vector<quantizer::BlockWeights> weights;
  quantizer::Index index(quantized, *quantized.proto.mutable_graph());
  for (const Layer &layer : products) {
    auto number = llvm::find_if(mixture.layers, [&](const Layer &other) { return other.name == layer.name; });
    weights.push_back(
        blocksOf(index, layer, blocksOf(chosen[size_t(number - mixture.layers.begin())], layer, options)));
  }
  quantizer::writeBlocks(quantized, products, weights);
}

std::vector<Form> Quantizer::Mixture::allIn(Form form) const {
  std::vector<Form> chosen;
  llvm::transform(forms, std::back_inserter(chosen),
                  [&](const std::vector<Form> &own) { return llvm::is_contained(own, form) ? form : Form::Float; });
  return chosen;
}

void Quantizer::addNodes(Mixture &mixture) {
  for (Form form : {Form::Int8, Form::Int8Weights, Form::Int4}) {
    std::vector<Form> chosen = mixture.allIn(form);
    writeMixed(mixture, chosen);
    quantized.mergeConstants();
    double more = double(quantized.proto.ByteSizeLong()) - mixture.restBytes;
    std::vector<double *> own;
    llvm::StringSet<> counted; // several layers may read one weight
    for (size_t i = 0; i < chosen.size(); ++i) {
      double &bytes =
          mixture.costs[i][size_t(llvm::find(mixture.forms[i], chosen[i]) - mixture.forms[i].begin())][Measure::Size];
      more -= counted.insert(mixture.layers[i].weight).second ? bytes : 0;
      if (chosen[i] == form) {
        own.push_back(&bytes);
      }
    }
    for (double *bytes : own) {
      *bytes += more / double(own.size());
    }
  }
}

llvm::Error Quantizer::addTimes(Mixture &mixture) {
  llvm::Expected<DataSet> data = samples.read(0);
  if (!data) {
    return data.takeError();
  }
  double restOfFloat = 0;
  for (Form form : {Form::Float, Form::Int8, Form::Int8Weights, Form::Int4}) {
    writeMixed(mixture, mixture.allIn(form));
    llvm::Expected<ModelRuns::Times> times = timesOf(quantized, *data);
    if (!times) {
      return times.takeError();
    }
    std::vector<double> own;
    double sum = 0;
    for (const Layer &layer : mixture.layers) {
      own.push_back(times->nodes[layer.name + " (" + layer.op + ")"]);
      sum += own.back();
    }
    // Time that the form adds in other kernels, such as those that quantize what layers read, counts as the layers'
    // own.
    double rest = times->run - sum;
    restOfFloat = form == Form::Float ? rest : restOfFloat;
    double factor = sum > 0 ? std::max(0.0, 1 + (rest - restOfFloat) / sum) : 1;
    for (size_t i = 0; i < own.size(); ++i) {
      for (auto [costs, other] : llvm::zip(mixture.costs[i], mixture.forms[i])) {
        if (other == form) {
          costs[Measure::Latency] = own[i] * factor;
        }
      }
    }
  }
  mixture.restSeconds = std::max(restOfFloat, 0.0);
  return llvm::Error::success();
}

llvm::Expected<FormCosts> Quantizer::costsOf(const Mixture &mixture) {
  FormCosts whole;
  quantized.mergeConstants();
  llvm::Expected<std::string> file = fileWith(quantized, {}, nullptr, &whole[Measure::Size]);
  if (!file) {
    return file.takeError();
  }
  llvm::Expected<Compared> compared = comparable();
  if (!compared) {
    return compared.takeError();
  }
  llvm::Expected<double> drop = dropOf(compared->runs, allSamples());
  if (!drop) {
    return drop.takeError();
  }
  seenOfQuantized = std::move(*compared), whole[Measure::Drop] = *drop;
  if (std::isfinite(mixture.most[Measure::Latency])) {
    llvm::Expected<DataSet> data = samples.read(0);
    if (!data) {
      return data.takeError();
    }
    llvm::Expected<ModelRuns::Times> times = timesOf(quantized, *data);
    if (!times) {
      return times.takeError();
    }
    whole[Measure::Latency] = times->run;
  }
  return whole;
}

llvm::Error Quantizer::addCosts(Mixture &mixture) {
  std::vector<Layer> layersOfModel = all();
  llvm::copy_if(layersOfModel, std::back_inserter(mixture.layers), [](const Layer &layer) { return layer.graph == 0; });
  auto encodings = encodingsOf(layers, mixture.ranges.ranges);
  llvm::StringSet<> counted;
  mixture.restBytes = double(model.proto.ByteSizeLong());
  for (const Layer &layer : mixture.layers) {
    mixture.forms.push_back(formsOf(layer));
    mixture.costs.emplace_back(mixture.forms.back().size());
    for (auto [costs, form] : llvm::zip(mixture.costs.back(), mixture.forms.back())) {
      costs[Measure::Size] = double(bytesIn(form, layer, options));
    }
    mixture.restBytes -= counted.insert(layer.weight).second ? mixture.costs.back().front()[Measure::Size] : 0;
  }
  addNodes(mixture);
  for (Form form : {Form::Int8, Form::Int8Weights, Form::Int4}) {
    std::vector<Layer> own;
    std::vector<double *> to;
    for (size_t i = 0; i < mixture.layers.size(); ++i) {
      if (auto found = llvm::find(mixture.forms[i], form); found != mixture.forms[i].end()) {
        own.push_back(mixture.layers[i]);
        to.push_back(&mixture.costs[i][size_t(found - mixture.forms[i].begin())][Measure::Drop]);
      }
    }
    llvm::Expected<std::vector<double>> drops =
        dropsAlone(own, [&](const quantizer::Index &index, const Layer &layer) -> quantizer::Rounded {
          std::vector<std::vector<float>> weights = roundedWeights(index, layer, form, options);
          return {form == Form::Int8 ? std::optional(encodings.at(layer.x)) : std::nullopt, std::move(weights)};
        });
    if (!drops) {
      return drops.takeError();
    }
    for (auto [place, drop] : llvm::zip(to, *drops)) {
      *place = drop;
    }
  }
  return mixture.counts(Measure::Latency) ? addTimes(mixture) : llvm::Error::success();
}

/// Returns the message that no choice of forms keeps to the budgets. It names what the
/// forms take that were tried last or, where none were, what the least forms of all layers take.
llvm::Error Quantizer::noMixture(const Mixture &mixture) const {
  std::string text;
  for (Measure measure : kMeasures) {
    if (std::isfinite(mixture.most[measure]) && measure != Measure::Drop) {
      double least = measure == Measure::Size ? mixture.restBytes : mixture.restSeconds;
      for (auto [costs, form] : llvm::zip(mixture.costs, mixture.leastOf(measure))) {
        least += costs[form][measure];
      }
      text += (text.empty() ? "" : ", ") + textOf(measure, mixture.tried ? (*mixture.tried)[measure] : least);
    }
  }
  return llvm::createStringError(invocation.model.modelPath + ": error: no forms of its layers keep to the budgets" +
                                 (text.empty()    ? ""
                                  : mixture.tried ? "; with the last ones that were tried " + text
                                                  : "; with the least of each alone " + text));
}

void Quantizer::noteForms(const Mixture &mixture, llvm::ArrayRef<Form> forms) {
  for (size_t i = 0; i < mixture.layers.size(); ++i) {
    const Layer &layer = mixture.layers[i];
    Form form = forms[i];
    LayerFacts &fact = factsOf(layer);
    fact.form = support::wordOf(form);
    fact.alone = mixture.costs[i][size_t(llvm::find(mixture.forms[i], form) - mixture.forms[i].begin())][Measure::Drop];
    fact.bytesAfter = bytesIn(form, layer, options);
    if (form == Form::Float) {
      keep(std::string(layer.name), "within the budgets that is the best");
    }
  }
  noteRanges(mixture.of(forms, [](const Layer &, Form form) { return form == Form::Int8; }), mixture.ranges);
}

llvm::Error Quantizer::quantizeMixed() {
  for (const Layer &table : std::vector(tables)) {
    if (table.graph > 0) {
      keep(table.name, "it is in a body of control flow, whose values are not observed");
    }
  }
  llvm::Expected<Chosen> ranges = chooseRanges();
  if (!ranges) {
    return ranges.takeError();
  }
  Mixture mixture;
  mixture.ranges = std::move(*ranges);
  mixture.most[Measure::Drop] = options.maxDrop < 0 ? HUGE_VAL : options.maxDrop;
  mixture.most[Measure::Size] = options.mostBytes < 0 ? HUGE_VAL : double(options.mostBytes);
  mixture.most[Measure::Latency] = options.mostSeconds < 0 ? HUGE_VAL : options.mostSeconds;
  if (llvm::Error error = addCosts(mixture)) {
    return error;
  }
  FormCosts allowed = mixture.most; // what the sums over layers may be
  allowed[Measure::Size] -= mixture.restBytes, allowed[Measure::Latency] -= mixture.restSeconds;
  constexpr int kMostTries = 10;
  for (int i = 0; i < kMostTries; ++i) {
    std::optional<std::vector<size_t>> chosen = quantizer::chooseForms(mixture.costs, allowed, goalOf(mixture.most));
    if (!chosen && std::isfinite(mixture.most[Measure::Size]) && i < kMostTries - 1) {
      chosen = mixture.leastOf(Measure::Size), i = kMostTries - 1; // sums err; the least there is has to be seen
    }
    if (!chosen) {
      break;
    }
    std::vector<Form> forms;
    for (auto [own, number] : llvm::zip(mixture.forms, *chosen)) {
      forms.push_back(own[number]);
    }
    writeMixed(mixture, forms);
    llvm::Expected<FormCosts> whole = costsOf(mixture);
    if (!whole) {
      return whole.takeError();
    }
    mixture.tried = *whole;
    bool keeps = true;
    for (Measure measure : kMeasures) {
      constexpr double kMargin = 0.95; // estimates err, so that a miss is made up for by a little more than it was
      double most = mixture.most[measure], own = (*whole)[measure];
      if (own > most) {
        keeps = false;
        allowed[measure] = measure == Measure::Drop ? allowed[measure] * kMargin * most / own
                                                    : allowed[measure] - (own - most) / kMargin;
      }
    }
    if (keeps) {
      noteForms(mixture, forms);
      if (layers.empty() && tables.empty()) {
        warn(invocation.model.modelPath + ": warning: all layers stay in float: the budgets are as large as the model");
      }
      return llvm::Error::success();
    }
  }
  return noMixture(mixture);
}

} // namespace ingot::driver
