// Finds what of a model is worth quantizing: products of activations with weights, and the values that they read.
#pragma once
#include "compiler/quantizer/Model.h"

namespace ingot::quantizer {

/// What an operator does with quantized values.
enum class Role {
  None,      ///< it reads floats
  Product,   ///< it has kernels of integers: its first operand and its weights are quantized
  Recurrent, ///< it has kernels of integers: its operand and both weights are quantized, and its state is not
  /// It only moves elements, and moves integers with its result's scale where its result is wanted as integers.
  Carries,
  Reads, ///< it computes with floats in the kernel of a neighbour, and reads integers where there are some
};
Role roleOf(const pb::NodeProto &node);

/// A product of an activation with weights, or a recurrent node, which has two such products.
struct Layer {
  int graph = 0, node = 0; ///< numbers in Model::graphs() and among the nodes of that graph
  std::string name, op;
  std::string x, weight, y;
  std::string bias; ///< empty: there is none that is constant
  int axis = 0;     ///< the axis of the weights' output channels
  /// Returns the axis of their input channels. In front of the two may be axes of several matrices, each of which meets
  /// rows of its own.
  int inputAxis() const { return isRecurrent() ? 2 : axis == 0 ? 1 : axis - 1; }
  int64_t groups = 1;        ///< groups of a convolution, else 1
  std::vector<int64_t> dims; ///< the weights' shape
  /// R, by which an LSTM, GRU or RNN multiplies its state; empty: the layer is none of these
  std::string recurrent;
  std::vector<int64_t> recurrentDims;
  bool isRecurrent() const { return !recurrent.empty(); }
  bool hasMatrices() const { return op == "MatMul" && dims.size() > 2; }
  int64_t values() const;
};

/// Returns the weights of a layer with the numbers of the operands that they are: one, or W and R, which make a layer
/// each.
std::vector<std::pair<int, Layer>> weightsOf(const Layer &layer);

/// Returns the layers in the order of the nodes; those of bodies follow those of the graph around them.
std::vector<Layer> layersOf(Model &model);

/// Returns the Gathers that take rows of tables of at least so many values: those of positions and the like save too
/// little to be worth their error. `x` is empty, and the weights are the first operand.
std::vector<Layer> tablesOf(Model &model, int64_t least);
inline bool isTable(const Layer &layer) { return layer.op == "Gather"; }

} // namespace ingot::quantizer
