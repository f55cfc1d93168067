// A kernel family says which ops may be the root of its kernels, what else may be in such a kernel, and in which layout
// it works, and it writes the loops. A family is a file of families/ (found by folder) that defines
//   std::unique_ptr<KernelFamily> ingot::lower::create<Stem>Family();
// Nothing else names it. A target may bring others for its machines (target::Target::family). families/Cumulative.cpp
// is a small one.
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

/// The threads that work on an item together, on a machine that has blocks of threads: an item is one block. They share
/// memory and wait for each other (core/Threads.h). Only a target whose images launch such blocks may have kernels with
/// a grid.
struct Grid {
  std::array<int64_t, 3> threads = {1, 1, 1};
  int64_t sharedBytes = 0;
};

/// What a kernel needs besides its operands. It may depend on the region, the types, which operands are constants, and
/// the machine.
struct KernelShape {
  /// The number of independent work items: the kernel's function runs items [begin, end). Any split into ranges gives
  /// the same bits. It is 1 when the kernel is not split.
  support::Size items = 1;
  /// The threads that work on an item; nothing: one thread, wherever that runs.
  std::optional<Grid> grid = {};
  /// Bytes of scratch for the whole launch. A family that splits work gives each item a part of it, or sets items to 1.
  support::Size scratchBytes = 0;
  /// Describes a launch that comes before the kernel's own. Later ones, and the kernel, read what it computes
  /// (Build::ahead). Blocks of threads cannot wait for each other, so that what all of them need is a launch by itself.
  /// Its function has no status.
  struct Ahead {
    llvm::StringRef name; ///< with which its function's name ends
    support::Size items = 1;
    Grid grid;
    support::Size elements = 0; ///< that it computes
    mlir::Type element;
  };
  std::vector<Ahead> ahead = {};
  /// Whether the kernel may find a bad index or bound in data, and calls Build::failIf.
  bool checked = false;
  /// The multiplications with accumulation that the kernel does, where these are not those of its ops' definitions.
  std::optional<support::Size> multiplyAdds;
  bool ofTiles = false; ///< whether matrix registers do them
  /// The ingot_error_kind of a failed check, where it is neither a bad index nor a bad size.
  std::optional<int64_t> error;
  /// Whether the kernel gets the run's ingot_exec (Build::exec); any status other than 0 that it returns ends the run.
  bool takesExec = false;
  /// The kernel operands in whose buffer the first result may lie, where it has the operand's type and nothing reads
  /// that operand any more. The kernel reads each element of such an operand before it writes the result's element at
  /// that place, and never after.
  llvm::SmallVector<int64_t> inPlace;
  /// The kernel operand that the first result begins with. That part is not copied where the result lies in the
  /// operand's buffer.
  std::optional<int64_t> extends;
  /// By operand number, how a constant operand is packed into the weights section. Constants without a recipe are
  /// copied as they are.
  std::map<unsigned, plan::WeightTable::Recipe> packed;
  /// By operand number, constants whose packing takes another operand's bytes, too: which operand that is, and what
  /// fills `to` of both. Their recipes in `packed` have the key and the size.
  struct Joined {
    unsigned with;
    std::function<void(llvm::ArrayRef<char> from, llvm::ArrayRef<char> with, llvm::MutableArrayRef<char> to)> pack;
  };
  std::map<unsigned, Joined> joined;
  /// The operand, if any, that its recipe converts to float32, whatever type the constant has.
  std::optional<unsigned> packedAsFloats;
  /// Writes the body for this shape. KernelFamily::build calls it by default.
  std::function<void(Build &)> build = {};
  /// The algorithm that was chosen, and which others there were (Algorithm.h), as a text for people. It is empty where
  /// there was no choice.
  std::string choice = {};

  /// Declares that the root's result is its first operand with some elements replaced. The result may then lie in that
  /// operand's buffer, unless the root reads the tensor once more.
  void replaces(mlir::Value first);
};

/// What a kernel needs that makes some rows of its result at a time, as a link of a chain (conv/Chain.h). The result is
/// a blocked image with two spatial axes of known sizes.
struct RowShape {
  int64_t step = 1, start = 0, reach = 1; ///< row r reads rows [r * step + start, r * step + start + reach) of the data
  std::map<unsigned, plan::WeightTable::Recipe> packed; ///< like KernelShape::packed
  int64_t weightBytes = 0;                              ///< bytes of weights that are read again for each group of rows
  /// Expected cycles for an image that is in the second cache: by rows with weights read once, and as a kernel of its
  /// own.
  double cycles = 0, alone = 0;
  /// Writes the loops over some rows. The work items of the build do not matter then.
  std::function<void(Build &, const Rows &)> build = {};
};

/// Rows [from, to) of one image of the result.
struct Rows {
  Ix image, from, to;
};

/// All that a family gets to write the function of one kernel.
struct Build {
  Writer &w;
  Group &group;
  Ix begin, end;         ///< the work items [begin, end) to run
  Buffer scratch;        ///< i8 elements; null when KernelShape::scratchBytes is 0
  Buffer status;         ///< one i32, for checked kernels
  mlir::Value exec = {}; ///< null when KernelShape::takesExec is not set
  /// What launches of KernelShape::ahead compute: all of them in build(), and in buildAhead() those before it and last
  /// its own, which it writes.
  llvm::SmallVector<Buffer, 2> ahead = {};

  /// Makes the run end with INGOT_ERROR_INDEX (or `kind`: INGOT_ERROR_SIZE, for an op that finds a size) for this node
  /// when `bad` (i1) is true. The builder goes on: it must clamp the value so that nothing outside a tensor is touched
  /// meanwhile.
  void failIf(mlir::Value bad);
  void failIf(mlir::Value bad, int64_t kind);
};

/// The layout in which a family wants operand 0 of the root (the data) and the result.
enum class LayoutRule {
  RowMajor,          ///< both row-major
  Blocked,           ///< both with channels in blocks of the vector length: [N][C/lanes][spatial...][lanes]
  RowMajorToBlocked, ///< reads row-major, writes blocked (a first convolution with few channels)
  BlockedToRowMajor, ///< reads blocked, writes row-major (a last convolution with few channels)
  Follow,            ///< either layout, but one for the result and all operands of its shape
  /// Both with all channels of a pixel together: [N][spatial...][channels], which is one block as long as there are
  /// channels. Only families of targets ask for it; kernels without a root follow.
  ChannelsLast,
};

/// A kernel family. Its functions are pure: they are asked in several phases, and must give the same answer each time.
class KernelFamily {
public:
  virtual ~KernelFamily() = default;

  /// Returns the ops that may be the root of its kernels, by the ids of their classes (rootsOf).
  virtual llvm::SmallVector<mlir::TypeID> roots() const = 0;
  /// Returns whether this family builds kernels of `root`, where another one has the same op among its roots.
  virtual bool isFor(mlir::Operation *root) const { return true; }
  /// Returns why it cannot build a kernel of `root` for the machine, for the partition's report and the message that
  /// lists all that cannot be compiled; empty when it can.
  virtual std::string unsupported(mlir::Operation *root, const target::MachineModel &machine) const { return {}; }
  /// Returns whether elementwise consumers of the (single) result may be applied to its vectors in registers.
  virtual bool fusesEpilogue(mlir::Operation *root) const { return true; }
  /// Returns whether elementwise producers of this operand may be computed where it is read.
  virtual bool readsThrough(mlir::Operation *root, unsigned operand) const { return false; }
  /// Returns the layout that it works in.
  virtual LayoutRule layoutRule(mlir::Operation *root, const target::MachineModel &machine) const {
    return LayoutRule::RowMajor;
  }
  /// Returns how many elements it reads around operand 0 in blocked layout, as (before, after) of each spatial axis;
  /// empty for none.
  virtual llvm::SmallVector<int64_t> halo(mlir::Operation *root) const { return {}; }

  /// Returns the value of these elements.
  virtual int64_t fill(mlir::Operation *root) const { return 0; }

  /// Marks the root with what the values of constants decide about the loops. Kernels that are equal but for the values
  /// of constants are built once, so the loops may not depend on a value that is not marked.
  virtual void mark(plan::KernelOp kernel) const {}
  /// Returns what a kernel needs.
  virtual KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const = 0;
  /// Returns the schedules that may be requested of a kernel (lower/core/Schedules.h); nothing where there is only one.
  virtual std::optional<target::ScheduleChoices> schedules(plan::KernelOp kernel,
                                                           const target::MachineModel &machine) const {
    return std::nullopt;
  }
  /// Writes the body. `shape` is what shape() returned for this kernel.
  virtual mlir::LogicalResult build(Build &build, const KernelShape &shape) const;
  /// Writes the body of the last launch of Build::ahead. The group has the kernel's operands, and no results.
  virtual mlir::LogicalResult buildAhead(Build &build, const KernelShape &shape) const;

  /// Returns what the kernel needs as a link of a chain; nothing where it cannot be one.
  virtual std::optional<RowShape> rowShape(plan::KernelOp kernel, const target::MachineModel &machine) const {
    return std::nullopt;
  }

  std::string stem; ///< the stem of its file, with which the names of its kernels begin

protected:
  /// Returns the ids of classes of ops.
  template <typename... Ops> static llvm::SmallVector<mlir::TypeID> rootsOf() { return {mlir::TypeID::get<Ops>()...}; }
};

/// Returns the family that builds kernels of `root` for a machine: one of its target's own, or else the compiler's, if
/// the target takes those. It is null when there is none, or when the op is no root.
const KernelFamily *familyFor(mlir::Operation *root, const target::MachineModel &machine);
/// Returns whether there is a family for kernels of elementwise ops alone.
bool hasElementwiseFamily(const target::MachineModel &machine);
/// Returns the name of the family that has an op of this class among its roots: the first of several, and empty where
/// there is none.
std::string familyNameOf(mlir::TypeID root);
/// Returns the family that builds a kernel, which the partition gave to this machine or a later phase has to have
/// there.
const KernelFamily &familyOf(plan::KernelOp kernel, const target::MachineModel &machine);
/// Returns the constant behind a root operand (through the region's argument), or null.
mlir::ElementsAttr constantOperand(plan::KernelOp kernel, mlir::Value regionValue);
/// Returns the number of the kernel operand that a root operand is; -1 when it is computed in the region.
int operandNumber(mlir::Value regionValue);

// Answers that several families give

/// Returns whether some rows of a tensor can be made at a time (RowShape).
bool isImageOfRows(mlir::RankedTensorType type);

/// Returns a message if some size of the op is neither a number nor an expression; else empty.
std::string whyUnsized(mlir::Operation *root);
/// Returns whether the axes are all but the first two of a tensor of this rank, and there are some.
bool isSpatial(llvm::ArrayRef<int64_t> axes, int64_t rank);
/// Returns what is wrong with the shapes of a gather or scatter; else empty.
std::string whyNotIndexed(mlir::Operation *root);

/// Returns the machine of a kernel's `target` attribute.
using MachineOf = llvm::function_ref<const target::MachineModel &(llvm::StringRef)>;

} // namespace ingot::lower
