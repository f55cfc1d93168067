// Rounds weights so that each layer makes up for its own rounding and for that of the layers in front. A model whose
// weights are inputs is compiled once. It runs with the weights as they are, and with those that are rounded so far,
// and what the next layers read in both is all that they need. Layers are taken in waves, of which there are not many
// in deep models, since each runs the whole model on all samples.
#include "compiler/driver/Progress.h"
#include "compiler/driver/quantizing/Quantizer.h"
#include "compiler/importer/ElementType.h"
#include "compiler/quantizer/Compensation.h"
#include "compiler/quantizer/GivenWeights.h"
#include "compiler/quantizer/InverseFactor.h"
#include "compiler/support/Problems.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <set>

namespace ingot::driver {

/// The moments of a value that layers read, and the factors that GPTQ computes of them. All readers share these.
struct Quantizer::Reading {
  explicit Reading(int64_t channels) : fitted(channels), held(channels), all(channels) {}
  /// The moments of the samples that weights are fitted to, those of the samples that are held out to judge the
  /// result, and those of all samples.
  quantizer::ReadMoments fitted, held, all;
  std::vector<double> factorOfFitted = {}, factorOfAll = {};
};

/// The layers that are rounded, and a model to which their weights are given.
struct Quantizer::Rounding {
  std::vector<size_t> numbers; ///< of the layers among `Quantizer::layers`
  std::shared_ptr<ModelRuns> runs;
  std::vector<HostTensor> exact, rounded; ///< the weights, behind the model's own inputs
  std::vector<size_t> held;               ///< samples that judge; empty: nothing does
  bool isRounded = false;                 ///< whether a weight is rounded yet
  /// The outputs of the model with its exact weights, for each sample and text, as long as there is room for them.
  std::map<size_t, std::vector<HostTensor>> kept = {};
  size_t keptBytes = 0;

  /// Runs the model on inputs with weights.
  llvm::Expected<std::vector<HostTensor>> outputs(DataSet data, llvm::ArrayRef<HostTensor> given) const {
    llvm::append_range(data.inputs, given);
    data.sequences.resize(data.inputs.size(), Recorded::kTensor);
    return runs->outputs(data);
  }
  llvm::Expected<std::vector<HostTensor>> exactOutputs(size_t number, const DataSet &data) {
    constexpr size_t kMostBytes = size_t(256) << 20;
    if (auto known = kept.find(number); known != kept.end()) {
      return known->second;
    }
    llvm::Expected<std::vector<HostTensor>> outputs = this->outputs(data, exact);
    size_t bytes = 0;
    for (const HostTensor &output : outputs ? *outputs : std::vector<HostTensor>()) {
      bytes += output.bytes.size();
    }
    if (outputs && keptBytes + bytes <= kMostBytes) {
      kept[number] = *outputs, keptBytes += bytes;
    }
    return outputs;
  }
};

static HostTensor tensorOf(llvm::ArrayRef<float> values, const quantizer::Layer &layer) {
  HostTensor tensor;
  tensor.type = importer::kFloat, tensor.dims = layer.dims;
  const auto *bytes = reinterpret_cast<const char *>(values.data());
  tensor.bytes.assign(bytes, bytes + values.size() * sizeof(float));
  return tensor;
}

llvm::Expected<Quantizer::Rounding> Quantizer::rounding(std::vector<quantizer::BlockWeights> &weights) {
  std::vector<quantizer::Layer> given;
  std::vector<std::string> names;
  std::vector<size_t> numbers;
  for (auto [number, layer] : llvm::enumerate(layers)) {
    if (layer.graph == 0) {
      numbers.push_back(number), given.push_back(layer);
      names.push_back(quantizer::isTable(layer) ? layer.y : layer.x);
    }
  }
  quantizer::Model switched = model;
  quantizer::giveWeights(switched, given);
  llvm::Expected<std::string> file = fileWith(switched, names);
  if (!file) {
    return file.takeError();
  }
  Rounding made{numbers, std::shared_ptr<ModelRuns>(new ModelRuns(runsOf(switched, *file))), {}, {}, {}};
  quantizer::Index index(model, *model.proto.mutable_graph());
  for (auto [number, layer] : llvm::zip(numbers, given)) {
    made.exact.push_back(tensorOf(quantizer::floatsOf(*index.weight(layer.weight)), layer));
    made.rounded.push_back(made.exact.back());
    if (quantizer::isTable(layer)) {
      weights[number] = nearestBlocks(layer);
      made.rounded.back() = tensorOf(quantizer::valuesOf(weights[number], layer), layer);
      made.isRounded = true;
    }
  }
  if (!options.gptq && texts.empty()) {
    made.held = parts().held;
  }
  return made;
}

/// Returns the rows that a layer reads, which are columns of a Gemm's transposed operand. Empty: they are of another
/// number of channels.
static std::vector<float> rowsOf(const HostTensor &tensor, int64_t channels, bool isTransposed) {
  Floats floats(tensor);
  llvm::ArrayRef<float> values = floats;
  if (!isTransposed) {
    return !tensor.dims.empty() && tensor.dims.back() == channels ? values.vec() : std::vector<float>();
  }
  std::vector<float> rows;
  if (tensor.dims.size() == 2 && tensor.dims.front() == channels) {
    for (int64_t row = 0; row < tensor.dims[1]; ++row) {
      for (int64_t c = 0; c < channels; ++c) {
        rows.push_back(values[size_t(c * tensor.dims[1] + row)]);
      }
    }
  }
  return rows;
}

llvm::Error Quantizer::read(Rounding &rounding, std::map<std::string, Reading> &readings,
                            const std::map<std::string, Operand> &operands) {
  for (size_t i = 0; i < samples.size() + texts.size(); ++i) {
    llvm::Expected<DataSet> data = i < samples.size() ? samples.read(i) : texts[i - samples.size()];
    if (!data) {
      return data.takeError();
    }
    llvm::Expected<std::vector<HostTensor>> exact = rounding.exactOutputs(i, *data);
    if (!exact) {
      return exact.takeError();
    }
    std::optional<std::vector<HostTensor>> rounded;
    if (rounding.isRounded) {
      llvm::Expected<std::vector<HostTensor>> got = rounding.outputs(std::move(*data), rounding.rounded);
      if (!got) {
        return got.takeError();
      }
      rounded = std::move(*got);
    }
    Values mine = byName(*exact), others = byName(rounded ? *rounded : *exact);
    bool isHeld = llvm::is_contained(rounding.held, i);
    for (auto &[name, reading] : readings) {
      auto [count, isTransposed] = operands.at(name);
      std::vector<float> own = rowsOf(*mine.lookup(name), count, isTransposed), other;
      if (rounded) {
        other = rowsOf(*others.lookup(name), count, isTransposed);
      }
      (isHeld ? reading.held : reading.fitted).add(own, rounded ? llvm::ArrayRef(other) : llvm::ArrayRef(own));
    }
  }
  return llvm::Error::success();
}

/// Returns what a layer loses on samples by these blocks, less what it loses anyway.
static double lossOf(const quantizer::ReadMoments &read, llvm::ArrayRef<float> exact,
                     const quantizer::BlockWeights &blocks, const quantizer::Layer &layer) {
  std::vector<float> values = quantizer::rowsByColumns(layer, quantizer::valuesOf(blocks, layer));
  int64_t columns = quantizer::columnsOf(layer);
  auto each = size_t(quantizer::rowsOf(layer) * columns);
  double loss = 0;
  for (size_t first = 0; first < exact.size(); first += each) {
    loss += read.loss(exact.slice(first, each), llvm::ArrayRef(values).slice(first, each), columns);
  }
  return loss;
}

quantizer::BlockWeights Quantizer::rounded(const quantizer::Layer &layer, Reading &reading) {
  int64_t rows = quantizer::rowsOf(layer), columns = quantizer::columnsOf(layer);
  quantizer::Index index(model, *model.proto.mutable_graph());
  std::vector<float> exact = quantizer::rowsByColumns(layer, quantizer::floatsOf(*index.weight(layer.weight)));
  auto by = [&](const quantizer::ReadMoments &read, std::vector<double> &factor) {
    if (factor.empty()) {
      factor = quantizer::inverseFactor(read.moments(), rows);
    }
    return quantizer::blocksByMatrix(layer, exact, [&](llvm::ArrayRef<float> matrix) {
      return quantizer::compensated(read, matrix, rows, columns, blockFormOf(layer), factor);
    });
  };
  if (reading.held.hasMoments() && reading.fitted.hasMoments()) {
    quantizer::BlockWeights nearest = nearestBlocks(layer);
    quantizer::BlockWeights tried = by(reading.fitted, reading.factorOfFitted);
    if (lossOf(reading.held, exact, nearest, layer) <= lossOf(reading.held, exact, tried, layer)) {
      return nearest;
    }
  }
  if (!reading.all.hasMoments()) {
    if (options.gptq) {
      warn(invocation.model.modelPath + ": warning: node " + support::quoted(layer.name) + " (" + layer.op +
           ") is rounded to the nearest, not by GPTQ: what it reads, " + support::quoted(layer.x) +
           ", is 0, infinite or too large in all samples");
    }
    return nearestBlocks(layer);
  }
  return by(reading.all, reading.factorOfAll);
}

llvm::Error Quantizer::roundWave(Rounding &rounding, llvm::ArrayRef<size_t> wave,
                                 std::vector<quantizer::BlockWeights> &weights) {
  std::map<std::string, Operand> operands;
  std::map<std::string, Reading> readings;
  for (size_t place : wave) {
    const quantizer::Layer &layer = layers[rounding.numbers[place]];
    const importer::pb::NodeProto &node = model.proto.graph().node(layer.node);
    operands[layer.x] = {quantizer::rowsOf(layer), quantizer::intOf(node, "transA", 0) != 0};
    readings.try_emplace(layer.x, quantizer::rowsOf(layer));
  }
  if (llvm::Error error = read(rounding, readings, operands)) {
    return error;
  }
  for (auto &entry : readings) {
    Reading &reading = entry.second;
    reading.all.add(reading.fitted), reading.all.add(reading.held);
  }
  for (size_t place : wave) {
    const quantizer::Layer &layer = layers[rounding.numbers[place]];
    quantizer::BlockWeights &own = weights[rounding.numbers[place]];
    own = rounded(layer, readings.at(layer.x));
    rounding.rounded[place] = tensorOf(quantizer::valuesOf(own, layer), layer);
  }
  rounding.isRounded = true;
  return llvm::Error::success();
}

llvm::Error Quantizer::compensate(std::vector<quantizer::BlockWeights> &weights) {
  constexpr int64_t kMostBytes = int64_t(1) << 30; // of the moments of a wave
  if (samples.size() + texts.size() < (options.gptq || !texts.empty() ? 1 : 2)) {
    return llvm::Error::success(); // a sample cannot judge what is made of it
  }
  llvm::Expected<Rounding> made = rounding(weights);
  if (!made) {
    return made.takeError();
  }
  std::vector<size_t> places; // of the products among those whose weights are given
  std::set<std::string> values;
  for (auto [place, number] : llvm::enumerate(made->numbers)) {
    if (!quantizer::isTable(layers[number])) {
      places.push_back(place), values.insert(layers[number].x);
    }
  }
  size_t mostWaves = options.effort == quantizer::Effort::Quick      ? 1
                     : options.effort == quantizer::Effort::Thorough ? values.size()
                                                                     : 16;
  size_t each = llvm::divideCeil(values.size(), std::max<size_t>(1, mostWaves));
  ProgressBar bar(true, /*inLogs=*/true);
  for (size_t first = 0, last = 0; first < places.size(); first = last) {
    std::set<std::string> own; // values that the wave reads
    int64_t bytes = 0;
    for (; last < places.size(); ++last) {
      const quantizer::Layer &layer = layers[made->numbers[places[last]]];
      int64_t n = quantizer::rowsOf(layer), more = own.count(layer.x) ? 0 : 6 * n * n * int64_t(sizeof(float));
      if (!own.empty() && more > 0 && (own.size() == each || bytes + more > kMostBytes)) {
        break;
      }
      own.insert(layer.x), bytes += more;
    }
    if (llvm::Error error = roundWave(*made, llvm::ArrayRef(places).slice(first, last - first), weights)) {
      return error;
    }
    bar.show(int(last), int(places.size()), "layers rounded by GPTQ");
  }
  return llvm::Error::success();
}

} // namespace ingot::driver
