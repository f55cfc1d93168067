// Lets the threads of a team walk along rows in vectors of 16 bytes.
#pragma once
#include "compiler/lower/core/ByThreads.h"
#include <optional>

namespace ingot::targets::cuda {

class Rows final : public lower::ByThreads {
public:
  using ByThreads::ByThreads;
  mlir::LogicalResult build(lower::Build &build, const lower::KernelShape &shape) const override;

private:
  /// Returns (i1) whether all rows are vectors that lie at multiples of their size; nothing where they never do.
  static std::optional<mlir::Value> isWide(lower::Build &build, int64_t lanes);
};

} // namespace ingot::targets::cuda
