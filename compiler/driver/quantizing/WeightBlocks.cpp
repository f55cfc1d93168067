// Makes weights blocks of integers: rows of weights are scaled by how loud the channels are that they read, and rounded
// to the nearest or by GPTQ.
#include "compiler/driver/Progress.h"
#include "compiler/driver/quantizing/Quantizer.h"
#include "compiler/quantizer/Adjust.h"
#include "compiler/quantizer/InverseFactor.h"
#include "compiler/support/Problems.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

namespace ingot::driver {

/// Returns the power of each channel that a normalization makes, from its scale and bias; empty: none makes the value.
static std::vector<double> normalizedPowers(const quantizer::Index &index, const quantizer::pb::GraphProto &graph,
                                            const std::string &value, size_t channels) {
  int number = index.producer(value);
  if (number < 0 || graph.node(number).op_type() != "LayerNormalization") {
    return {};
  }
  std::vector<double> powers(channels);
  for (int operand = 1; operand < graph.node(number).input_size(); ++operand) {
    const quantizer::pb::TensorProto *tensor = index.weight(graph.node(number).input(operand));
    if (!tensor || quantizer::floatsOf(*tensor).size() != channels) {
      return {};
    }
    for (auto [power, value] : llvm::zip(powers, quantizer::floatsOf(*tensor))) {
      power += double(value) * double(value);
    }
  }
  return powers;
}

llvm::Error Quantizer::scaleForBlocks() {
  std::map<std::string, quantizer::Channels> channels;
  if (samples.size() > 0) {
    llvm::Expected<std::map<std::string, quantizer::Channels>> observed = channelsOf();
    if (!observed) {
      return observed.takeError();
    }
    channels = std::move(*observed);
  }
  quantizer::Index index(model, *model.proto.mutable_graph());
  std::map<std::string, std::vector<float>> factors;
  for (const auto &[value, readers] : quantizer::readersOf(layers)) {
    size_t count = quantizer::WeightChannels(*readers.front()).inputCount();
    std::vector<double> powers =
        channels.count(value) ? channels[value].powers() : normalizedPowers(index, model.proto.graph(), value, count);
    if (powers.size() != count || readers.front()->op == "Conv" || !quantizer::isFree(model, layers, value, readers)) {
      continue;
    }
    double least = HUGE_VAL;
    for (double strength : {0.0, 0.25, 0.5, 0.75, 1.0}) {
      std::vector<float> by;
      for (double power : powers) {
        constexpr double kMost = 1e4;
        by.push_back(power > 0 ? float(std::clamp(std::pow(power, strength / 2), 1 / kMost, kMost)) : 1);
      }
      double loss = 0;
      for (const quantizer::Layer *layer : readers) {
        std::vector<float> weights =
            quantizer::rowsByColumns(*layer, quantizer::floatsOf(*index.weight(layer->weight)));
        int64_t rows = quantizer::rowsOf(*layer), columns = quantizer::columnsOf(*layer);
        auto each = size_t(rows * columns);
        for (size_t start = 0; start < weights.size(); start += each) {
          loss += quantizer::lossOfBlocks(llvm::ArrayRef(weights).slice(start, each), rows, columns,
                                          blockFormOf(*layer), powers, by);
        }
      }
      // Where little is gained, the weights stay as they are: rounding is no better for being done elsewhere.
      constexpr double kWorth = 0.5;
      double weighted = strength > 0 ? loss : loss * kWorth;
      if (weighted < least) {
        least = weighted;
        factors.erase(value);
        if (strength > 0) {
          factors[value] = by;
        }
        for (const quantizer::Layer *layer : readers) {
          factsOf(*layer).smoothing = strength > 0 ? strength : -1;
        }
      }
    }
  }
  smooth(factors);
  return llvm::Error::success();
}

llvm::Error Quantizer::quantizeBlocks() {
  for (const quantizer::Layer &layer : std::vector(layers)) {
    if (layer.op == "Conv" || layer.isRecurrent()) {
      keep(layer.name, "weights by block are for products of matrices");
    }
  }
  if (options.gptq) {
    keepBodies();
  }
  if (llvm::Error error = checkLeft()) {
    return error;
  }
  if (llvm::Error error = scaleForBlocks()) {
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
    weights.push_back(quantizer::roundBlocks(
        layer, quantizer::rowsByColumns(layer, quantizer::floatsOf(*index.weight(layer.weight))), blockFormOf(layer)));
  }
  quantized = model;
  quantizer::writeBlocks(quantized, layers, weights);
  return llvm::Error::success();
}

/// Compensates by GPTQ, which needs a matrix of moments for each operand. Those of a group of layers that fit into some
/// memory are gathered at a time, so that memory does not grow with the model.
llvm::Error Quantizer::compensate(std::vector<quantizer::BlockWeights> &weights) {
  constexpr int64_t kMostBytes = int64_t(1) << 30;
  ProgressBar bar(true, /*inLogs=*/true);
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
    llvm::Expected<Observation *> observing = ofModel();
    if (!observing) {
      return observing.takeError();
    }
    llvm::Error error = observe(**observing, allSamples(), [&](const Values &values, size_t) {
      for (const std::string &name : names) {
        channels[name].addMoments(Floats(*values.lookup(name)), rows[name]);
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
      std::vector<float> exact = quantizer::rowsByColumns(layer, quantizer::floatsOf(*index.weight(layer.weight)));
      int64_t columns = quantizer::columnsOf(layer);
      const quantizer::Channels &read = channels[layer.x];
      weights.push_back(quantizer::blocksByMatrix(layer, exact, [&](llvm::ArrayRef<float> matrix) {
        quantizer::BlockWeights blocks = quantizer::compensateBlocks(matrix, own, columns, blockFormOf(layer), factor);
        if (read.hasMoments()) {
          quantizer::refineBlocks(blocks, matrix, own, columns, read.moments());
        }
        return blocks;
      }));
      bar.show(int(first + 1), int(count), "layers rounded by GPTQ");
    }
  }
  return llvm::Error::success();
}

} // namespace ingot::driver
