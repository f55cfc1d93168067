// What of a model is worth quantizing: products of activations with weights, and the values that they read.
#pragma once
#include "compiler/quantizer/Model.h"

namespace ingot::quantizer {

/// What an operator wants quantized.
enum class Role {
  None,      ///< reads floats
  Product,   ///< has kernels of integers: its first operand and its weights are quantized
  Recurrent, ///< likewise; both of its weights are, and its state is not
  Carries, ///< only moves elements: it moves integers where its result is wanted as such, with the scale of its result
  Reads,   ///< computes with floats in the kernel of a neighbour: it reads integers where there are some
};
Role roleOf(const pb::NodeProto &node);

/// A product of an activation with weights, or a recurrent node with two such.
struct Layer {
  int graph = 0, node = 0; ///< of Model::graphs(), of its nodes
  std::string name, op;
  std::string x, weight, y;
  std::string bias;          ///< empty: none that is constant
  int axis = 0;              ///< of the weights: the output channels; the input channels are the other one of two
  int64_t groups = 1;        ///< of a convolution
  std::vector<int64_t> dims; ///< of the weights
  std::string recurrent;     ///< R, which an LSTM, GRU or RNN multiplies its state with; empty: it is none of these
  std::vector<int64_t> recurrentDims;
  bool isRecurrent() const { return !recurrent.empty(); }
  int64_t values() const;
};

/// Weights of a layer by the operands that they are: one, or W and R, a layer each.
std::vector<std::pair<int, Layer>> weightsOf(const Layer &layer);

/// In the order of the nodes, bodies behind the graph that holds them.
std::vector<Layer> layersOf(Model &model);

/// Tables that are worth having in few bits, by the Gathers that take rows of them: `x` is empty, and the weights are
/// the first operand.
std::vector<Layer> tablesOf(Model &model);
inline bool isTable(const Layer &layer) { return layer.op == "Gather"; }

} // namespace ingot::quantizer
