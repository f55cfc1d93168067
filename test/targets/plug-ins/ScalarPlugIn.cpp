// The target of test/targets/scalar, from a shared object: one whose kernels are the compiler's.
#include "test/targets/scalar/Target.cpp"
#include "compiler/target/PlugIn.h"
#include "llvm/Config/llvm-config.h"

INGOT_TARGET(ScalarTarget)
