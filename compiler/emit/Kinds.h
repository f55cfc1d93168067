// Names the kinds of files that may be written of a model (--emit).
#pragma once
#include "compiler/support/Words.h"
#include <cstdint>

namespace ingot::emit {

/// The kinds of files that --emit chooses. The header and the manifest are written whatever it says.
enum class Kind { Lib, Obj, Shared, Cpp, Asm, Llvm, Mlir };
inline constexpr support::Word<Kind> kindWords[] = {{Kind::Lib, "lib", "NAME.a"},
                                                    {Kind::Obj, "obj", "NAME.o"},
                                                    {Kind::Shared, "shared", "NAME.so"},
                                                    {Kind::Cpp, "cpp", "C++ source, NAME.cpp"},
                                                    {Kind::Asm, "asm", "NAME.s"},
                                                    {Kind::Llvm, "llvm", "LLVM IR, NAME.ll"},
                                                    {Kind::Mlir, "mlir", "the loops, NAME.mlir"}};
inline llvm::ArrayRef<support::Word<Kind>> wordsOf(Kind) { return kindWords; }

/// A file that the compiler wrote, with its size in bytes.
struct Artifact {
  std::string path;
  int64_t bytes = 0;
};

} // namespace ingot::emit
