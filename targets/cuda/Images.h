// Makes the code of NVIDIA GPUs: PTX, by LLVM in this process, without CUDA's toolkit and its libraries. This is also
// the contract with whoever loads it, the device and the emulator.
//
// There is an image for each architecture of the machine's spec, called as NVIDIA calls it (`sm_80`). It is PTX as
// text, which ends with a NUL that counts among its bytes. All images are packed (Packing.h), unless the spec has
// `unpacked`. A GPU runs the PTX of its own architecture or an older one,
// so a device takes the newest image that is not newer than itself.
//
// Where the spec has `cubin`, there is machine code as well, an ELF file of the same name (Ptxas.h), which GPUs of that
// generation take before the PTX. Other GPUs compile the PTX.
//
// KERNEL is a PTX entry whose parameters are the words of ingot_launch.args, 8 bytes each but for the bits of a
// status, which take 4 of their 8: in the list of parameters for the driver each is the address of its word. The last
// word is blocks[0], the number of items.
//
//   ingot_kernel.threads   a block is                    items are           blocks along x
//   {0, 0, 0}              up to 256 threads             threads             as many as have all items
//   any other              as it says                    blocks              blocks[0]
//
// A thread's item is ctaid.x * ntid.x + tid.x where items are threads, and ctaid.x where they are blocks; threads
// behind the last item return at once. The memory of a block is dynamic shared memory of ingot_kernel.shared_bytes
// bytes.
//
// The emulated image, called `emulated`, is there where the spec asks for it: a shared object for x86-64 (with AVX2 and
// FMA), made of the LLVM IR of the oldest architecture just before the NVPTX back end takes it. It exports for each
// kernel
//
//   void KERNEL(const uint64_t *words);
//
// to be called once for each thread, on a stack of at least 128 KiB. Other architectures' address spaces are one here,
// and each intrinsic of LLVM's for PTX is a call of an undefined function, whose name is ingot_emulated_ and the name
// of the intrinsic with underscores for dots, `llvm.` included:
//
//   int32_t ingot_emulated_llvm_nvvm_read_ptx_sreg_tid_x(void);            also ctaid, ntid, nctaid; .y and .z
//   void ingot_emulated_llvm_nvvm_barrier_cta_sync_aligned_all(int32_t barrier);
//   float ingot_emulated_llvm_nvvm_shfl_sync_bfly_f32(int32_t mask, float value, int32_t lanes, int32_t clamp);
//   void ingot_emulated_llvm_nvvm_cp_async_cg_shared_global_16(void *to, const void *from);
//   void ingot_emulated_llvm_nvvm_mma_m16n8k16_row_col_f32_f32(void *result, const void *a0, ... float c0, ...);
//
// Parameters are those of the intrinsic: integers, float32, float64 and pointers as they are; float16, bfloat16,
// vectors and structures by the address of their bytes, packed as LLVM stores them. A result of the latter kind is
// written to the address that comes first. Inline assembly is a call, too, of a function that is called as the text
// begins, up to the first space. It gets the addresses of a structure of all results and of one of all operands, and
// how many bytes the results have:
//
//   void ingot_emulated_wgmma_mma_async_sync_aligned_m64n128k16_f32_f16_f16(void *results, const void *operands,
//                                                                                int64_t bytes);
//
// Beside these there are
//
//   void *ingot_emulated_shared(int64_t offset);       the block's memory, that many bytes behind its beginning
//   void ingot_emulated_access(const void *at, int32_t bytes, int32_t kind);
//
// of which the second is called before each access to memory but the thread's own stack: kind 0 loads, 1 stores, 2 does
// both in one atomic step. Images have these calls where the spec says `watched` instead of `emulated`; the image's
// name is the same.
#pragma once
#include "compiler/target/Image.h"

namespace ingot::targets::cuda {

/// The attribute of a kernel's function of which a multiprocessor need not have more than one block at once: ptxas may
/// give its threads as many registers as that leaves. Otherwise it may spill some, so that there are more blocks.
inline constexpr llvm::StringLiteral oneBlockName = "cuda.one_block";

class Images final : public target::ImageTarget {
public:
  llvm::Expected<std::vector<target::Image>> images(mlir::ModuleOp module, llvm::ArrayRef<std::string> kernels,
                                                    const target::MachineModel &machine) const override;
};

} // namespace ingot::targets::cuda
