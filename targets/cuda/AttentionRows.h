// What rows of attention have in common, whether a block has one or many of them: where they and their keys are, and
// how online softmax begins.
#pragma once
#include "compiler/lower/attention/AttentionParts.h"
#include "compiler/lower/core/Vectors.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "targets/cuda/Wide.h"

namespace ingot::targets::cuda {

/// The place of rows that share their keys.
struct AttentionPlace {
  lower::Ixs own; ///< the coordinates along the axes that have keys of their own
  lower::Ix k, v; ///< where the keys and values begin

  AttentionPlace() = default;
  AttentionPlace(const lower::AttentionProblem &p, lower::Ix index) : own(p.own, 0) {
    for (size_t d = p.own; d-- > 0;) {
      own[d] = d == 0 ? index : remainder(index, p.batch[d]), index = floorDiv(index, p.batch[d]);
    }
    k = p.k.offset, v = p.v.offset;
    for (auto [d, x] : llvm::enumerate(own)) {
      k = k + x * lower::Ix(p.k.strides[d]), v = v + x * lower::Ix(p.v.strides[d]);
    }
  }
  /// Returns the coordinates of a row.
  lower::Ixs pointOf(const lower::AttentionProblem &p, lower::Ix row) const {
    lower::Ixs at = own;
    at.append(lower::attentionRowAt(p, row));
    return at;
  }
  /// Returns where the query of a row begins.
  lower::Ix queryOf(const lower::AttentionProblem &p, lower::Ix row) const {
    lower::Ix place = p.q.offset;
    for (auto [d, x] : llvm::enumerate(pointOf(p, row))) {
      place = place + x * lower::Ix(p.q.strides[d]);
    }
    return place;
  }
};

/// Collects what has to be so that rows of Q, K and V are vectors of so many elements.
inline Wide vectorsOf(lower::Writer &w, onnx::AttendOp op, const lower::AttentionProblem &p, const lower::Group &group,
                      int64_t lanes) {
  Wide wide(w, lanes);
  for (auto [v, operand, width] : {std::tuple(op.getQ(), &p.q, p.width), std::tuple(op.getK(), &p.k, p.width),
                                   std::tuple(op.getV(), &p.v, p.valueWidth)}) {
    wide.requireBegin(group.buffer(v));
    wide.require(operand->column().is(1) ? lower::Ix(width) : lower::Ix(1));
    wide.require(operand->offset);
    for (const support::Size &stride : llvm::ArrayRef(operand->strides).drop_back()) {
      wide.require(stride);
    }
  }
  return wide;
}

/// Returns the score of a key that does not count.
inline mlir::Value lowest(lower::Writer &w) { return neutral(w, lower::Combine::Larger, w.b.getF32Type()); }

/// Returns what is subtracted from scores: the largest one, or 0 while there is none.
inline mlir::Value baseOf(lower::Writer &w, mlir::Value best) {
  using namespace mlir::arith;
  mlir::Value isNone = CmpFOp::create(w.b, w.loc, CmpFPredicate::OEQ, best, lowest(w));
  return SelectOp::create(w.b, w.loc, isNone, w.constant(0, best.getType()), best);
}

} // namespace ingot::targets::cuda
