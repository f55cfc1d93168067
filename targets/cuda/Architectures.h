// Lists the generations of NVIDIA's GPUs that PTX is made for, with what one card of each can do by its data sheet.
#pragma once
#include "compiler/target/MachineModel.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace ingot::targets::cuda {

struct Architecture {
  const char *name;     ///< as NVIDIA calls it
  const char *features; ///< the version of PTX, for LLVM: the first that knows what kernels use
  const char *card;     ///< the card of that generation whose data sheet is meant
  int64_t multiprocessors;
  double flops; ///< float32 operations a second, a multiply-add being two
  double tf32;  ///< operations a second on tf32, of tensor cores and without sparsity; 0: they take neither tf32 nor
                ///< bfloat16
  double bytes; ///< bytes a second between the GPU and its memory
  double link;  ///< bytes a second between the host and the card, each way

  /// Returns the number in the name: 80 for `sm_80`.
  int32_t number() const;
  /// Whether its code runs on GPUs of this architecture alone, as that of `sm_90a` does; else on newer ones, too.
  bool isAlone() const { return llvm::StringRef(name).ends_with("a"); }
};

/// Returns all of them, the oldest first.
llvm::ArrayRef<Architecture> architectures();

/// Returns the one that a machine is described by, the oldest of its spec.
const Architecture &architectureOf(const target::MachineModel &machine);

/// Bytes of shared memory that a block may have on all architectures, and on sm_90.
constexpr int64_t sharedBytesOfAll = 48 << 10, sharedBytesOfHopper = 227 << 10;

/// Says what the text behind `cuda:` asks for.
struct Request {
  llvm::SmallVector<const Architecture *, 4> architectures; ///< the oldest first, at least one
  bool emulated = false;                                    ///< an image for the emulator, too
  bool watched = false;                                     ///< which calls it before each access to memory
  bool cubin = false;                                       ///< machine code beside the PTX of each architecture
  bool unpacked = false;                                    ///< images as they are, for who reads them (Packing.h)
  bool wgmma = false;                                       ///< products by warpgroups (WarpgroupProduct.h), of sm_90a
};

/// Reads `sm_80+sm_90`, in any order, with `emulated`, `watched`, `cubin`, `unpacked` or `wgmma` among them. The error
/// is the user's.
llvm::Expected<Request> readRequest(llvm::StringRef spec);
/// Returns what a machine's spec asks for.
Request requestOf(const target::MachineModel &machine);

} // namespace ingot::targets::cuda
