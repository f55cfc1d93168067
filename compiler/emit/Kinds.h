// Names the kinds of files that may be written of a model (--emit), what code in them is made for (--optimize),
// and what it may refer to (--symbols).
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

/// The aim that code is made for: few bytes or little time (--optimize).
enum class Optimize { Balanced, Size, Speed };
inline constexpr support::Word<Optimize> optimizeWords[] = {
    {Optimize::Size, "size", "the fewest bytes"},
    {Optimize::Balanced, "balanced", "for speed, and on microcontrollers for size as well"},
    {Optimize::Speed, "speed", "the least time"}};
inline llvm::ArrayRef<support::Word<Optimize>> wordsOf(Optimize) { return optimizeWords; }

/// Which symbols outside of itself an object may refer to (--symbols).
enum class Symbols { Libraries, None };
inline constexpr support::Word<Symbols> symbolsWords[] = {
    {Symbols::Libraries, "libraries",
     "those of the support library, and what a processor without floats or divisions takes of a C compiler's"},
    {Symbols::None, "none", "none: the object of a microcontroller has all that it needs"}};
inline llvm::ArrayRef<support::Word<Symbols>> wordsOf(Symbols) { return symbolsWords; }

/// A file that the compiler wrote, with its size in bytes.
struct Artifact {
  std::string path;
  int64_t bytes = 0;
};

} // namespace ingot::emit
