// Describes ops as a target of pieces sees them.
#pragma once
#include "compiler/onnx/sizes/Shapes.h"
#include "compiler/target/MachineModel.h"
#include "compiler/target/Piece.h"
#include "mlir/IR/Value.h"
#include <deque>

namespace ingot::partition {

/// A piece, and what its numbers stand for.
struct DescribedPiece {
  target::Piece piece;
  std::vector<mlir::Value> values;   ///< as Piece::values
  support::Sizes openSizes;          ///< as Piece::openSizes
  std::deque<std::vector<char>> own; ///< bytes of constants that their attributes do not hold in this form
};

/// Returns why an op can be in no piece, whatever the target; empty when it can.
std::string unfitForPieces(mlir::Operation &op);

/// Describes ops, which are in the order of their block and all fit, for a machine. `symbol` is the function's name.
void describePiece(llvm::ArrayRef<mlir::Operation *> ops, const target::MachineModel &machine, llvm::StringRef symbol,
                   bool isStrict, DescribedPiece &described);

/// Returns a text that is the same for two pieces if, and only if, their code may be the same: it has all but the
/// names.
std::string keyOf(const target::Piece &piece);

} // namespace ingot::partition
