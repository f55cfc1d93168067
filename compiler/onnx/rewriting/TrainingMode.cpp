#include "compiler/onnx/rewriting/TrainingMode.h"
#include "compiler/onnx/constants/Constants.h"

using namespace mlir;

namespace ingot::onnx {

void warnIfItDrops(const Node &node, Value ratio, Value trainingMode) {
  bool keepsAll = present(ratio) && splatNumber(ratio) == 0.0;
  std::optional<Number> mode = present(trainingMode) ? splatNumber(trainingMode) : std::nullopt;
  if (!keepsAll && mode && *mode != 0.0) {
    emitWarning(node.loc) << "drops elements at random in every run, because its training mode is on";
  }
}

void warnIfItTakesStatistics(const Node &node) {
  if (node.integer("training_mode", 0)) {
    emitWarning(node.loc) << "normalizes each batch by its own mean and variance, because its training mode is on";
  }
}

} // namespace ingot::onnx
