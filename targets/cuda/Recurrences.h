// Lets blocks of threads compute the steps of an LSTM, GRU or RNN (Recurrences.cpp).
#pragma once
#include "compiler/lower/core/ByThreads.h"
#include "compiler/target/OpTime.h"

namespace ingot::targets::cuda {

class Recurrences final : public lower::ByThreads {
public:
  explicit Recurrences(const lower::KernelFamily &family);
  lower::KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override;
  std::optional<target::ScheduleChoices> schedules(plan::KernelOp, const target::MachineModel &) const override {
    return std::nullopt;
  }
  mlir::LogicalResult build(lower::Build &build, const lower::KernelShape &shape) const override;
  mlir::LogicalResult buildAhead(lower::Build &build, const lower::KernelShape &shape) const override;

  /// Estimates the seconds that a recurrence takes, which has so much work.
  static double seconds(mlir::Operation *op, const target::Work &work, const target::MachineModel &machine);
};

} // namespace ingot::targets::cuda
