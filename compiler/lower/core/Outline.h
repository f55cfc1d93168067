// Moves parts of a function into functions of their own. LLVM's passes take longer than in proportion to a function, so
// what grows with the model (a run of many launches, a concatenation of many tensors) is cut into pieces.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::lower {

/// A function that was made of some blocks of another, and what the other has to call it with.
struct Outlined {
  mlir::func::FuncOp function;
  llvm::SmallVector<mlir::Value> arguments;
};

/// Moves blocks of a function into a new private function behind it, without results, whose entry is the first of them;
/// terminators are the caller's to mend. Its arguments are the values from around the blocks, in the order of their
/// first uses and with the attributes that they have as arguments there, and then those of `last`. Constants are made
/// anew instead.
Outlined outline(mlir::func::FuncOp from, llvm::StringRef name, llvm::iterator_range<mlir::Region::iterator> blocks,
                 llvm::ArrayRef<mlir::Value> last = {});

/// Cuts the one block of a kernel's function into functions of a bounded number of loops, which it calls instead, where
/// it has far more. Each is made known to `symbols`. A kernel of which only the calls are left is marked
/// (plan::partsName): it may have as many operands as the model has nodes, and LLVM would take the square of their
/// number to give them attributes.
void cutLoops(mlir::func::FuncOp kernel, mlir::SymbolTable &symbols);

} // namespace ingot::lower
