// A kernel family says which ops may be the root of its kernels, what else may be in such a kernel and in which layout
// it works, and writes the loops. A family is a file of families/ (found by folder) that defines
//   std::unique_ptr<KernelFamily> ingot::lower::create<Stem>Family();
// and nobody names it; a target may bring others for its machines (target::Target::family). See families/Running.cpp
// for a small one.
#pragma once
#include "compiler/lower/core/Group.h"
#include "compiler/lower/core/Schedules.h"
#include "compiler/plan/Model.h"
#include <array>
#include <functional>
#include <memory>

namespace ingot::lower {

struct Build;
struct Rows;

/// Threads that work on an item together, where a machine has blocks of such: an item is a block. They share memory and
/// wait for each other (core/Threads.h). Only a target whose images launch them may have kernels with a grid.
struct Grid {
  std::array<int64_t, 3> threads = {1, 1, 1};
  int64_t sharedBytes = 0;
};

/// What a kernel needs besides its operands. It may depend on the region, the types, on which operands are constants,
/// and the machine.
struct KernelShape {
  /// Independent work items: the function runs items [begin, end). Any split gives the same bits; 1 when the kernel is
  /// not split.
  support::Size items = 1;
  /// Threads of an item; nothing: one, wherever that runs.
  std::optional<Grid> grid = {};
  /// Scratch for the whole launch; a family that splits work gives each item a piece of its own, or sets items to 1.
  support::Size scratchBytes = 0;
  /// The kernel may find a bad index or bound in data and calls Build::fail.
  bool checked = false;
  /// Multiplications with accumulation that it takes, where they are not those of its ops' definitions.
  std::optional<support::Size> multiplyAdds;
  bool ofTiles = false; ///< they are those of matrix registers
  /// What it says then (an ingot_error_kind), where that is something else.
  std::optional<int64_t> error;
  /// The kernel gets the run's ingot_exec (Build::exec), and any status of it ends the run.
  bool takesExec = false;
  /// Kernel operands in whose buffer the first result may lie, where it has the operand's type and nobody reads that
  /// operand any more: each element of it is read before the result's element at that place is written, and never
  /// after.
  llvm::SmallVector<int64_t> inPlace;
  /// The kernel operand that the first result begins with: it is not copied where the result lies in its buffer.
  std::optional<int64_t> extends;
  /// Operand number -> how that constant operand is packed into the weights section. Constants without a recipe are
  /// copied as they are.
  std::map<unsigned, plan::WeightTable::Recipe> packed;
  /// The operand, if any, that its recipe makes float32 of, whatever the constant has.
  std::optional<unsigned> packedAsFloats;
  /// Writes the body with all that was decided for this shape: what KernelFamily::build calls by default.
  std::function<void(Build &)> build = {};
  /// Which algorithm was chosen, and what else there was (Algorithm.h), for people. Empty: there was no choice.
  std::string choice = {};

  /// Of a root that is its first operand with some elements replaced: the result may lie there, unless the root reads
  /// that tensor once more.
  void replaces(mlir::Value first);
};

/// What a kernel needs that makes some rows of its result at a time, as a member of a chain (Chain.h): of a blocked
/// image with two spatial axes of known sizes.
struct RowShape {
  int64_t step = 1, start = 0, reach = 1; ///< row r reads rows [r * step + start, r * step + start + reach) of the data
  std::map<unsigned, plan::WeightTable::Recipe> packed; ///< as KernelShape's
  int64_t weightBytes = 0;                              ///< read again for each few rows
  double cycles = 0, alone = 0; ///< expected of an image in the second cache, weights read once: by rows, and else
  /// Writes the loops over some rows; the build's work items do not count.
  std::function<void(Build &, const Rows &)> build = {};
};

/// Rows [from, to) of an image of the result.
struct Rows {
  Ix image, from, to;
};

/// All that a family gets to write one kernel's function.
struct Build {
  Writer &w;
  Group &group;
  Ix begin, end;         ///< the work items to run
  Buffer scratch;        ///< i8; null when KernelShape::scratchBytes is 0
  Buffer status;         ///< one i32, for checked kernels
  mlir::Value exec = {}; ///< null when KernelShape::takesExec is not set

  /// Makes the run end with INGOT_ERROR_INDEX (or `kind`: INGOT_ERROR_SIZE, for an op that finds a size) for this node
  /// when `bad` (i1) is true. The builder goes on: it must clamp the value so that nothing outside a tensor is touched
  /// meanwhile.
  void failIf(mlir::Value bad);
  void failIf(mlir::Value bad, int64_t kind);
};

/// How a family wants operand 0 of the root (the data) and its result.
enum class LayoutRule {
  Plain,          ///< row-major, both
  Blocked,        ///< channels in blocks of the vector length, both: [N][C/lanes][spatial...][lanes]
  PlainToBlocked, ///< reads row-major, writes blocked (a first convolution with few channels)
  BlockedToPlain, ///< reads blocked, writes row-major (a last convolution with few channels)
  Follow,         ///< either, the same for all operands of the result's shape and the result
  /// All channels of a pixel together, both: [N][spatial...][channels], which is one block as long as there are
  /// channels. Only families of targets ask for it; kernels without a root follow.
  ChannelsLast,
};

class KernelFamily {
public:
  virtual ~KernelFamily() = default;

  /// The ops that may be the root of its kernels, by their classes' ids (rootsOf).
  virtual llvm::SmallVector<mlir::TypeID> roots() const = 0;
  /// Whether it is this family's to build a kernel of `root`, where another one has the same op among its roots.
  virtual bool isFor(mlir::Operation *root) const { return true; }
  /// Empty when it can build a kernel of `root` for the machine; else the reason, for the partition's report and the
  /// message that lists all that cannot be compiled.
  virtual std::string unsupported(mlir::Operation *root, const target::MachineModel &machine) const { return {}; }
  /// Whether elementwise consumers of the (single) result may be applied to its vectors in registers.
  virtual bool fusesEpilogue(mlir::Operation *root) const { return true; }
  /// Whether elementwise producers of this operand may be computed where it is read.
  virtual bool readsThrough(mlir::Operation *root, unsigned operand) const { return false; }
  virtual LayoutRule layoutRule(mlir::Operation *root, const target::MachineModel &machine) const {
    return LayoutRule::Plain;
  }
  /// Zeros that it reads around operand 0 in blocked layout: (before, after) of each spatial axis. Empty: none.
  virtual llvm::SmallVector<int64_t> halo(mlir::Operation *root) const { return {}; }

  /// What those are where they are not zeros.
  virtual int64_t fill(mlir::Operation *root) const { return 0; }

  /// Marks the root with what the values of constants decide about the loops: kernels that are equal but for those
  /// values are built once.
  virtual void mark(plan::KernelOp kernel) const {}
  virtual KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const = 0;
  /// The schedules that the kernel can be told to have (lower/core/Schedules.h); nothing: it has one.
  virtual std::optional<target::ScheduleChoices> schedules(plan::KernelOp kernel,
                                                           const target::MachineModel &machine) const {
    return std::nullopt;
  }
  /// Writes the body. `shape` is what shape() said for this kernel.
  virtual mlir::LogicalResult build(Build &build, const KernelShape &shape) const;

  /// What the kernel needs as a member of a chain; nothing: it cannot be one.
  virtual std::optional<RowShape> rowShape(plan::KernelOp kernel, const target::MachineModel &machine) const {
    return std::nullopt;
  }

  std::string stem; ///< of its file; the names of its kernels begin with it

protected:
  template <typename... Ops> static llvm::SmallVector<mlir::TypeID> rootsOf() { return {mlir::TypeID::get<Ops>()...}; }
};

/// The family that builds kernels of `root` for a machine: one of its target's own, or else the compiler's, if the
/// target takes those. Null when there is none, or the op is no root.
const KernelFamily *familyFor(mlir::Operation *root, const target::MachineModel &machine);
/// Whether there is a family for kernels of elementwise ops alone.
bool hasElementwiseFamily(const target::MachineModel &machine);
/// The family that has an op of this class among its roots, by its name; the first of several, and empty where there is
/// none.
std::string familyNameOf(mlir::TypeID root);
/// The family that builds a kernel, which the partition gave the machine or a later phase has to have there.
const KernelFamily &familyOf(plan::KernelOp kernel, const target::MachineModel &machine);
/// The constant behind a root operand (through the region's argument), or null.
mlir::ElementsAttr constantOperand(plan::KernelOp kernel, mlir::Value regionValue);
/// The kernel operand number of a root operand; -1 when it is computed in the region.
int operandNumber(mlir::Value regionValue);

// What several families answer.

/// Whether some rows of a tensor can be made at a time (RowShape).
bool isImageOfRows(mlir::RankedTensorType type);

/// What is wrong where a size is neither a number nor an expression.
std::string whyUnsized(mlir::Operation *root);
/// Whether the axes are all but the first two of a tensor of this rank, which has more.
bool isSpatial(llvm::ArrayRef<int64_t> axes, int64_t rank);
/// What is wrong with the shapes of a gather or scatter.
std::string whyNotIndexed(mlir::Operation *root);

/// The machine of a kernel's `target` attribute.
using MachineOf = llvm::function_ref<const target::MachineModel &(llvm::StringRef)>;

} // namespace ingot::lower
