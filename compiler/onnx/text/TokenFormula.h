// The steps of a search for tokens, as GreedySearch, Sampling and BeamSearch of com.microsoft define them, written in
// terms of the standard's operators. Sizes are tensors here, since data may tell them: how many beams there are, how
// long a sequence may be.
#pragma once
#include "compiler/onnx/rewriting/Formula.h"

namespace ingot::onnx {

/// The rules that change the scores of tokens before one is chosen. A rule whose value is null changes nothing.
struct TokenRules {
  /// Divides positive scores, and multiplies negative ones, of tokens that a sequence has.
  mlir::Value penalty;
  mlir::Value vocabulary, firstToken; ///< tokens that are not allowed (0): ever, or as the first one
  mlir::Value presence;               ///< [sentences, vocabulary]: `presencePenalty` times this is subtracted
  mlir::Value leastLength;            ///< int64, rank 0: a shorter sequence does not end
  /// n-grams of this many tokens stand in a sequence once only; 0: all n-grams may be repeated
  int64_t repeats = 0;
  int64_t end = -1, padding = -1;
  double temperature = 1, presencePenalty = 0;
};

/// The attributes of Sampling that say how it draws.
struct TokenDice {
  double mass = 0; ///< top_p: the most probable tokens that have this mass together are kept
  double filtered = -1e20;
  int64_t least = 0;
  bool isCustom = false;
  mlir::Value seed; ///< int64, rank 0
};

/// The sizes of a beam search. Each is a list, which is computed once in front of the loop, since constants fold
/// soonest there.
struct BeamSizes {
  mlir::Value sentences, beams, most, words; ///< `most`: tokens of a sequence; `words`: of the vocabulary
  mlir::Value twice, rows;                   ///< 2 * beams, sentences * beams
  mlir::Value pairs, flat, cubes;            ///< [sentences, beams], [.., beams * words], [.., beams, words]
};

/// The state of the beams beside their sequences. The best sequences of each sentence so far are sorted, the best one
/// first.
struct BeamState {
  mlir::Value scores;           ///< [sentences, beams]
  mlir::Value bestScores, best; ///< [sentences, beams], and the tokens [sentences, beams, most]
  mlir::Value counts, done;     ///< [sentences, 1]: how many of the best there are; whether no more come
};

/// The result of a step of a beam search: the row that each next beam continues, and the token behind it.
struct BeamStep {
  mlir::Value rows;   ///< [sentences * beams], int64: rows among all beams
  mlir::Value tokens; ///< [sentences * beams, 1], int64
  mlir::Value total;  ///< [sentences, beams, vocabulary]: the sums of scores that the choice was made from
};

class TokenFormula {
public:
  using Value = mlir::Value;
  TokenFormula(mlir::OpBuilder &b, mlir::Location loc, const TokenRules &rules) : f(b, loc), rules(rules) {}

  Formula f;
  TokenRules rules;

  Value i64(Value v) { return f.cast(v, f.b.getI64Type(), 7); }
  Value i32(Value v) { return f.cast(v, f.b.getI32Type(), 6); }
  Value f32(Value v) { return f.cast(v, f.b.getF32Type(), 1); }
  Value number(int64_t n) { return f.scalar(n); }
  Value list(int64_t n) { return makeIntegers(f.b, f.loc, {n}); }
  /// Returns the one element of a tensor as a tensor of rank 0.
  Value scalar(Value v) { return f.reshape(v, {}); }
  Value where(Value c, Value a, Value b) { return f.op("Where", {c, a, b}); }
  Value equal(Value a, Value b) { return f.op("Equal", {a, b}); }
  Value less(Value a, Value b) { return f.op("Less", {a, b}); }
  /// Returns the size of an axis as a list of one element.
  Value size(Value x, int64_t axis) {
    return f.op("Shape", {x}, {f.integer("start", axis), f.integer("end", axis + 1)});
  }
  Value joined(llvm::ArrayRef<Value> parts, int64_t axis = 0) {
    return f.op("Concat", parts, {f.integer("axis", axis)});
  }
  Value gather(Value x, Value places, int64_t axis = 0) {
    return f.op("Gather", {x, places}, {f.integer("axis", axis)});
  }
  Value slice(Value x, Value from, Value to, int64_t axis) { return f.op("Slice", {x, from, to, list(axis), Value()}); }
  /// Returns `x` in the shape that these lists make, one behind the other.
  Value shaped(Value x, llvm::ArrayRef<Value> shape) {
    return f.op("Reshape", {x, joined(shape)}, {f.integer("allowzero", 1)});
  }
  /// Returns a tensor of that shape with `one` (a constant of one element) in all its places.
  Value filled(mlir::ElementsAttr one, llvm::ArrayRef<Value> shape) {
    return f.op("ConstantOfShape", {joined(shape)}, {f.b.getNamedAttr("value", one)});
  }
  mlir::ElementsAttr integer(int64_t n, mlir::Type element) {
    return constantFromIntegers(tensorOf({1}, element), {n});
  }
  mlir::ElementsAttr real(double v) { return constantFromFloats(tensorOf({1}, f.b.getF32Type()), {v}); }
  /// Returns `x`, which has `rank` axes, with `number` behind its elements along an axis, so that there are `most` (a
  /// list) of them.
  Value padded(Value x, int64_t rank, int64_t axis, Value most, Value number);
  /// Returns `v`, of int64, where `bad` does not hold; otherwise the run ends with INGOT_ERROR_INDEX.
  Value failIf(Value bad, Value v);
  /// Returns whether a loop goes on, which is as long as some element of `done` is false.
  Value goesOn(Value done);

  /// Returns scores [rows, vocabulary] that the rules have changed. `tokens` [rows, length] are those before the next
  /// one.
  Value ruled(Value scores, Value tokens, bool isFirst);
  /// Returns the best token of each row, [rows, 1].
  Value best(Value scores);
  /// Draws a token for each row, more probably one of a high score. `step` (int64, rank 0) counts the draws of a run.
  Value drawn(Value scores, Value step, const TokenDice &dice);

  BeamSizes sizesOf(Value sentences, Value beams, Value most, Value words);
  /// Returns the state in which a search begins.
  BeamState firstBeams(const BeamSizes &sizes);
  /// Chooses the beams of the next step and keeps sequences that have ended in `state`. Scores are logarithms of
  /// probabilities that the rules have changed: [sentences, 1 or beams, vocabulary]. `sequences` has all tokens so far
  /// of [sentences * beams] rows.
  BeamStep nextBeams(const BeamSizes &sizes, Value scores, Value sequences, Value lengthPenalty, bool stopsEarly,
                     BeamState &state);
  /// Adds the beams of sentences that are not done to the results.
  void finish(const BeamSizes &sizes, Value sequences, Value lengthPenalty, BeamState &state);

private:
  Value lowest(Value like);
  Value allowed(Value scores, Value mask);
  Value without(Value scores, Value tokens);
  Value filteredByMass(Value scores, const TokenDice &dice);
  Value uniform(Value rows, Value step, Value seed);
  void insert(const BeamSizes &sizes, BeamState &state, Value scores, Value rows, Value sequences);
  Value improves(const BeamSizes &sizes, Value totals, Value sequences, Value lengthPenalty, const BeamState &state);
  Value perLength(Value scores, Value sequences, Value lengthPenalty);
  mlir::Operation *top(Value x, Value count, int64_t axis, bool largest);
};

} // namespace ingot::onnx
