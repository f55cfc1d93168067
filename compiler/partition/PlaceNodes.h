// Chooses a device for each op that a kernel will compute, before ops are grouped to kernels. It has two steps:
//
//   placeNodes   asks the devices in the user's order, weighs costs, and marks each op with its device's number
//   takeDevices  after the ops were rewritten to what their devices want: reads the marks, and removes them
#pragma once
#include "compiler/support/Size.h"
#include "compiler/target/Target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include <functional>
#include <string>
#include <vector>

namespace ingot::partition {

/// A device: one element of --target, with its target and the machine that it stands for.
struct Device {
  const target::Target *target;
  target::MachineModel machine;
};

/// Returns the host's machine: inputs and outputs of a run are in its memory, and it does all work outside of kernels.
const target::MachineModel &hostOf(llvm::ArrayRef<Device> devices);

/// The place of a node, which is a line of the report.
struct Placement {
  std::string node, op, device;
  std::string whyNot;  ///< why devices earlier in the user's order refused the node, or gave it back
  double seconds = -1; ///< estimated seconds of a run for this node; -1: no costs were compared
  int piece = -1;      ///< the number of its convex piece, of a device with its own memory; -1: it is in none
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
  /// For each device the bytes of its memory that the model must leave free; empty: none.
  std::vector<int64_t> reserved = {};
  std::vector<std::string> imported = {}; ///< names of all nodes of the model, where there are overrides
  /// Returns the size that estimates of costs assume for a symbol that is open.
  std::function<int64_t(support::Symbol)> sizeOf = [](support::Symbol) { return usualSize; };
  /// The size that is assumed where nothing is known. The plan of an arena with open sizes assumes the same.
  static constexpr int64_t usualSize = 128;
};

/// The devices of ops that kernels of the compiler compute. Ops of pieces (Pieces.h), whose code a target brings, have
/// no entry.
using DeviceMap = llvm::DenseMap<mlir::Operation *, const Device *>;

class Pieces;

/// Asks the devices in the user's order for each op that the policy does not decide; the first that takes it gets it.
/// Where there are several memories, devices give back what costs more than it gains (PlaceByCost.h) and what their
/// memory has no room for. Targets that bring code for pieces are asked first for what nobody before them takes. Nodes
/// that no device takes, and policies that cannot be kept to, are reported all at once. Each op of a kernel gets the
/// number of its device (onnx::placeName).
mlir::LogicalResult placeNodes(mlir::func::FuncOp function, llvm::ArrayRef<Device> devices, const Policy &policy,
                               Pieces &pieces, std::vector<Placement> &report);

/// Returns the device that computes an op; null where it has none.
const Device *deviceOf(mlir::Operation *op, llvm::ArrayRef<Device> devices);

/// Returns the devices of all ops that kernels compute, when each op has the form that its device wants, and removes
/// the marks of placeNodes(). An op that was made since then has the device of the op that it replaced, or else that of
/// its operands or readers; if that device does not take it, the first one that does gets it. Failure with a message.
mlir::FailureOr<DeviceMap> takeDevices(mlir::func::FuncOp function, llvm::ArrayRef<Device> devices,
                                       const Policy &policy);

} // namespace ingot::partition
