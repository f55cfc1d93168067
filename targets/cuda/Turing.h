// Instructions of sm_75 in the place of those that sm_80 brought, in LLVM IR of kernels that are made for both. Its
// tensor cores take float16 and bytes, in smaller pieces whose registers are parts of the larger ones'; and it copies
// into shared memory by the thread's registers, which waits where cp.async does not.
#pragma once

namespace llvm {
class Module;
} // namespace llvm

namespace ingot::targets::cuda {

/// Replaces them all.
void useOlderInstructions(llvm::Module &ir);

} // namespace ingot::targets::cuda
