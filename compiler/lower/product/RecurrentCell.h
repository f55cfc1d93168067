// What a step of an LSTM, GRU or RNN makes of the products of its state with R: the gates, and of these the new state.
// It is written for a vector of hidden units, or one unit, whoever multiplies and wherever states lie.
#pragma once
#include "compiler/lower/Family.h"
#include "compiler/onnx/ScalarMath.h"
#include "compiler/onnx/ops/Recurrent.h"
#include <functional>

namespace ingot::lower {

/// Gates that one product gives, by their places in the standard's order.
using RecurrentGates = llvm::SmallVector<int64_t, 4>;
/// Returns the products of a step, of which each needs what the one before it gives. A GRU whose reset gate acts before
/// the product has two: the second one multiplies what that gate has left of the state.
llvm::SmallVector<RecurrentGates, 2> recurrentStages(onnx::RecurrenceOp op, int64_t gates);

class RecurrentCell {
public:
  using Num = onnx::Num;
  using Nums = llvm::SmallVector<Num, 4>;
  /// Loads what belongs to the hidden units. `peephole` and `bias` are null where there is none.
  struct Source {
    std::function<mlir::Value(int64_t gate)> input, peephole; ///< gates of peepholes: 0 input, 1 output, 2 forget
    std::function<mlir::Value()> bias;
  };

  RecurrentCell(Writer &w, onnx::RecurrenceOp op, Source source) : w(w), op(op), source(std::move(source)) {}

  /// Returns what goes into the gates of a stage, from the products.
  Nums gates(llvm::ArrayRef<int64_t> stage, mlir::ValueRange sums);
  struct Lstm {
    Num cell, state;
  };
  Lstm lstm(llvm::ArrayRef<Num> x, Num cell);
  /// Returns the new state of an RNN.
  Num rnn(Num x) { return activate(0, clipped(x)); }
  /// Returns the new state of a GRU whose reset gate acts behind the product.
  Num gruLate(llvm::ArrayRef<Num> x, Num old);
  /// The first stage of another GRU gives its update gate, and the state as the reset gate leaves it.
  struct Gates {
    Num update, reset;
  };
  Gates gruGates(llvm::ArrayRef<Num> x, Num old);
  /// Returns the new state, from the second stage.
  Num gru(Num x, Num update, Num old);
  Num num(mlir::Value v) { return Num(w.b, w.loc, v, w.b.getF32Type()); }

private:
  Writer &w;
  onnx::RecurrenceOp op;
  Source source;

  Num activate(unsigned i, Num x);
  Num clipped(Num x);
  /// Returns x with the peephole's weights for a gate times the cell.
  Num peeped(Num x, int64_t gate, Num cell) { return source.peephole ? x + num(source.peephole(gate)) * cell : x; }
};

/// The sequences of a batch: where each is in a step, and how long they are.
class RecurrentSequences {
public:
  RecurrentSequences(Build &build, onnx::RecurrenceOp op);

  /// A row of the batch in a step.
  struct Row {
    Ix row, time;
    mlir::Value active; ///< i1, whether its sequence goes on; null: always
    /// Returns the new value where the sequence goes on, else the other one.
    mlir::Value goesOn(Writer &w, mlir::Value next, mlir::Value old) const;
  };
  Row at(Ix row, Ix step);
  /// Returns whether a sequence has no steps (i1); null: it has some. The standard does not say what its last state is.
  /// It is zero, not the initial one, as ONNX Runtime has it.
  mlir::Value isEmpty(Ix row);
  /// Ends the run where the sequence has no valid length.
  void check(Ix row);
  bool haveLengths() const { return static_cast<bool>(lengths); }

private:
  Build &build;
  Writer &w;
  onnx::RecurrenceOp op;
  support::Size steps;
  Buffer lengths;
};

/// Returns the kernel's result for a result of its root; null when nobody uses it.
Buffer resultFor(Group &group, mlir::Value v);

} // namespace ingot::lower
