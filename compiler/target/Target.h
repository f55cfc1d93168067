// The interface between the compiler and a target. A target is a folder of targets/ that nobody else names: CMake finds
// the folder, the registry below is made from the listing. The compiler asks questions; it never asks "which target are
// you".
#pragma once
#include "compiler/target/MachineModel.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>
#include <vector>

struct ingot_device;

namespace mlir {
class Operation;
}

namespace ingot::target {

/// A device of this host with a memory of its own, until it is destroyed. No run may be using it then.
class OpenDevice {
public:
  virtual ~OpenDevice() = default;
  /// For ingot_exec.devices (ingot.h).
  virtual const ingot_device &device() const = 0;
};

/// One thing that a user may write after --target, with a sentence for `ingot targets`.
struct Level {
  std::string spec, sentence;
};

class Target {
public:
  virtual ~Target() = default;

  /// The folder's name; appears in reports and dumps.
  virtual llvm::StringRef name() const = 0;

  /// What `ingot targets` lists.
  virtual std::vector<Level> levels() const = 0;

  /// Whether `spec` (one element of --target) is this target's to resolve.
  virtual bool accepts(llvm::StringRef spec) const = 0;

  /// The machine behind `spec`. The error is the user's: an unknown cpu, a feature that this host lacks for `native`.
  virtual llvm::Expected<MachineModel> machine(llvm::StringRef spec) const = 0;

  /// What this host lacks to run code for `machine`, for a message; empty when it can.
  virtual std::string hostLacks(const MachineModel &machine) const { return ""; }

  /// A device that runs code for `machine`, which has a memory of its own, for runs in this process. The error says why
  /// this host has none.
  virtual llvm::Expected<std::unique_ptr<OpenDevice>> open(const MachineModel &machine) const;

  /// Empty when a kernel rooted at `op` (or made of it) can run here; else the reason, as the partition report prints
  /// it. Called only for ops that some kernel family of the compiler can build, so a CPU usually answers "".
  virtual std::string refuses(mlir::Operation *op, const MachineModel &machine) const = 0;
};

/// All targets of this build, in the order of their folders' names.
const std::vector<std::unique_ptr<Target>> &allTargets();

/// The target that accepts `spec`, or null.
const Target *findTarget(llvm::StringRef spec);

/// The machine behind `spec`, by whichever target accepts it; the error for an unknown one lists what is known.
llvm::Expected<MachineModel> resolveMachine(llvm::StringRef spec);

} // namespace ingot::target
