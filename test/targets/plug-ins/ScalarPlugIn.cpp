// The target of test/targets/scalar, from a shared object: one whose kernels are the compiler's.
#include "compiler/target/PlugIn.h"
#include "test/targets/scalar/Target.cpp"
#include "llvm/Config/llvm-config.h"

INGOT_TARGET(ScalarTarget)
