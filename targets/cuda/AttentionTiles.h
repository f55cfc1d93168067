// Attention of many queries on tensor cores, of float16, bfloat16 or float32: a block of four warps for 64 rows of
// scores, each of which has 16. The block goes along the keys by 32 of them:
//
//   scores = Q * K / their maxima and weights, by online softmax / sums = sums * what they are worth now + weights * V
//
// Scores and sums stay in registers: the instruction leaves the former as it takes the weights for the latter product.
// Four neighbouring threads have two rows, so that maxima and sums of rows go between four. Q, K and V have a piece of
// shared memory each. While the scores are computed V is copied there (cp.async), and the next K while V is multiplied.
// Rows in shared memory are 16 bytes longer than what they hold, so that the eight that ldmatrix reads together are in
// different banks. If a mask says which key is the last one that each
// row looks at, the block stops at the last key of all its rows.
//
// Weights are float32, which the instruction does not take. Each is the sum of two numbers of the type, and so there
// are two products with V; with --accuracy fast a weight is rounded to one. Of float32 both products are those of
// TensorProduct.h, and multiply-adds where that has none: a thread computes what the instruction would give it. Where a
// sum, or a product of float32, is not finite in the end, the block begins again, and does by multiply-adds what it did
// by parts of numbers (SplitFloats.h): those of a weight by an infinite value need not give the infinity.
#pragma once
#include "compiler/lower/attention/AttentionPlan.h"
#include "compiler/onnx/ops/Attention.h"

namespace ingot::targets::cuda {

class AttentionTiles {
public:
  static constexpr int64_t rows = 64, threads = 128;

  /// Whether a kernel is for tiles.
  static bool areFor(onnx::AttendOp op, const lower::AttentionProblem &p, const target::MachineModel &machine);
  static lower::Grid grid(onnx::AttendOp op, const lower::AttentionProblem &p);
  static support::Size items(const lower::AttentionProblem &p) { return p.outer * ceilDiv(p.rows, rows); }
  static void write(lower::Build &build, const lower::AttentionPlan &plan);
};

} // namespace ingot::targets::cuda
