// Runs a family of the compiler's on a machine with blocks of threads: each thread takes one of its work items. That is
// right for every family, since items are independent, and it is what a target begins with. Where threads have to share
// memory to be fast, the target brings a family of its own.
#pragma once
#include "compiler/lower/Family.h"

namespace ingot::lower {

/// A family whose kernels are those of another one, with a thread for each work item.
class ByThreads : public KernelFamily {
public:
  /// `family` has to live as long as this one. `threads` is the number of threads of a block.
  ByThreads(const KernelFamily &family, int64_t threads);

  llvm::SmallVector<mlir::TypeID> roots() const override { return family.roots(); }
  bool isFor(mlir::Operation *root) const override { return family.isFor(root); }
  std::string unsupported(mlir::Operation *root, const target::MachineModel &machine) const override {
    return family.unsupported(root, machine);
  }
  bool fusesEpilogue(mlir::Operation *root) const override { return family.fusesEpilogue(root); }
  bool readsThrough(mlir::Operation *root, unsigned operand) const override {
    return family.readsThrough(root, operand);
  }
  LayoutRule layoutRule(mlir::Operation *root, const target::MachineModel &machine) const override {
    return family.layoutRule(root, machine);
  }
  llvm::SmallVector<int64_t> halo(mlir::Operation *root) const override { return family.halo(root); }
  int64_t fill(mlir::Operation *root) const override { return family.fill(root); }
  void mark(plan::KernelOp kernel) const override { family.mark(kernel); }
  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override;
  std::optional<target::ScheduleChoices> schedules(plan::KernelOp kernel,
                                                   const target::MachineModel &machine) const override {
    return family.schedules(kernel, machine);
  }
  mlir::LogicalResult build(Build &build, const KernelShape &shape) const override;

private:
  const KernelFamily &family;
  int64_t threads;
};

/// Returns the compiler's family for kernels rooted at `root`, or where that is null for those without a root.
const KernelFamily *compilersFamily(mlir::Operation *root);

} // namespace ingot::lower
