// Computes how much of the stack a call of a model takes at most, from the object that has its code.
#pragma once
#include "compiler/emit/BuildInfo.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace llvm {
class Module;
}

namespace ingot::emit {

/// Returns the functions of a module that align their frames to more than the stack's alignment, with the bytes that
/// they may lose by it.
std::vector<FunctionSize> overAlignedFrames(const llvm::Module &ir);

/// Returns the bound for the functions of a model's object, but for NAME_model. `compilerCalls` are functions of the C
/// compiler's library that the object may call (Platform::compilerCalls), and `overAligned` comes from its module.
llvm::Expected<StackBound> boundStack(llvm::StringRef object, llvm::StringRef model,
                                      llvm::ArrayRef<llvm::StringLiteral> compilerCalls,
                                      llvm::ArrayRef<FunctionSize> overAligned);

} // namespace ingot::emit
