// Decides what a range of work items covers of a loop nest. The outermost dimension with more than one place is shared
// out in equal parts, so the range of several items is one part, and a single thread pays nothing for the items. Where
// items are threads of a device, all places of the nest are shared out, one behind the other: neighbouring threads have
// neighbouring places.
#pragma once
#include "compiler/lower/Family.h"

namespace ingot::lower {

/// The part of a loop nest that one call of a kernel runs.
class Portion {
public:
  /// Returns the work items of a kernel whose loops walk its first result.
  static support::Size items(plan::KernelOp kernel, const target::MachineModel &machine);

  /// Makes the part of the loops over `sizes`, in a kernel with `items` work items.
  Portion(const Build &build, Ix items, llvm::ArrayRef<Ix> sizes);

  /// Writes the loop over this part of dimension `d` from 0 to `extent`, a multiple of `step`.
  void loop(size_t d, Ix extent, int64_t step, llvm::function_ref<void(Ix)> body) const;
  /// Runs the body for what remains of dimension `d` behind such a loop: in the last part, or in all of them where
  /// another dimension is shared out.
  void rest(size_t d, llvm::function_ref<void()> body) const;
  /// Writes the loop over dimension `d` of size `extent` in vectors, as Writer::lanes does.
  void lanes(size_t d, Ix extent, llvm::function_ref<void(Ix, int64_t, mlir::Value)> body) const;
  /// Returns whether no dimension has two places, so that there is nothing to share out.
  bool isOnePlace() const { return shared == none; }
  /// Runs the body of such a nest, in the last range of items alone.
  void onePlace(llvm::function_ref<void()> body) const { rest(none, body); }

private:
  static constexpr size_t none = ~size_t(0);
  Writer &w;
  Ix begin, end;
  Ix count;
  size_t shared = none; ///< the dimension that is shared out
  Ixs flat;             ///< the sizes of all dimensions, where all places are shared out; else empty
  mutable Ix place = 0; ///< of which all loops are in, then

  void flatLoop(size_t d, llvm::function_ref<void(Ix)> body) const;
};

} // namespace ingot::lower
