// Fusions: canonical forms that exporters write as many ops. Each fusion is one file of this folder, named for what it
// makes, and defines
//   void ingot::fusion::populate<Stem>(mlir::RewritePatternSet &);
// which CMake finds by the file's name. docs/fusion.md says which forms need none.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::fusion {

/// Applies all fusions until none applies; `strict`: only those that keep the model's own order of operations.
mlir::LogicalResult fuse(mlir::func::FuncOp function, bool strict = false);

} // namespace ingot::fusion
