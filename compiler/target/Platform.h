// Describes a machine apart from its vectors and caches: how wide its addresses are, which arithmetic has no
// instruction, how much stack and alignment code may ask for, and what its objects look like. The defaults are those of
// a 64-bit host; a target whose machines differ says so in Target::platform.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/TargetParser/Triple.h"
#include <cstdint>

namespace ingot::target {

struct MachineModel;

/// The ops of MLIR's math dialect that LLVM can write as instructions on machines that have all of them. An op that a
/// machine lacks would become a call of a C library.
inline constexpr llvm::StringLiteral everyMath[] = {"absf",      "absi",     "ceil",  "floor", "trunc",  "round",
                                                    "roundeven", "sqrt",     "fma",   "ctpop", "ctlz",   "cttz",
                                                    "copysign",  "isfinite", "isinf", "isnan", "clampf", "isnormal"};

struct Platform {
  unsigned addressBits = 64; ///< width of an address
  /// Width of an index into a tensor, in which kernels count. A machine to which a narrow one is cheaper than an
  /// address gets no tensors that are larger or of which nobody knows how large they are.
  unsigned indexBits = 64;
  /// The alignment of the workspace, of buffers in it, and of arrays on the stack, in bytes.
  int64_t alignment = 64;
  int64_t stackBytes = 16 << 10; ///< bytes that the frame of a function may take before the compiler warns
  bool floats = true;            ///< instructions compute in float32
  bool doubles = true;           ///< instructions compute in float64
  /// Bytes of vectors of which an instruction multiplies two and adds all products to a number (as Arm's MVE does), on
  /// a machine whose kernels are without vectors else; 0: it has none.
  int64_t dotBytes = 0;
  bool longDivision = true;        ///< instructions divide integers of 64 bits, and convert them to floats and back
  bool smallCode = false;          ///< functions are optimised for size
  bool sharesCode = false;         ///< functions that differ in numbers alone share a body
  bool positionIndependent = true; ///< code may be loaded anywhere; false: a linker gives it its address
  /// The stack that a run takes is computed, because a program sets that much aside for it.
  bool boundsStack = false;
  /// Functions of the library that comes with every C compiler (libgcc, compiler-rt), which code calls for arithmetic
  /// that the machine has no instruction for. Other functions than these and the support library's are an error.
  llvm::ArrayRef<llvm::StringLiteral> compilerCalls = {};
  llvm::StringRef constants = ".rodata"; ///< section of the weights, to which the name of the model is added
  llvm::ArrayRef<llvm::StringLiteral> nativeMath = everyMath; ///< those of `everyMath` that are instructions

  /// Returns a processor with every instruction, under the C ABI that a triple stands for. Without a triple it is that
  /// of C++ source, whose indices have 64 bits everywhere.
  static Platform of(llvm::StringRef tripleText) {
    Platform platform;
    llvm::Triple triple(tripleText);
    if (!tripleText.empty() && (triple.isArch32Bit() || triple.isX32() || triple.isABIN32() ||
                                triple.getEnvironment() == llvm::Triple::GNUILP32)) {
      platform.addressBits = platform.indexBits = 32;
    }
    return platform;
  }
};

/// Returns the platform of a machine, as its target describes it.
Platform platformOf(const MachineModel &machine);

} // namespace ingot::target
