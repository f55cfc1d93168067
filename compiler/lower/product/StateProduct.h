// What an LSTM, GRU or RNN multiplies in each step: its state with R. R is floats, or bytes with a scale for each of
// its rows, and perhaps a zero point (integer/Recurrent.h). Bytes are read in one of three ways, each an algorithm
// (Algorithm.h):
//
//   ByteDots      the machine has a dot product of four bytes: a row of the state is quantized to integers of 24 bits
//                 (16 with --accuracy fast), whose bytes are its digits. Products of a digit with R and their sums
//                 are exact, and only the sums of the digits are added up as floats.
//   Int16Dots     the machine has a dot product of two int16: two digits of 12 bits. That takes
//                 more instructions than floats do, but a quarter of the memory, which one row of a batch waits for.
//   WidenedBytes  bytes become floats in registers.
//
// Tiles are a few rows of the batch times a group of hidden blocks (a vector of hidden units) with all of their gates:
// R is packed [group][k][block][gate][lanes], at compile time when it is constant, with as many neighbouring k in a
// lane as the machine multiplies together.
#pragma once
#include "compiler/lower/Algorithm.h"
#include "compiler/lower/bytes/ByteProducts.h"
#include "compiler/lower/product/RecurrentCell.h"

namespace ingot::lower {

struct RecurrentPlan {
  struct GateStage {
    RecurrentGates gates;
    int64_t group = 1;  ///< hidden blocks of a tile
    int64_t offset = 0; ///< in the packed R, in words
  };
  enum class Method { Floats, ByteDots, Int16Dots, WidenedBytes };

  RecurrentPlan(plan::KernelOp kernel, const target::MachineModel &machine, Method method);

  llvm::StringRef kind;
  support::Size steps, batch;
  int64_t hidden, gates, lanes, blocks, padded, rest, rows;
  bool constantR = false;
  Method method = Method::Floats;
  int64_t digits = 1; ///< of an element of the state
  llvm::SmallVector<GateStage> stages;

  support::Size stateElements() const { return batch * support::Size(padded); }
  bool ofDigits() const { return method == Method::ByteDots || method == Method::Int16Dots; }
  int64_t step() const { return method == Method::ByteDots ? 4 : method == Method::Int16Dots ? 2 : 1; } ///< k of a word
  int64_t wordsOfRow() const { return llvm::divideCeil(hidden, step()); }
  /// Rows of words of a tile: those of R and, in ByteDots, what belongs to the sums of their first digit.
  int64_t rowsOfTile() const { return wordsOfRow() + (method == Method::ByteDots ? 1 : 0); }
  int64_t packedElements() const { return gates * padded * rowsOfTile() * step(); }
  int64_t bytesOfDigit() const { return method == Method::Int16Dots ? 2 : 1; }
  /// Estimates the cycles of the products of a step.
  double cycles() const;
  /// Returns the bytes that the products need besides the states.
  support::Size scratchBytes() const;

  /// Says how constants are packed.
  void pack(plan::KernelOp kernel, KernelShape &shape) const;
};

/// Returns the kernel of an LSTM, GRU or RNN with such products.
KernelShape recurrenceShape(plan::KernelOp kernel, const RecurrentPlan &plan);

/// The base of the algorithms for these products.
class RecurrentAlgorithm : public Algorithm {
public:
  llvm::SmallVector<mlir::TypeID> roots() const override;
  Offer offer(plan::KernelOp kernel, const target::MachineModel &machine) const override;

protected:
  RecurrentAlgorithm(std::string name, int rank, RecurrentPlan::Method method)
      : Algorithm(std::move(name), rank), method(method) {}
  /// Why a kernel is not computed so; empty: it can be.
  virtual std::string whyNot(plan::KernelOp kernel, const target::MachineModel &machine) const = 0;
  /// Whether a kernel's R is bytes.
  static bool isOfBytes(plan::KernelOp kernel);

private:
  RecurrentPlan::Method method;
};

class StateProduct {
public:
  /// The scratch memory has RecurrentPlan::scratchBytes() from `at` on.
  StateProduct(Build &build, const RecurrentPlan &plan, support::Size at);

  /// Packs R, where only the run knows it, to an area with as many floats.
  void pack(Buffer to);
  /// Sets what the next products multiply: a state from one element on.
  void read(Buffer from, Ix at);
  /// Returns the products of the gates of `count` blocks from a hidden unit on: for each of some rows of the batch, for
  /// each block, for each gate.
  llvm::SmallVector<mlir::Value> sums(const RecurrentPlan::GateStage &stage, llvm::ArrayRef<Ix> rows, Ix unit,
                                      int64_t count);

private:
  using Values = llvm::SmallVector<mlir::Value>;
  struct Tile {
    const RecurrentPlan::GateStage &stage;
    llvm::ArrayRef<Ix> rows;
    Ix unit;
    int64_t count;
    int64_t width() const { return count * static_cast<int64_t>(stage.gates.size()); }
  };
  Writer &w;
  const RecurrentPlan &plan;
  ByteProducts bytes;
  mlir::Type element, vector, integers;
  Buffer r, words, scale, zero, state, digits, digitWords, digitScales, digitSums;
  Ix stateAt;

  void readRow(Ix row);
  mlir::Value block(Ix row, Ix unit, bool partial);
  /// Returns the factor by which a row of the state becomes integers, and the scale by which these become the state
  /// again.
  std::pair<mlir::Value, mlir::Value> quantizationOf(Ix row);
  void storeDigits(mlir::Value number, Ix row, Ix unit, Values &sums);

  /// Returns the place of the k-th word of a tile's v-th vector.
  Ix placeOf(const Tile &t, Ix k, int64_t v) const;
  /// Returns the place where a digit's row begins, in words of `each` digits.
  Ix digitAt(int64_t digit, Ix row, int64_t each = 1) const {
    Ix rowsBefore = Ix(plan.batch) * Ix(digit) + row;
    return rowsBefore * Ix(plan.padded / each);
  }
  /// Returns a vector of something that R has for each of its rows.
  mlir::Value ofRows(const Buffer &from, const Tile &t, int64_t v);
  Values floatSums(const Tile &t);
  Values firstSums(const Tile &t);
  Values digitsSums(const Tile &t);
  mlir::Value joined(const Tile &t, Ix row, llvm::ArrayRef<mlir::Value> sums, int64_t v);
};

} // namespace ingot::lower
