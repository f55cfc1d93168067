// Makes pieces of a model whose code a target brings (target/Piece.h): it decides which ops, and makes the kernels that
// they become.
#pragma once
#include "compiler/partition/PlaceNodes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <memory>

namespace ingot::partition {

/// The options for targets that bring code for pieces.
struct PieceOptions {
  std::string suffix = ""; ///< the suffix of the body that they are a part of, where the model has several
  bool isStrict = false;   ///< Piece::isStrict
};

class Pieces {
public:
  Pieces(mlir::func::FuncOp function, const PieceOptions &options, llvm::ArrayRef<Device> devices);
  ~Pieces();

  /// The rules by which ops are offered to a device.
  struct Rules {
    /// Returns why no kernel of the compiler computes an op on a device; empty when one does.
    llvm::function_ref<std::string(mlir::Operation &op, const Device &device)> refusedByKernels;
    /// Returns the device on which the user wants an op; null: the user does not say.
    llvm::function_ref<const Device *(mlir::Operation &op)> wanted;
  };
  /// Offers the ops of the blocks to the devices that bring code, each those that no device before it takes, and asks
  /// for the code of what is claimed and connected. The IR stays as it is. Failure with a message: a target did not
  /// keep to the interface.
  mlir::LogicalResult take(llvm::ArrayRef<mlir::Block *> blocks, const Rules &rules);

  /// Returns why a device does not bring the op's code; empty when it does.
  std::string refusal(mlir::Operation *op, const Device &device) const;

  /// Makes a kernel of each piece; the declaration of its function holds the code.
  void makeKernels();

private:
  struct Taken;
  mlir::LogicalResult takeFrom(mlir::Block &block, const Device &device, const Rules &rules);
  /// Whether an op can be in a piece, and no device before this one takes it.
  bool isOffered(mlir::Operation &op, const Device &device, const Rules &rules) const;
  /// Returns whether the target wants the op, alone; notes why not.
  mlir::FailureOr<bool> isClaimed(mlir::Operation &op, const Device &device);
  /// Asks for the code of a piece, which is taken unless it is refused.
  mlir::LogicalResult compile(std::vector<mlir::Operation *> ops, const Device &device);

  mlir::func::FuncOp function;
  std::string prefix; ///< the prefix of the names of pieces
  bool isStrict;
  llvm::ArrayRef<Device> devices;
  std::vector<Taken> taken;
  std::map<std::string, size_t> known; ///< the first one of `taken` by what makes pieces equal
  llvm::DenseMap<mlir::Operation *, const Device *> deviceOf;
  llvm::DenseMap<std::pair<mlir::Operation *, const Device *>, std::string> reasons;
};

} // namespace ingot::partition
