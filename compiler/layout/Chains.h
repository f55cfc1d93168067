// Has the user's choice of chains (--chains).
#pragma once
#include "compiler/support/Words.h"

namespace ingot::layout {

/// Which kernels become links of one kernel (layout/FormChains.h).
enum class Chains { Off, Faster, Possible };
inline constexpr support::Word<Chains> chainsWords[] = {
    {Chains::Off, "off"}, {Chains::Possible, "possible", "wherever they can be one kernel, for tests"}};
inline llvm::ArrayRef<support::Word<Chains>> wordsOf(Chains) { return chainsWords; }

} // namespace ingot::layout
