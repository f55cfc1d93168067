// Declares the interface between the compiler and a target. A target is a folder of targets/ that nobody else names:
// CMake finds the folder, and the registry below is made from the listing; or it comes from a shared object (PlugIn.h).
// The compiler asks questions; it never asks "which target are you".
#pragma once
#include "compiler/target/MachineModel.h"
#include "compiler/target/OpTime.h"
#include "compiler/target/Platform.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct ingot_device;

namespace mlir {
class Operation;
}

namespace ingot::lower {
class KernelFamily;
}

namespace ingot::target {

class ImageTarget;
class PieceTarget;

/// A device of this host with a memory of its own, until it is destroyed. No run may be using it then.
class OpenDevice {
public:
  virtual ~OpenDevice() = default;
  /// Returns the device for ingot_exec.devices (ingot.h).
  virtual const ingot_device &device() const = 0;
};

/// One thing that a user may write after --target, with a sentence for `ingot targets`.
struct Level {
  std::string spec, sentence;
};

/// A target. All of its methods are defined here, since a target in a shared object finds nothing of the compiler.
class Target {
public:
  virtual ~Target() = default;

  /// Returns the folder's name, which appears in reports and dumps.
  virtual llvm::StringRef name() const = 0;

  /// Returns what `ingot targets` lists.
  virtual std::vector<Level> levels() const = 0;

  /// Whether `spec` (one element of --target) is this target's to resolve.
  virtual bool accepts(llvm::StringRef spec) const = 0;

  /// Returns the machine behind `spec`. The error is the user's: an unknown cpu, or a feature that this host lacks for
  /// `native`.
  virtual llvm::Expected<MachineModel> machine(llvm::StringRef spec) const = 0;

  /// Returns the width of addresses, the arithmetic without instructions and so on of a machine of this target, whose
  /// triple may be another one than machine() gave it (--triple).
  virtual Platform platform(const MachineModel &machine) const { return Platform::of(machine.triple); }

  /// Returns all instructions of Instructions.def that some machines of this target have: machine() chooses from these
  /// rows (LlvmCpus::takeInstructions), and C++ source finds by them what an intrinsic does.
  virtual llvm::ArrayRef<InstructionRow> instructions() const { return {}; }

  /// Returns what this host lacks to run code for `machine`, for a message; empty: nothing.
  virtual std::string hostLacks(const MachineModel &machine) const { return ""; }

  /// Opens a device that runs code for `machine`, which has a memory of its own, for runs in this process. The error
  /// says why this host has none.
  virtual llvm::Expected<std::unique_ptr<OpenDevice>> open(const MachineModel &machine) const {
    return llvm::createStringError("target '" + machine.spec + "' opens no devices in this process");
  }

  /// Returns why a kernel rooted at `op` (or made of it) cannot run here, as the partition report prints it; empty: it
  /// can. This is called only for ops that some kernel family of the compiler can build, so a CPU usually answers "".
  virtual std::string refuses(mlir::Operation *op, const MachineModel &machine) const = 0;

  /// Returns a kernel family of the target's own for kernels rooted at `op`, or where `op` is null for those without a
  /// root, which are elementwise (compiler/lower/Family.h). It lives as long as the target; null: the compiler's is
  /// used. refuses() is asked in either case.
  virtual const lower::KernelFamily *family(mlir::Operation *op, const MachineModel &machine) const { return nullptr; }

  /// Whether the compiler's families build kernels for `machine` where the target has none of its own. CPUs take them;
  /// of a device each work item would be a thread, so that its target has to say so, and is refused the op otherwise.
  virtual bool takesCompilersFamilies(const MachineModel &machine) const { return !machine.hasOwnMemory; }

  /// Replaces `op`, of MLIR's math dialect or an arith.remf in the loops of a kernel, by instructions that the machine
  /// has for it, and returns whether it did; otherwise the compiler writes arithmetic. Where kernels may become C++
  /// source, these are ops which that can say.
  virtual bool replaceMath(mlir::Operation *op, const MachineModel &machine) const { return false; }

  /// Returns about how many seconds `op`, whose `work` has been counted, takes in a kernel that has begun. The
  /// partitioner asks this of machines that have memories of their own, and of the others beside them; the default goes
  /// by the machine's rates.
  virtual double seconds(mlir::Operation *op, const Work &work, const MachineModel &machine) const {
    return secondsFor(work, ratesOf(machine));
  }

  /// Returns the maker of images for the kernels of `machine`, a device with a memory of its own whose code the host
  /// cannot run (Image.h). It lives as long as the target. Null: the kernels stay functions of the host's object.
  virtual const ImageTarget *images(const MachineModel &machine) const { return nullptr; }

  /// Returns the maker of the code of whole pieces, for a target that brings it; refuses() is not asked then, and
  /// machine() names no machine of its own: what stands around the pieces is code for the host's.
  virtual const PieceTarget *pieces() const { return nullptr; }
};

/// Returns all targets: those of this build in the order of their folders' names, then those that have been loaded.
const std::vector<std::unique_ptr<Target>> &allTargets();

/// Adds the target in a shared object (PlugIn.h). The error is the user's, "FILE: error: text".
llvm::Error loadTarget(const std::string &path);

/// Returns the target that accepts `spec`, or null.
const Target *findTarget(llvm::StringRef spec);

/// Returns the instruction for which some target has this name of LLVM's.
std::optional<Instruction> instructionOf(llvm::StringRef intrinsic);

/// Returns the machine behind `spec`, by whichever target accepts it; the error for an unknown one lists what is known.
llvm::Expected<MachineModel> resolveMachine(llvm::StringRef spec);

/// Returns the machine that `native` means here; nothing where no target knows this host.
std::optional<MachineModel> hostMachine();

/// Returns the highest level of this host's architecture that the host can run code for, as a program asks for it
/// (ingot_exec::level); 0 where no target knows this host.
int32_t hostLevel();

/// Returns the name of this host's CPU, as --target takes it.
std::string hostCpu();

} // namespace ingot::target
