// What a range of work items covers of a loop nest: the outermost dimension with more than one place is shared out in
// equal pieces, so that the range of several items is one piece and a single thread pays nothing for them.
#pragma once
#include "compiler/lower/Family.h"

namespace ingot::lower {

class Portion {
public:
  /// Work items of a kernel whose loops walk its first result.
  static int64_t items(plan::KernelOp kernel, const target::MachineModel &machine);

  /// The loops over `sizes`, of a kernel with `items` work items.
  Portion(const Build &build, Ix items, llvm::ArrayRef<Ix> sizes);

  /// Dimension `d` from 0 to `extent`, a multiple of `step`.
  void loop(size_t d, Ix extent, int64_t step, llvm::function_ref<void(Ix)> body) const;
  /// What remains of dimension `d` behind such a loop.
  void rest(size_t d, llvm::function_ref<void()> body) const;
  /// Dimension `d` of size `extent` in vectors, as Writer::lanes.
  void lanes(size_t d, Ix extent, llvm::function_ref<void(Ix, int64_t, mlir::Value)> body) const;
  /// A nest where no dimension has two places.
  bool isOnePlace() const { return shared == none; }
  void onePlace(llvm::function_ref<void()> body) const { rest(none, body); }

private:
  static constexpr size_t none = ~size_t(0);
  Writer &w;
  Ix begin, end;
  Ix count;
  size_t shared = none; ///< the dimension that is shared out
};

} // namespace ingot::lower
