// Kernels of blocks of threads, as a GPU has them: `loopback@riscv64@blocks`. Running sums have a family of their own,
// whose threads share memory; all else is the compiler's, an item for each thread.
#pragma once
#include "compiler/lower/core/ByThreads.h"
#include <map>
#include <memory>
#include <mutex>

namespace ingot::targets::loopback {

class Blocks {
public:
  Blocks();
  /// As target::Target::family.
  const lower::KernelFamily *family(mlir::Operation *root) const;

private:
  std::unique_ptr<lower::KernelFamily> sums;
  mutable std::mutex lock;
  mutable std::map<const lower::KernelFamily *, std::unique_ptr<lower::ByThreads>> byThreads;
};

} // namespace ingot::targets::loopback
