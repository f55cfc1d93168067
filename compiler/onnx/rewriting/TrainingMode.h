// Warns of operators that compute what they do in training, or by statistics that no training can have found. A model
// that is compiled to be run seldom means that: its exporter was not told that training is over, or mixed up weights.
#pragma once
#include "compiler/onnx/Onnx.h"

namespace ingot::onnx {

/// Warns if a node drops elements in every run. It does not where one of its operands says so when the model runs.
void warnIfItDrops(const Node &node, mlir::Value ratio, mlir::Value trainingMode);

/// Warns if a node normalizes by the statistics of what it normalizes, in place of those that training has found.
void warnIfItTakesStatistics(const Node &node);

/// Warns if a node normalizes a channel by the root of a number that has none, because the variance that training has
/// found, a constant, is negative there by more than `epsilon`. All results of such a channel are NaN.
void warnIfItHasNoRoot(const Node &node, mlir::Value variance, double epsilon);

} // namespace ingot::onnx
