// onnx -> plan: who runs what, and which ops become one kernel.
#pragma once
#include "compiler/target/Target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <string>
#include <vector>

namespace ingot::partition {

/// One element of --target, resolved.
struct Device {
  const target::Target *target;
  target::MachineModel machine;
};

/// Where a node went; the report's line.
struct Placement {
  std::string node, op, device;
  std::string whyNot; ///< what devices earlier in the user's order said
};

/// What targets that bring code for pieces are told.
struct PieceOptions {
  std::string suffix = ""; ///< of the body that they are a part of, where the model has several
  bool isStrict = false;   ///< Piece::isStrict
};

/// Wraps all ops of the function in plan.kernel groups (and views, which cost nothing). A kernel's `target` is its
/// device's spec; the function names those that have a memory of their own (plan.devices). Nodes that no device takes
/// are reported all at once, each with every device's reason. Without `fallback` only the first device may be used.
mlir::LogicalResult formKernels(mlir::func::FuncOp function, llvm::ArrayRef<Device> devices, bool fallback,
                                std::vector<Placement> &report, const PieceOptions &pieceOptions = {});

} // namespace ingot::partition
