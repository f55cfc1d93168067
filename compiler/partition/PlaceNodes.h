// Finds a device for each op that is computed by a kernel, ahead of the forming of kernels.
#pragma once
#include "compiler/support/Size.h"
#include "compiler/target/Target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include <functional>
#include <string>
#include <vector>

namespace ingot::partition {

/// One element of --target, which has been resolved.
struct Device {
  const target::Target *target;
  target::MachineModel machine;
};

/// Returns the machine in whose memory the run is, and that does what is around kernels.
const target::MachineModel &hostOf(llvm::ArrayRef<Device> devices);

/// The place of a node, which is a line of the report.
struct Placement {
  std::string node, op, device;
  std::string whyNot;  ///< what devices earlier in the user's order said, or why they gave it back
  double seconds = -1; ///< estimated seconds; -1: there was nothing to weigh
  int piece = -1;      ///< a number among the convex pieces of devices with memories of their own; -1: it is in none
};

/// A demand of --require DEVICE=Conv,MatMul: these operators run there or nowhere.
struct Demand {
  int device; ///< its number in the user's order
  std::string text;
  std::vector<std::string> ops;
};

/// A line of the file of --placement; the last line that matches a node decides.
struct Override {
  std::string pattern; ///< the name of a node, or a glob
  int device;
  std::string file;
  unsigned line;
};

/// The user's wishes for the placement.
struct Policy {
  bool fallback = true; ///< false: every node must run on the first device
  bool byCost = true;   ///< false: a device keeps whatever it takes
  std::vector<Demand> demands = {};
  std::vector<Override> overrides = {};
  /// Bytes of each device's memory that are not to be counted on; empty: there are none.
  std::vector<int64_t> reserved = {};
  std::vector<std::string> imported = {}; ///< names of all nodes of the model, where there are overrides
  /// Returns the size that estimates take for a symbol that stays open.
  std::function<int64_t(support::Symbol)> sizeOf = [](support::Symbol) { return usualSize; };
  /// The usual size, as for the plan of an arena whose sizes are open.
  static constexpr int64_t usualSize = 128;
};

/// The places of ops that kernels of the compiler compute; those of pieces (Pieces.h) have none.
using Places = llvm::DenseMap<mlir::Operation *, const Device *>;

class Pieces;

/// Asks the devices in the user's order for each op, but for what the policy decides; the first that takes it gets it.
/// Where there are several memories, devices give back what costs more than it gains (PlaceByCost.h) and what their
/// memory has no room for. Targets that bring code for pieces are asked first for what nobody before them takes. Nodes
/// that no device takes, and policies that cannot be kept to, are reported all at once. Each op of a kernel gets the
/// number of its device (onnx::placeName).
mlir::LogicalResult placeNodes(mlir::func::FuncOp function, llvm::ArrayRef<Device> devices, const Policy &policy,
                               Pieces &pieces, std::vector<Placement> &report);

/// Returns the device that computes an op; null where it has none.
const Device *placeOf(mlir::Operation *op, llvm::ArrayRef<Device> devices);

/// Returns the devices of all ops that kernels compute, when each op has the form that its device wants. Ops that were
/// written since the placement are where the ops are whose place they took, or else where their operands or their
/// readers are; if that device does not take them, the first that does gets them. Takes the numbers away. Failure with
/// a message.
mlir::FailureOr<Places> takePlaces(mlir::func::FuncOp function, llvm::ArrayRef<Device> devices, const Policy &policy);

} // namespace ingot::partition
