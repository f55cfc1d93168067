// The steps of a search for tokens, as GreedySearch, Sampling and BeamSearch of com.microsoft define them, written in
// terms of the standard's operators. Sizes are tensors here, since data may tell them: how many beams there are, how
// long a sequence may be.
#pragma once
#include "compiler/onnx/rewriting/Formula.h"

namespace ingot::onnx {

/// What changes the scores of tokens before one is chosen. Values that are null: nothing does.
struct TokenRules {
  mlir::Value penalty;                ///< of tokens that a sequence has had
  mlir::Value vocabulary, firstToken; ///< where these are 0 a token is not allowed: ever, or as the first one
  mlir::Value presence;               ///< a row for each sentence, from which `presencePenalty` times is taken
  mlir::Value leastLength;            ///< int64, rank 0: no shorter sequence ends
  int64_t repeats = 0;                ///< so many tokens in a row may stand in a sequence once only; 0: any
  int64_t end = -1, padding = -1;
  double temperature = 1, presencePenalty = 0;
};

/// How Sampling draws.
struct TokenDice {
  double mass = 0; ///< top_p
  double filtered = -1e20;
  int64_t least = 0;
  bool isCustom = false;
  mlir::Value seed; ///< int64, rank 0
};

/// The sizes of a beam search, each a list: computed once, in front of the loop, where it is known soonest what they
/// are.
struct BeamSizes {
  mlir::Value sentences, beams, most, words; ///< `words`: of the vocabulary
  mlir::Value twice, rows;                   ///< 2 * beams, sentences * beams
  mlir::Value pairs, flat, cubes;            ///< [sentences, beams], [.., beams * words], [.., beams, words]
};

/// What is kept of beams beside their sequences. The sentences' best sequences so far are sorted, the best one first.
struct BeamState {
  mlir::Value scores;           ///< [sentences, beams]
  mlir::Value bestScores, best; ///< [sentences, beams], and the tokens [sentences, beams, most]
  mlir::Value counts, done;     ///< [sentences, 1]: how many of the best there are; whether no more come
};

/// A step of a beam search: where the rows of the next beams come from, and what is behind each.
struct BeamStep {
  mlir::Value rows;   ///< [sentences * beams], int64: of all beams
  mlir::Value tokens; ///< [sentences * beams, 1], int64
  mlir::Value total;  ///< [sentences, beams, vocabulary]: what the choice was made from
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
  /// The one element of a tensor, of rank 0.
  Value scalar(Value v) { return f.reshape(v, {}); }
  Value where(Value c, Value a, Value b) { return f.op("Where", {c, a, b}); }
  Value equal(Value a, Value b) { return f.op("Equal", {a, b}); }
  Value less(Value a, Value b) { return f.op("Less", {a, b}); }
  /// A size as a list of one element.
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
  /// `x` in the shape that these lists say one behind the other.
  Value shaped(Value x, llvm::ArrayRef<Value> shape) {
    return f.op("Reshape", {x, joined(shape)}, {f.integer("allowzero", 1)});
  }
  /// A tensor of that shape, and `one` (a constant of one element) in all its places.
  Value filled(mlir::ElementsAttr one, llvm::ArrayRef<Value> shape) {
    return f.op("ConstantOfShape", {joined(shape)}, {f.b.getNamedAttr("value", one)});
  }
  mlir::ElementsAttr integer(int64_t n, mlir::Type element) {
    return constantFromIntegers(tensorOf({1}, element), {n});
  }
  mlir::ElementsAttr real(double v) { return constantFromFloats(tensorOf({1}, f.b.getF32Type()), {v}); }
  /// `x`, of so many axes, with `number` behind it: `most` (a list) elements along an axis.
  Value padded(Value x, int64_t rank, int64_t axis, Value most, Value number);
  /// `v`, of int64, where `bad` does not hold; otherwise the run ends with INGOT_ERROR_INDEX.
  Value unless(Value bad, Value v);
  /// Whether a loop goes on: some element is false.
  Value goesOn(Value done);

  /// Scores [rows, vocabulary] by the rules. `tokens` [rows, length] are those before.
  Value ruled(Value scores, Value tokens, bool isFirst);
  /// The best token of each row, [rows, 1].
  Value best(Value scores);
  /// A token of each row drawn by its score; `step` (int64, rank 0) counts.
  Value drawn(Value scores, Value step, const TokenDice &dice);

  BeamSizes sizesOf(Value sentences, Value beams, Value most, Value words);
  /// How a search begins.
  BeamState firstBeams(const BeamSizes &sizes);
  /// Scores are logarithms of probabilities by the rules: [sentences, 1 or beams, vocabulary]. `sequences` has all
  /// tokens so far of [sentences * beams] rows.
  BeamStep nextBeams(const BeamSizes &sizes, Value scores, Value sequences, Value lengthPenalty, bool stopsEarly,
                     BeamState &state);
  /// Takes the beams of sentences that are not done as results, too.
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
