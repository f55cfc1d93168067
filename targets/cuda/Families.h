// Lists the kernel families of GPUs: those of this folder, and the compiler's, of which each work item is a thread.
#pragma once
#include "compiler/lower/core/ByThreads.h"
#include <map>
#include <memory>
#include <mutex>

namespace ingot::targets::cuda {

class Families {
public:
  Families();
  /// As target::Target::family.
  const lower::KernelFamily *of(mlir::Operation *root) const;
  /// As target::Target::refuses.
  std::string refuses(mlir::Operation *op) const;
  /// Whether a thread of `op`'s kernel does most of its work, one step after the other: as a rule it is the only one.
  bool isSerial(mlir::Operation *op) const;

private:
  std::vector<std::unique_ptr<lower::KernelFamily>> own;
  mutable std::mutex lock;
  mutable std::map<const lower::KernelFamily *, std::unique_ptr<lower::ByThreads>> byThreads;
};

// These are the families of this folder, each a file.
std::unique_ptr<lower::KernelFamily> createElements();
std::unique_ptr<lower::KernelFamily> createProducts();
std::unique_ptr<lower::KernelFamily> createAttention();
std::unique_ptr<lower::KernelFamily> createConvolutions();
std::unique_ptr<lower::KernelFamily> createFewBitsProducts();

} // namespace ingot::targets::cuda
