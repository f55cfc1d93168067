// A kernel family writes the loops of one kind of kernel. A family is a file of families/ (found by folder) that
// defines
//   std::unique_ptr<KernelFamily> ingot::lower::create<Stem>Family();
// and ops name it by its stem (onnx::KernelRoot::family). See families/Elementwise.cpp for the smallest one.
#pragma once
#include "compiler/lower/Group.h"
#include "compiler/plan/Model.h"
#include <memory>

namespace ingot::lower {

/// What a kernel needs besides its operands. It may depend on the region, the types, on which operands are constants,
/// and the machine.
struct KernelShape {
  /// Independent work items: the function runs items [begin, end). Any split gives the same bits; 1 when the kernel is
  /// not split.
  support::Size items = 1;
  /// Scratch for the whole launch; a family that splits work gives each item a piece of its own, or sets items to 1.
  support::Size scratchBytes = 0;
  /// The kernel may find a bad index or bound in data and calls Build::fail.
  bool checked = false;
  /// Kernel operands in whose buffer the first result may lie, where it has the operand's type and nobody reads that
  /// operand any more: each element of it is read before the result's element at that place is written, and never
  /// after.
  llvm::SmallVector<int64_t> inPlace;
  /// The kernel operand that the first result begins with: it is not copied where the result lies in its buffer.
  std::optional<int64_t> extends;
  /// Operand number -> how that constant operand is packed into the weights section. Constants without a recipe are
  /// copied as they are.
  std::map<unsigned, plan::WeightTable::Recipe> packed;

  /// Of a root that is its first operand with some elements replaced: the result may lie there, unless the root reads
  /// that tensor once more.
  void replaces(mlir::Value first);
};

/// All that a family gets to write one kernel's function.
struct Build {
  Writer &w;
  Group &group;
  Ix begin, end;  ///< the work items to run
  Buffer scratch; ///< i8; null when KernelShape::scratchBytes is 0
  Buffer status;  ///< one i32, for checked kernels

  /// Makes the run end with INGOT_ERROR_INDEX (or `kind`: INGOT_ERROR_SIZE, for an op that finds a size) for this node
  /// when `bad` (i1) is true. The builder goes on: it must clamp the value so that nothing outside a tensor is touched
  /// meanwhile.
  void failIf(mlir::Value bad);
  void failIf(mlir::Value bad, int64_t kind);
};

/// The stem of a kernel's family.
llvm::StringRef familyOf(plan::KernelOp kernel);
/// The root of a kernel, or null.
mlir::Operation *rootOf(plan::KernelOp kernel);
/// The constant behind a root operand (through the region's argument), or null.
mlir::ElementsAttr constantOperand(plan::KernelOp kernel, mlir::Value regionValue);
/// The kernel operand number of a root operand; -1 when it is computed in the region.
int operandNumber(mlir::Value regionValue);

class KernelFamily {
public:
  virtual ~KernelFamily() = default;
  virtual KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const = 0;
  /// Writes the body. `shape` is what shape() said for this kernel.
  virtual mlir::LogicalResult build(Build &build, const KernelShape &shape) const = 0;
};

/// The family with this stem, or null.
const KernelFamily *findFamily(llvm::StringRef stem);

} // namespace ingot::lower
