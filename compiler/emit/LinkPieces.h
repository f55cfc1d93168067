// Code that targets brought (target/Piece.h) becomes a part of the model's object.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace ingot::emit {

/// An ELF object, and the function that it defines for the model.
struct PieceObject {
  std::string symbol, bytes;
};

/// Takes the objects off the declarations that hold them.
std::vector<PieceObject> takePieceObjects(mlir::ModuleOp module);

/// One relocatable object of several, in their order, in which these symbols become local.
llvm::Expected<llvm::SmallVector<char, 0>> linkObjects(llvm::ArrayRef<llvm::ArrayRef<char>> objects,
                                                       llvm::ArrayRef<std::string> local);

/// One object of the model's own and those of its pieces, whose symbols become local.
llvm::Expected<llvm::SmallVector<char, 0>> linkPieces(llvm::StringRef object, llvm::ArrayRef<PieceObject> pieces);

} // namespace ingot::emit
