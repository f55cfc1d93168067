// Lets caches stay where they are from one run to the next.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::graph {

/// The names of an input and of the output that continues it; one `*` in each stands for the same text.
using CachePair = std::pair<std::string, std::string>;

/// For an output that is Concat(input, new rows) along an open axis `past`, both become one buffer with `room` rows
/// there (-1: the symbol `past_room`), into which a run writes the new ones; what reads past rows reads a slice of it.
/// `past` is then the length of no input and an argument of its own. Fails with a message for each pair that is no such
/// thing. `function` is simplified, and is to be simplified again.
mlir::LogicalResult shareCaches(mlir::func::FuncOp function, llvm::ArrayRef<CachePair> pairs, int64_t room);

} // namespace ingot::graph
