// What a shared object defines so that --load-target takes a target from it: one constant, made by one of the macros
// below.
//
//   class MyTarget : public ingot::target::PieceTarget { ... };
//   INGOT_PIECE_TARGET(MyTarget)
//
// Compiler and plug-in have to have been built with the same headers and C++ library: the stamp says so.
#pragma once
#include "compiler/target/Piece.h"

namespace ingot::target {

class Target;

/// Changes whenever a header that is installed beside this one (cmake/IngotInstall.cmake) does in a way that compiled
/// code can notice.
inline constexpr uint32_t plugInVersion = 9;

struct PlugIn {
  uint32_t version;                  ///< plugInVersion
  uint32_t pieceBytes;               ///< sizeof(Piece), by which a different C++ library shows
  const char *llvm;                  ///< the version of LLVM behind makeTarget; null where that is null
  PieceTarget *(*makePieceTarget)(); ///< exactly one of these is not null; the caller owns the target
  Target *(*makeTarget)();
};

} // namespace ingot::target

/// Makes a plug-in of `Class`, a subclass of PieceTarget with a constructor without arguments.
#define INGOT_PIECE_TARGET(Class)                                                                                      \
  extern "C" const ingot::target::PlugIn ingot_plug_in;                                                                \
  extern "C" const ingot::target::PlugIn ingot_plug_in = {                                                             \
      ingot::target::plugInVersion, sizeof(ingot::target::Piece), nullptr,                                             \
      []() -> ingot::target::PieceTarget * { return new Class; }, nullptr};

/// For a subclass of Target (Target.h): a machine for which the compiler's own kernels are built. Needs LLVM's headers
/// and links LLVM's shared library.
#define INGOT_TARGET(Class)                                                                                            \
  extern "C" const ingot::target::PlugIn ingot_plug_in;                                                                \
  extern "C" const ingot::target::PlugIn ingot_plug_in = {ingot::target::plugInVersion, sizeof(ingot::target::Piece),  \
                                                          LLVM_VERSION_STRING, nullptr,                                \
                                                          []() -> ingot::target::Target * { return new Class; }};
