// Makes weights blocks of integers: rows of weights are scaled by how loud the channels are that they read, and rounded
// to the nearest or by GPTQ (Compensate.cpp).
#include "compiler/driver/quantizing/Quantizer.h"
#include "compiler/quantizer/Adjust.h"
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

quantizer::BlockWeights Quantizer::nearestBlocks(const quantizer::Layer &layer) {
  quantizer::Index index(model, *model.graphs()[size_t(layer.graph)]);
  llvm::ArrayRef<float> weights = quantizer::floatsOf(*index.weight(layer.weight));
  return quantizer::roundBlocks(layer, quantizer::rowsByColumns(layer, weights), blockFormOf(layer));
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
  std::vector<quantizer::BlockWeights> weights(layers.size());
  // Weights of 8 bits lose too little to measure, so there is nothing to compensate.
  if (options.gptq || (options.blockBits() < 8 && options.effort != quantizer::Effort::Quick)) {
    if (llvm::Error error = writeTexts()) {
      return error;
    }
    if (llvm::Error error = compensate(weights)) {
      return error;
    }
  }
  for (auto [layer, own] : llvm::zip(layers, weights)) {
    own = own.values.empty() ? nearestBlocks(layer) : std::move(own);
  }
  quantized = model;
  quantizer::writeBlocks(quantized, layers, weights);
  return llvm::Error::success();
}

} // namespace ingot::driver
