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

void warnIfItHasNoRoot(const Node &node, Value variance, double epsilon) {
  std::optional<SmallVector<double>> channels = present(variance) ? floatsOf(variance) : std::nullopt;
  for (auto [channel, found] : llvm::enumerate(channels.value_or(SmallVector<double>()))) {
    if (found + epsilon < 0) {
      SmallString<16> text;
      llvm::APFloat(found).toString(text);
      emitWarning(node.loc) << "the variance of channel " << channel << " is " << text
                            << ", which has no root: all of the channel's results are NaN";
      return;
    }
  }
}

} // namespace ingot::onnx
