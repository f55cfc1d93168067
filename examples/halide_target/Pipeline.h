// Makes a piece Halide's functions: what each op computes, and which values are stored on the way.
#pragma once
#include "compiler/target/Piece.h"
#include <Halide.h>
#include <functional>
#include <string>
#include <vector>

namespace halide_target {

using ingot::target::Piece;
using ingot::target::PieceOp;
using ingot::target::PieceValue;

/// Returns why an op cannot be written in Halide here; empty when it can.
std::string unsupported(const Piece &piece, const PieceOp &op);

struct Pipeline {
  std::vector<Halide::ImageParam> inputs; ///< as Piece::inputs, then `constants`
  std::vector<int32_t> constants;         ///< constants that are read when the model runs
  std::vector<Halide::Func> outputs;      ///< as Piece::outputs
};

/// Builds the functions with their schedule, for vectors of `lanes` float32.
Pipeline buildPipeline(const Piece &piece, int lanes);

} // namespace halide_target
