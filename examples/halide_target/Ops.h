// What ops compute, an element at a time.
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
using Ixs = std::vector<Halide::Expr>; ///< an index for each axis, in the tensor's order

/// A tensor as an expression of its indices, which are all within it, but for those that windows read.
struct Tensor {
  std::vector<int> sizes;
  std::function<Halide::Expr(const Ixs &)> at;
  double loads = 1;                     ///< how much is read for one element
  std::vector<Halide::Func> lines = {}; ///< what it reads that is stored row by row, in the rows' order

  int rank() const { return int(sizes.size()); }
};

/// What an op makes of its operands.
struct Made {
  Tensor result;
  /// How often an element of operand 0 is computed where it is not stored; 1 for ops that read each element once.
  double redundancy = 1;
  /// Of a window: what it reads outside of operand 0. Undefined: nothing is outside.
  Halide::Expr outside = {};
  /// What reads the result row by row reads operand 0 row by row.
  bool keepsRows = true;
};

/// An op with its operands; those left out have no `at`.
struct OpToMake {
  const Piece &piece;
  const PieceOp &op;
  std::vector<Tensor> operands;
};

/// A row of the table of ops.
struct OpRow {
  const char *name;
  std::string (*unsupported)(const Piece &piece, const PieceOp &op); ///< empty: it is supported
  Made (*make)(const OpToMake &op);
};
const OpRow *findOp(const std::string &name);

std::vector<int> sizesOf(const PieceValue &value);

} // namespace halide_target
