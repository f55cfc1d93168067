// Writes the steps of a search for tokens (TokenFormula.h) as operators. A step of a beam search sorts 2 * beams
// candidates of each sentence. The first `beams` of them that do not end a sequence go on; an end among the first
// `beams` of all candidates makes a result. The results of a sentence are a sorted list. A new one is sorted with the
// list, in which the older one of two equal results comes first. Beams of a sentence that is done go on with padding.
//
// Numbers are drawn as std::minstd_rand0 and std::uniform_real_distribution<double> of libstdc++ draw them, which ONNX
// Runtime uses: 16807^n times the seed, modulo 2^31 - 1, and two of these for each number. The power is computed by
// squaring, so that no state has to be carried from step to step.
#include "compiler/onnx/text/TokenFormula.h"
#include "compiler/onnx/text/NGrams.h"
#include <limits>

using namespace mlir;

namespace ingot::onnx {

// These are what all steps need.

Value TokenFormula::lowest(Value like) { return f.number(std::numeric_limits<float>::lowest(), like); }

Value TokenFormula::failIf(Value bad, Value v) {
  // An index that is outside ends a run; a lookup in a table of two entries is not folded away.
  Value table = makeIntegers(f.b, f.loc, {0, 1});
  return f.add(v, gather(table, where(bad, number(2), number(0))));
}

Value TokenFormula::goesOn(Value done) {
  return less(number(0), f.reduce("ReduceSum", i64(f.op("Not", {done})), {0, 1}, /*keepdims=*/false));
}

Value TokenFormula::padded(Value x, int64_t rank, int64_t axis, Value most, Value number) {
  SmallVector<int64_t> before(rank + axis, 0), behind(rank - axis - 1, 0);
  Value pads = joined({makeIntegers(f.b, f.loc, before), f.sub(most, size(x, axis)), makeIntegers(f.b, f.loc, behind)});
  return f.op("Pad", {x, pads, number, Value()});
}

Operation *TokenFormula::top(Value x, Value count, int64_t axis, bool largest) {
  return createOp(f.b, f.loc, "onnx.TopK", {x, count},
                  {f.integer("axis", axis), f.integer("largest", largest), f.integer("sorted", 1)}, 2);
}

// These apply the rules.

Value TokenFormula::allowed(Value scores, Value mask) {
  return where(equal(i64(mask), number(0)), lowest(scores), scores);
}

/// Returns the scores, in which those of tokens that a sequence has are worse: negative ones are multiplied by the
/// penalty, others are divided by it.
Value TokenFormula::without(Value scores, Value tokens) {
  Value own = f.op("GatherElements", {scores, tokens}, {f.integer("axis", 1)}), p = scalar(f32(rules.penalty));
  Value worse = where(less(own, f.number(0, own)), f.mul(own, p), f.div(own, p));
  return f.op("ScatterElements", {scores, tokens, worse}, {f.integer("axis", 1)});
}

Value TokenFormula::ruled(Value scores, Value tokens, bool isFirst) {
  if (rules.penalty) {
    scores = without(scores, tokens);
  }
  if (rules.repeats > 0) {
    scores = withoutRepeats(f, scores, tokens, rules.repeats, std::numeric_limits<float>::lowest());
  }
  if (rules.vocabulary) {
    scores = allowed(scores, rules.vocabulary);
  }
  if (rules.firstToken && isFirst) {
    scores = allowed(scores, rules.firstToken);
  }
  if (rules.leastLength) {
    Value isEnd = equal(f.countTo(scalar(size(scores, 1))), number(rules.end));
    Value isShort = less(scalar(size(tokens, 1)), rules.leastLength);
    scores = where(f.op("And", {isEnd, isShort}), lowest(scores), scores);
  }
  if (rules.temperature > 0 && rules.temperature != 1) {
    scores = f.div(scores, f.number(rules.temperature, scores));
  }
  if (rules.presence && rules.presencePenalty != 0) {
    scores = f.sub(scores, f.mul(f32(rules.presence), f.number(rules.presencePenalty, scores)));
  }
  return scores;
}

// These choose one token for each row.

Value TokenFormula::best(Value scores) {
  return f.op("ArgMax", {scores}, {f.integer("axis", 1), f.integer("keepdims", 1)});
}

/// Returns the scores with `filtered` for all tokens but the most probable ones that have `dice.mass` together.
Value TokenFormula::filteredByMass(Value scores, const TokenDice &dice) {
  Value count = size(scores, 1), place = f.countTo(scalar(count));
  Operation *sorted = top(scores, count, 1, dice.isCustom);
  Value values = sorted->getResult(0), places = sorted->getResult(1);
  Value mass = f.op("CumSum", {f.op("Softmax", {values}, {f.integer("axis", 1)}), number(1)}), out;
  if (dice.isCustom) { // the most probable ones first: those behind the one that completes the mass
    Value beyond = f.op("Greater", {mass, f.number(dice.mass, mass)});
    Value before = slice(beyond, list(0), list(-1), 1);
    Value no = makeConstant(f.b, f.loc, constantFromIntegers(tensorOf({}, f.b.getI1Type()), {0}));
    out = f.op("Pad", {before, makeIntegers(f.b, f.loc, {0, 1, 0, 0}), no, Value()});
  } else { // the least probable ones first, but for the last few
    Value rest = f.number(1 - static_cast<float>(dice.mass), mass), end = f.sub(scalar(count), number(dice.least));
    Value few = f.op("Or", {less(place, end), equal(place, number(0))});
    out = f.op("And", {f.op("LessOrEqual", {mass, rest}), few});
  }
  Value kept = where(out, f.number(dice.filtered, values), values);
  return f.op("ScatterElements", {scores, places, kept}, {f.integer("axis", 1)});
}

/// Returns a number from 0 to 1 for each row (`rows` is a list), float64 [rows, 1]. Each takes two numbers of the
/// generator.
Value TokenFormula::uniform(Value rows, Value step, Value seed) {
  constexpr int64_t factor = 16807, modulus = (int64_t(1) << 31) - 1;
  constexpr int bits = 32;
  auto modulo = [&](Value v) { return f.op("Mod", {v, number(modulus)}); };
  Value first = modulo(seed);
  first = where(equal(first, number(0)), number(1), first);
  Value row = f.reshape(f.countTo(scalar(rows)), {-1, 1});
  Value call = f.mul(f.add(f.mul(step, scalar(rows)), row), number(2));
  auto drawn = [&](int64_t which) {
    Value power = f.add(call, number(which)), x = f.add(f.mul(call, number(0)), first);
    int64_t square = factor;
    for (int bit = 0; bit < bits; ++bit, square = square * square % modulus) {
      Value isSet = equal(f.op("Mod", {f.div(power, number(int64_t(1) << bit)), number(2)}), number(1));
      x = where(isSet, modulo(f.mul(x, number(square))), x);
    }
    return f.op("Cast", {f.sub(x, number(1))}, {f.integer("to", 11)});
  };
  Value low = drawn(1), range = f.number(modulus - 1, low);
  return f.div(f.add(low, f.mul(drawn(2), range)), f.mul(range, range));
}

Value TokenFormula::drawn(Value scores, Value step, const TokenDice &dice) {
  Value wide = f.op("Cast", {filteredByMass(scores, dice)}, {f.integer("to", 11)});
  Value weights = f.exp(f.sub(wide, f.reduce("ReduceMax", wide, {1}, /*keepdims=*/true)));
  Value mass = f.op("CumSum", {weights, number(1)});
  Value all = slice(mass, list(-1), list(std::numeric_limits<int64_t>::max()), 1);
  Value place = f.mul(uniform(size(scores, 0), step, dice.seed), all);
  return f.reduce("ReduceSum", i64(f.op("LessOrEqual", {mass, place})), {1}, /*keepdims=*/true);
}

// These are the steps of a beam search.

BeamSizes TokenFormula::sizesOf(Value sentences, Value beams, Value most, Value words) {
  BeamSizes s;
  s.sentences = sentences, s.beams = beams, s.most = most, s.words = words;
  s.twice = f.mul(beams, list(2)), s.rows = f.mul(sentences, beams);
  s.pairs = joined({sentences, beams}), s.flat = joined({sentences, f.mul(beams, words)});
  s.cubes = joined({sentences, beams, words});
  return s;
}

BeamState TokenFormula::firstBeams(const BeamSizes &sizes) {
  Type i64 = f.b.getI64Type();
  BeamState state;
  // All beams begin alike: only the first one counts, or all would choose the same tokens.
  Value zeros = filled(real(0), {sizes.pairs}), isFirst = equal(f.countTo(scalar(sizes.beams)), number(0));
  state.scores = where(isFirst, zeros, f.number(-1e9, zeros));
  state.bestScores = filled(real(-std::numeric_limits<double>::infinity()), {sizes.pairs});
  state.best = filled(integer(rules.padding, i64), {sizes.pairs, sizes.most});
  state.counts = filled(integer(0, i64), {sizes.sentences, list(1)});
  state.done = filled(integer(0, f.b.getI1Type()), {sizes.sentences, list(1)});
  return state;
}

Value TokenFormula::perLength(Value scores, Value sequences, Value lengthPenalty) {
  return f.div(scores, f.op("Pow", {f32(scalar(size(sequences, 1))), lengthPenalty}));
}

/// Sorts new results [sentences, beams] into the best ones; `rows` says which rows of `sequences` have their tokens.
void TokenFormula::insert(const BeamSizes &sizes, BeamState &state, Value scores, Value rows, Value sequences) {
  Operation *sorted = top(joined({state.bestScores, scores}, 1), sizes.beams, 1, /*largest=*/true);
  Value tokens = gather(padded(sequences, 2, 1, sizes.most, number(rules.padding)), rows);
  Value all = shaped(joined({state.best, tokens}, 1), {list(-1), sizes.most});
  Value first = f.mul(f.reshape(f.countTo(scalar(sizes.sentences)), {-1, 1}), sizes.twice);
  state.bestScores = shaped(sorted->getResult(0), {sizes.pairs});
  state.best = gather(all, shaped(f.add(sorted->getResult(1), first), {sizes.pairs}));
}

BeamStep TokenFormula::nextBeams(const BeamSizes &sizes, Value scores, Value sequences, Value lengthPenalty,
                                 bool stopsEarly, BeamState &state) {
  Value sentences = sizes.sentences, beams = sizes.beams;
  BeamStep step;
  step.total = shaped(f.add(scores, f.op("Unsqueeze", {state.scores, list(2)})), {sizes.cubes});
  Operation *candidates = top(shaped(step.total, {sizes.flat}), sizes.twice, 1, /*largest=*/true);
  Value totals = candidates->getResult(0), place = candidates->getResult(1);
  Value beam = f.div(place, sizes.words), token = f.sub(place, f.mul(beam, sizes.words));
  Value isEnd = equal(token, number(rules.end));
  Value row = f.add(beam, f.mul(f.reshape(f.countTo(scalar(sentences)), {-1, 1}), beams));
  Value wasDone = state.done;

  // Results.
  auto front = [&](Value v) { return slice(v, list(0), beams, 1); };
  Value isResult = f.op("And", {front(isEnd), f.op("Not", {wasDone})});
  Value none = f.number(-std::numeric_limits<double>::infinity(), totals);
  Value results = where(isResult, perLength(front(totals), sequences, lengthPenalty), none);
  insert(sizes, state, results, front(row), sequences);
  Value more = f.reduce("ReduceSum", i64(isResult), {1}, /*keepdims=*/true);
  state.counts = shaped(f.op("Min", {f.add(state.counts, more), beams}), {sentences, list(1)});

  // The next beams.
  Value order = f.add(f.countTo(scalar(sizes.twice)), where(isEnd, sizes.twice, list(0)));
  Value chosen = top(order, beams, 1, /*largest=*/false)->getResult(1);
  auto next = [&](Value v, Value ofDone, Value shape) {
    Value own = f.op("GatherElements", {v, chosen}, {f.integer("axis", 1)});
    return shaped(where(wasDone, ofDone, own), {shape});
  };
  state.scores = next(totals, f.number(0, totals), sizes.pairs);
  step.tokens = f.op("Unsqueeze", {next(token, number(rules.padding), sizes.rows), list(1)});
  step.rows = next(row, number(0), sizes.rows);

  Value isDone = f.op("GreaterOrEqual", {state.counts, beams});
  if (!stopsEarly) {
    isDone = f.op("And", {isDone, f.op("Not", {improves(sizes, totals, sequences, lengthPenalty, state)})});
  }
  state.done = shaped(f.op("Or", {wasDone, isDone}), {sentences, list(1)});
  return step;
}

/// Returns whether a sentence can still get a better result. ONNX Runtime looks for the best candidate of sentence s
/// among `beams` of them from s * beams on, though each sentence has twice as many; results are equal only if this is
/// done, too.
Value TokenFormula::improves(const BeamSizes &sizes, Value totals, Value sequences, Value lengthPenalty,
                             const BeamState &state) {
  Value halves = f.reduce("ReduceMax", shaped(totals, {list(-1), sizes.beams}), {1}, /*keepdims=*/true);
  Value own = slice(halves, list(0), sizes.sentences, 0);
  Value other = slice(halves, list(1), f.add(sizes.sentences, list(1)), 0);
  Value worst = slice(state.bestScores, list(-1), list(std::numeric_limits<int64_t>::max()), 1);
  return less(worst, perLength(f.op("Max", {own, other}), sequences, lengthPenalty));
}

void TokenFormula::finish(const BeamSizes &sizes, Value sequences, Value lengthPenalty, BeamState &state) {
  Value none = f.number(-std::numeric_limits<double>::infinity(), state.scores);
  Value scores = where(state.done, none, perLength(state.scores, sequences, lengthPenalty));
  insert(sizes, state, scores, shaped(f.countTo(scalar(sizes.rows)), {sizes.pairs}), sequences);
}

} // namespace ingot::onnx
