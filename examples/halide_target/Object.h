// Halide's code in the form that the compiler calls (target/Piece.h).
#pragma once
#include "Pipeline.h"

namespace halide_target {

struct Object {
  std::string bytes;
  int64_t scratchBytes = 0;
  std::string undefined; ///< a function of a library that LLVM would have called; empty: none
};

/// Compiles the pipeline into an object that defines `symbol`, without any part of Halide's runtime.
Object compileObject(const Pipeline &pipeline, const std::string &symbol, const Halide::Target &target);

} // namespace halide_target
