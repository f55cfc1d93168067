// GreedySearch, Sampling and BeamSearch of com.microsoft, which write tokens with a decoder that the node holds as a
// subgraph. What they compute is a Loop of the standard around the decoder, so that sizes, memory and kernels are those
// of any other loop.
//
// The first step stands in front of the loop, since it is another one: it reads a whole prompt, once for each sentence
// and not for each beam, by a subgraph of its own where there is one (`init_decoder`, or an encoder that starts the
// decoder). An iteration of the loop reads one token for each row. Its caches, the mask and the sequences (without the
// token that it reads) all grow by one, from the prompt's length on, so that they share one size.
#include "compiler/onnx/expanded/Search.h"
#include "compiler/onnx/Control.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/text/NGrams.h"
#include "compiler/onnx/text/TokenFormula.h"
#include "mlir/IR/Verifier.h"
#define GET_OP_CLASSES
#include "compiler/onnx/expanded/Search.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

namespace {
/// The numbers of an operator's operands by their kind, or -1 for a kind that it lacks.
struct SearchForm {
  int beams, returned, lengthPenalty, penalty, vocabulary, firstToken, mask, presence, seed;
};
} // namespace

static constexpr SearchForm kGreedy = {-1, -1, -1, 3, 4, 5, 6, -1, -1}, kSampling = {-1, -1, -1, 3, 4, 5, 6, 7, 8},
                            kBeams = {3, 4, 5, 6, 7, 8, 9, -1, -1};
// Operands that all of the operators have.
static constexpr int kIds = 0, kMostLength = 1, kLeastLength = 2, kForcedIds = 10, kProcessor = 11;
// The numbers of regions.
static constexpr unsigned kDecoder = 0, kInitDecoder = 1, kEncoder = 2;

static const SearchForm &formOf(Operation *op) {
  return isa<BeamSearchOp>(op) ? kBeams : isa<SamplingOp>(op) ? kSampling : kGreedy;
}

namespace {

/// The state of a decoder beside the tokens.
struct Kept {
  Value mask, places;         ///< for decoders that read the prompt: [rows, length], [rows, 1]
  SmallVector<Value> caches;  ///< caches, which grow
  SmallVector<Value> encoded; ///< the results of an encoder, which stay
};

class Search {
public:
  Search(SubgraphHolder op, OpBuilder &b) : op(op), form(formOf(op)), t(b, op->getLoc(), {}) {
    t.rules.end = integer("eos_token_id", -1), t.rules.padding = integer("pad_token_id", -1);
    t.rules.repeats = integer("no_repeat_ngram_size", 0);
    t.rules.temperature = real("temperature", 1), t.rules.presencePenalty = real("presence_penalty", 0);
    dice.mass = real("top_p", 0), dice.filtered = real("filter_value", -1e20);
    dice.least = integer("min_tokens_to_keep", 0), dice.isCustom = integer("custom", 0) == 1;
    kind = integer("model_type", 0), start = integer("decoder_start_token_id", -1), words = integer("vocab_size", -1);
    stopsEarly = integer("early_stopping", 0) == 1;
  }

  LogicalResult verify();
  LogicalResult verifyOperands();
  bool hasBeams() const { return form.beams >= 0; }
  /// Computes the value of each result; null for one that nobody reads.
  LogicalResult run(SmallVectorImpl<Value> &results);

private:
  using Values = SmallVector<Value>;

  SubgraphHolder op;
  const SearchForm &form;
  TokenFormula t;
  TokenDice dice;
  int64_t kind = 0, start = -1, words = -1;
  bool stopsEarly = false;
  Value lengthPenalty;         ///< float32, rank 0
  Value most, beams, returned; ///< sizes as lists

  int64_t integer(StringRef name, int64_t otherwise) const {
    auto given = op->getAttrOfType<IntegerAttr>(name);
    return given ? given.getInt() : otherwise;
  }
  double real(StringRef name, double otherwise) const {
    auto given = op->getAttrOfType<FloatAttr>(name);
    return given ? given.getValueAsDouble() : otherwise;
  }
  Value input(int place) const {
    Value v = place >= 0 ? op->getOperand(place) : Value();
    return present(v) ? v : Value();
  }
  /// Returns an input of one element; null where it is left out.
  Value number(int place) { return input(place) ? t.scalar(t.i64(input(place))) : Value(); }
  /// Returns an input of one element as a list that is the size of a tensor, too: a size that data tells is then one
  /// size wherever it is used.
  Value count(int place) {
    Value some = t.filled(t.integer(0, t.f.b.getI1Type()), {t.f.reshape(t.i64(input(place)), {1})});
    return t.size(some, 0);
  }
  LogicalResult problem(const Twine &text) const { return emitError(op->getLoc()) << text; }

  Block &decoder() const { return op->getRegion(kDecoder).front(); }
  /// Returns the number of the region that reads the prompt.
  unsigned opening() const {
    return kind == 1 ? kEncoder : op->getRegion(kInitDecoder).empty() ? kDecoder : kInitDecoder;
  }
  StringRef nameOf(unsigned region) { return op.subgraphNames()[region]; }

  void readOperands();
  FailureOr<Value> first(Kept &kept, Value &sequences);
  FailureOr<Value> prompt(Kept &kept, Value &sequences);
  FailureOr<Value> encoder(Kept &kept, Value &sequences);
  FailureOr<Value> next(Kept &kept, Value tokens, Value sequences);
  FailureOr<Values> call(unsigned region, ArrayRef<Value> values, size_t leastOutputs);
  FailureOr<Values> emptyCaches(unsigned region, size_t from, size_t count, Value rows, int64_t heads);
  Value lastOf(Value logits);
  int64_t rowAxis() const { return kind == 0 ? 1 : 0; }

  Value checked(Value tokens, Value length);
  FailureOr<Values> loop(Value trips, Value condition, ArrayRef<Value> initial, unsigned results,
                         llvm::function_ref<FailureOr<Values>(Block &)> body);
  LogicalResult oneByOne(SmallVectorImpl<Value> &results);
  LogicalResult byBeams(SmallVectorImpl<Value> &results);
};

} // namespace

// These verify the op's attributes and operands.

LogicalResult Search::verify() {
  if (t.rules.end < 0 || t.rules.padding < 0) {
    return op->emitOpError("needs the attributes 'eos_token_id' and 'pad_token_id'");
  }
  if (t.rules.repeats < 0 || t.rules.repeats > kMostTokensInARow) {
    return op->emitOpError("no_repeat_ngram_size ") << t.rules.repeats << " is unsupported";
  }
  if (kind != 0 && !(hasBeams() && kind == 1)) {
    return op->emitOpError("model_type ") << kind << " is unsupported";
  }
  if (!input(kIds) || !input(kMostLength) || (hasBeams() && (!input(form.beams) || !input(form.returned)))) {
    return op->emitOpError("leaves out an input that it needs");
  }
  return success();
}

LogicalResult Search::verifyOperands() {
  if (auto ids = ranked(input(kIds)); !ids || ids.getRank() != 2) {
    return op->emitOpError("needs tokens [batch, length]");
  }
  for (unsigned region : {kDecoder, kEncoder}) {
    if (op->getRegion(region).empty() && (region == kDecoder || kind == 1)) {
      return op->emitOpError("needs the attribute '") << nameOf(region) << "'";
    }
  }
  if (!hasBeams()) {
    return success();
  }
  if (input(kForcedIds) || input(kProcessor)) {
    return op->emitOpError("decoder_input_ids and logits_processor are unsupported");
  }
  Size all = numberIn(input(form.beams)), few = numberIn(input(form.returned));
  if (all.isNumber() && few.isNumber() && (few.number() < 1 || few.number() > all.number())) {
    return op->emitOpError("returns ") << few.number() << " sequences of " << all.number() << " beams";
  }
  return success();
}

void Search::readOperands() {
  t.rules.penalty = input(form.penalty), t.rules.vocabulary = input(form.vocabulary);
  t.rules.firstToken = input(form.firstToken), t.rules.presence = input(form.presence);
  t.rules.leastLength = number(kLeastLength);
  dice.seed = form.seed >= 0 && input(form.seed) ? number(form.seed) : t.number(0);
  Value one = makeNumber(t.f.b, t.f.loc, 1, t.f.b.getF32Type());
  lengthPenalty = input(form.lengthPenalty) ? t.scalar(t.f32(input(form.lengthPenalty))) : one;
  most = count(kMostLength);
  if (hasBeams()) {
    beams = count(form.beams), returned = count(form.returned);
  }
}

// These run the decoder.

/// Returns the results of a subgraph for these values. Fails with a message when the subgraph takes other operands. The
/// subgraph is copied to where its values are needed; the search op disappears with the original.
FailureOr<Search::Values> Search::call(unsigned region, ArrayRef<Value> values, size_t leastOutputs) {
  Block &graph = op->getRegion(region).front();
  size_t outputs = graph.getTerminator()->getNumOperands();
  if (graph.getNumArguments() != values.size() || outputs < leastOutputs) {
    return problem("gives " + Twine(values.size()) + " values to '" + nameOf(region) + "', which has " +
                   Twine(graph.getNumArguments()) + " inputs and " + Twine(outputs) +
                   " outputs; caches that past and present share are unsupported");
  }
  return copySubgraph(t.f.b, op->getRegion(region), values);
}

/// Makes caches without a row for inputs [from, from + count) of a subgraph, whose declared types say the other sizes.
FailureOr<Search::Values> Search::emptyCaches(unsigned region, size_t from, size_t count, Value rows, int64_t heads) {
  Values caches;
  for (BlockArgument argument : op->getRegion(region).front().getArguments().slice(from, count)) {
    auto type = ranked(argument);
    int64_t rank = kind == 0 ? 5 : 4;
    auto isKnown = [&](int64_t axis) { return !type.isDynamicDim(axis) && type.getDimSize(axis) > 0; };
    if (!type || type.getRank() != rank || !isa<FloatType>(type.getElementType()) || !isKnown(heads) ||
        !isKnown(rank - 1)) {
      return problem("needs to know of input '" + inputName(op, region, argument.getArgNumber()) + "' of '" +
                     nameOf(region) + "' how many heads it has and how wide they are");
    }
    SmallVector<Value> shape = {rows, t.list(type.getDimSize(heads)), t.list(0), t.list(type.getDimSize(rank - 1))};
    if (kind == 0) { // a cache has keys and values
      shape.insert(shape.begin(), t.list(2));
    }
    caches.push_back(t.filled(constantFromFloats(tensorOf({1}, type.getElementType()), {0.0}), shape));
  }
  return caches;
}

/// Returns the scores [rows, vocabulary] of the last place.
Value Search::lastOf(Value logits) {
  Value last = t.f32(t.gather(logits, t.number(-1), 1));
  auto type = ranked(last);
  bool isWider = words > 0 && !(type && type.getRank() == 2 && type.getDimSize(1) == words);
  return isWider ? t.slice(last, t.list(0), t.list(words), 1) : last;
}

/// Lets a decoder read the prompt. Padding has no place in it and is masked. For a row of two padding tokens and three
/// words, whose padding is 0:
///
///   tokens   0 0 7 8 9
///   mask     0 0 1 1 1
///   places   0 0 0 1 2      and the next word stands at 3
FailureOr<Value> Search::prompt(Kept &kept, Value &sequences) {
  sequences = t.i64(input(kIds));
  Value isWord = t.f.op("Not", {t.equal(sequences, t.number(t.rules.padding))}), one = t.i64(isWord);
  Value before = t.f.sub(t.f.op("CumSum", {one, t.number(1)}), t.number(1));
  Value places = t.where(isWord, before, t.number(0));
  kept.mask = t.i32(input(form.mask) ? input(form.mask) : isWord);
  kept.places = t.f.reduce("ReduceSum", one, {1}, /*keepdims=*/true);
  size_t inputs = op->getRegion(opening()).getNumArguments();
  if (inputs < 4) {
    return problem("'" + nameOf(opening()) + "' has " + Twine(inputs) + " inputs, and so no cache");
  }
  FailureOr<Values> caches = emptyCaches(opening(), 3, inputs - 3, t.size(sequences, 0), 2);
  if (failed(caches)) {
    return failure();
  }
  Values values = {t.i32(sequences), t.i32(places), kept.mask};
  values.append(*caches);
  FailureOr<Values> outputs = call(opening(), values, 1 + caches->size());
  if (failed(outputs)) {
    return failure();
  }
  kept.caches.assign(outputs->begin() + 1, outputs->begin() + 1 + caches->size());
  return outputs->front();
}

/// Lets an encoder read the prompt; it or the decoder reads the token that starts. An encoder of three inputs runs the
/// decoder's first step as well and returns its scores and caches; one of two returns states alone.
FailureOr<Value> Search::encoder(Kept &kept, Value &sequences) {
  Value ids = t.i64(input(kIds)), rows = t.size(ids, 0);
  // Only padding in front is no part of the sentence: behind it, an end may be the same token.
  Value isWord = t.f.op("Not", {t.equal(ids, t.number(t.rules.padding))});
  Value words = t.f.op("CumSum", {t.i64(isWord), t.number(1)});
  Value mask = t.i32(input(form.mask) ? input(form.mask) : t.less(t.number(0), words));
  sequences = t.filled(t.integer(start, t.f.b.getI64Type()), {rows, t.list(1)});
  bool starts = op->getRegion(kEncoder).getNumArguments() == 3;
  Values values = {t.i32(ids), mask};
  if (starts) {
    values.push_back(t.i32(sequences));
  }
  FailureOr<Values> outputs = call(kEncoder, values, starts ? 6 : 2);
  if (failed(outputs)) {
    return failure();
  }
  size_t inputs = decoder().getNumArguments();
  bool hasStates = inputs > 2 && inputName(op, kDecoder, 2) == "encoder_hidden_states";
  size_t fixed = 2 + hasStates, layers = (inputs - std::min(fixed, inputs)) / 4;
  size_t crossed = starts ? 2 + 2 * layers : 0;
  if (layers == 0 || inputs != fixed + 4 * layers || outputs->size() != crossed + 2 * layers ||
      (hasStates && !starts)) {
    return problem("has an encoder of " + Twine(outputs->size()) + " outputs and a decoder of " + Twine(inputs) +
                   " inputs, which do not fit each other");
  }
  kept.encoded.push_back(mask);
  if (hasStates) {
    kept.encoded.push_back((*outputs)[1]);
  }
  kept.encoded.append(outputs->begin() + crossed, outputs->end());
  if (starts) {
    kept.caches.assign(outputs->begin() + 2, outputs->begin() + crossed);
    return outputs->front();
  }
  FailureOr<Values> caches = emptyCaches(kDecoder, fixed, 2 * layers, rows, 1);
  if (failed(caches)) {
    return failure();
  }
  kept.caches = *caches;
  return next(kept, sequences, sequences);
}

/// Returns the scores for what follows `tokens`, the last ones of the sequences. A decoder beside an encoder may read
/// the last token alone or, if its input is not declared so, the whole sequence.
FailureOr<Value> Search::next(Kept &kept, Value tokens, Value sequences) {
  Values values;
  if (kind == 0) {
    Value one = t.filled(t.integer(1, t.f.b.getI32Type()), {t.size(tokens, 0), t.list(1)});
    kept.mask = t.joined({kept.mask, one}, 1);
    values = {t.i32(tokens), t.i32(kept.places), kept.mask};
    kept.places = t.f.add(kept.places, t.number(1));
  } else {
    auto ids = ranked(decoder().getArgument(0));
    bool takesOne = ids && ids.getRank() == 2 && ids.getDimSize(1) == 1;
    values = {t.i32(takesOne ? tokens : sequences), kept.encoded[0]};
    size_t states = kept.encoded.size() - kept.caches.size();
    values.append(kept.encoded.begin() + 1, kept.encoded.begin() + states);
  }
  values.append(kept.caches);
  if (kind == 1) {
    values.append(kept.encoded.end() - kept.caches.size(), kept.encoded.end());
  }
  FailureOr<Values> outputs = call(kDecoder, values, 1 + kept.caches.size());
  if (failed(outputs)) {
    return failure();
  }
  kept.caches.assign(outputs->begin() + 1, outputs->begin() + 1 + kept.caches.size());
  return outputs->front();
}

/// Returns the scores for the first token, [sentences, vocabulary].
FailureOr<Value> Search::first(Kept &kept, Value &sequences) {
  FailureOr<Value> logits = kind == 0 ? prompt(kept, sequences) : encoder(kept, sequences);
  if (failed(logits)) {
    return failure();
  }
  return lastOf(*logits);
}

// These write the searches.

/// Returns the first tokens, where there is room for them.
Value Search::checked(Value tokens, Value length) {
  Value bad = t.f.op("LessOrEqual", {t.scalar(most), length});
  if (hasBeams()) {
    Value none = t.less(t.scalar(returned), t.number(1)), more = t.less(t.scalar(beams), t.scalar(returned));
    bad = t.f.op("Or", {bad, t.f.op("Or", {none, more})});
  }
  return t.failIf(bad, tokens);
}

namespace {
/// The values that a loop carries, one behind the other.
struct Carried {
  Value tokens, sequences;
  Kept kept;
  SmallVector<Value> more;

  SmallVector<Value> flat() const {
    SmallVector<Value> all = {tokens, sequences};
    if (kept.mask) {
      all.append({kept.mask, kept.places});
    }
    all.append(kept.caches);
    all.append(more);
    return all;
  }
  /// Returns such carried values made of other ones.
  Carried like(ValueRange values) const {
    auto next = [&] {
      Value v = values.front();
      values = values.drop_front();
      return v;
    };
    Carried c = *this;
    c.tokens = next(), c.sequences = next();
    if (kept.mask) {
      c.kept.mask = next(), c.kept.places = next();
    }
    std::generate(c.kept.caches.begin(), c.kept.caches.end(), next);
    std::generate(c.more.begin(), c.more.end(), next);
    return c;
  }
};
} // namespace

/// Makes a loop of `trips` iterations at most, which goes on while the first result of the body holds. Its block's
/// arguments are the iteration's number, the condition and the carried values.
FailureOr<Search::Values> Search::loop(Value trips, Value condition, ArrayRef<Value> initial, unsigned results,
                                       llvm::function_ref<FailureOr<Values>(Block &)> body) {
  OpBuilder &b = t.f.b;
  OperationState state(t.f.loc, LoopOp::getOperationName());
  state.addOperands({trips, condition});
  state.addOperands(initial);
  state.addTypes(SmallVector<Type>(results, unrankedOf(b.getF32Type())));
  Block &block = state.addRegion()->emplaceBlock();
  block.addArguments({tensorOf({}, b.getI64Type()), tensorOf({}, b.getI1Type())}, {t.f.loc, t.f.loc});
  for (Value v : initial) {
    block.addArgument(v.getType(), t.f.loc);
  }
  Operation *made = b.create(state);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(&made->getRegion(0).front());
  FailureOr<Values> yields = body(made->getRegion(0).front());
  if (failed(yields)) {
    return failure();
  }
  YieldOp::create(b, t.f.loc, *yields);
  if (failed(mlir::verify(made, /*verifyRecursively=*/false)) || failed(updateTypes(made))) {
    return failure();
  }
  return Values(made->getResults());
}

/// Carries for each row whether it has ended. The token that an iteration chooses joins the sequences in the next one,
/// so the last one joins behind the loop; rows that ended early, and the places up to max_length, are padding.
LogicalResult Search::oneByOne(SmallVectorImpl<Value> &results) {
  bool draws = form.seed >= 0;
  Carried begin;
  FailureOr<Value> scores = first(begin.kept, begin.sequences);
  if (failed(scores)) {
    return failure();
  }
  Value length = t.scalar(t.size(begin.sequences, 1)), rows = t.size(begin.sequences, 0);
  // This chooses tokens, and notes which sequences have ended.
  auto choose = [&](Value scores, Value step, Carried &c, Value sequences, bool isFirst) {
    scores = t.ruled(scores, sequences, isFirst);
    Value token = draws ? t.drawn(scores, step, dice) : t.best(scores);
    Value ended = t.f.op("Or", {c.more[0], t.equal(token, t.number(t.rules.end))});
    c.tokens = t.where(ended, t.number(t.rules.padding), token);
    c.sequences = sequences, c.more[0] = ended;
  };
  begin.more = {t.filled(t.integer(0, t.f.b.getI1Type()), {rows, t.list(1)})};
  choose(*scores, t.number(0), begin, begin.sequences, /*isFirst=*/true);
  begin.tokens = checked(begin.tokens, length);
  Value trips = t.f.sub(t.scalar(most), t.f.add(length, t.number(1)));
  auto body = [&](Block &block) -> FailureOr<Values> {
    Carried c = begin.like(block.getArguments().drop_front(2));
    Value sequences = t.joined({c.sequences, c.tokens}, 1);
    FailureOr<Value> logits = next(c.kept, c.tokens, sequences);
    if (failed(logits)) {
      return failure();
    }
    choose(lastOf(*logits), t.f.add(block.getArgument(0), t.number(1)), c, sequences, /*isFirst=*/false);
    Values yields = {t.goesOn(c.more[0])};
    yields.append(c.flat());
    return yields;
  };
  Values initial = begin.flat();
  FailureOr<Values> last = loop(trips, t.goesOn(begin.more[0]), initial, initial.size(), body);
  if (failed(last)) {
    return failure();
  }
  Carried end = begin.like(*last);
  Value all = t.joined({end.sequences, end.tokens}, 1);
  results.push_back(t.i32(t.padded(all, 2, 1, most, t.number(t.rules.padding))));
  return success();
}

/// A step chooses among the successors of all beams of a sentence, so each chosen beam says which row it continues, and
/// the sequences and caches of that row are gathered. Beams that end are kept beside the others with their scores.
LogicalResult Search::byBeams(SmallVectorImpl<Value> &results) {
  bool wantsScores = !op->getResult(2).use_empty();
  Carried begin;
  FailureOr<Value> logits = first(begin.kept, begin.sequences);
  if (failed(logits)) {
    return failure();
  }
  Value sentences = t.size(begin.sequences, 0), length = t.scalar(t.size(begin.sequences, 1));
  auto scored = [&](Value logits, Value sequences, bool isFirst) {
    Value scores = t.f.op("LogSoftmax", {logits}, {t.f.integer("axis", 1)});
    return t.ruled(scores, sequences, isFirst);
  };
  auto stateOf = [](Carried &c) { return BeamState{c.more[0], c.more[1], c.more[2], c.more[3], c.more[4]}; };
  auto keep = [](Carried &c, const BeamState &s) { c.more = {s.scores, s.bestScores, s.best, s.counts, s.done}; };

  // The first step is one of sentences: each beam then takes what its sentence has.
  BeamSizes sizes = t.sizesOf(sentences, beams, most, t.size(*logits, 1));
  BeamState state = t.firstBeams(sizes);
  Value one = t.f.op("Unsqueeze", {scored(*logits, begin.sequences, /*isFirst=*/true), t.list(1)});
  Value each = t.f.div(t.f.countTo(t.scalar(sizes.rows)), beams); // this is the sentence of each row
  Value expanded = t.gather(begin.sequences, each);
  BeamStep step = t.nextBeams(sizes, one, expanded, lengthPenalty, stopsEarly, state);
  Value from = t.f.div(step.rows, beams), firstTotal = step.total;
  begin.sequences = t.gather(begin.sequences, from);
  begin.tokens = checked(step.tokens, length);
  for (Value &cache : begin.kept.caches) {
    cache = t.gather(cache, from, rowAxis());
  }
  for (Value &value : begin.kept.encoded) {
    value = t.gather(value, each);
  }
  if (begin.kept.mask) {
    begin.kept.mask = t.gather(begin.kept.mask, each), begin.kept.places = t.gather(begin.kept.places, each);
  }
  keep(begin, state);

  Value trips = t.f.sub(t.scalar(most), t.f.add(length, t.number(1)));
  auto body = [&](Block &block) -> FailureOr<Values> {
    Carried c = begin.like(block.getArguments().drop_front(2));
    Value sequences = t.joined({c.sequences, c.tokens}, 1);
    FailureOr<Value> logits = next(c.kept, c.tokens, sequences);
    if (failed(logits)) {
      return failure();
    }
    BeamState state = stateOf(c);
    Value scores = t.shaped(scored(lastOf(*logits), sequences, /*isFirst=*/false), {sizes.cubes});
    BeamStep step = t.nextBeams(sizes, scores, sequences, lengthPenalty, stopsEarly, state);
    c.tokens = step.tokens, c.sequences = t.gather(sequences, step.rows);
    for (Value &cache : c.kept.caches) {
      cache = t.gather(cache, step.rows, rowAxis());
    }
    keep(c, state);
    Values yields = {t.goesOn(state.done)};
    yields.append(c.flat());
    if (wantsScores) {
      yields.push_back(step.total);
    }
    return yields;
  };
  Values initial = begin.flat();
  FailureOr<Values> last = loop(trips, t.goesOn(state.done), initial, initial.size() + wantsScores, body);
  if (failed(last)) {
    return failure();
  }
  Carried end = begin.like(*last);
  state = stateOf(end);
  t.finish(sizes, t.joined({end.sequences, end.tokens}, 1), lengthPenalty, state);
  auto front = [&](Value v) { return t.slice(v, t.list(0), returned, 1); };
  results.append({t.i32(front(state.best)), front(state.bestScores), Value()});
  if (wantsScores) {
    Value all = t.joined({t.f.op("Unsqueeze", {firstTotal, t.list(0)}), last->back()});
    results.back() = t.padded(all, 4, 0, t.f.sub(most, length), t.f.number(0, all));
  }
  return success();
}

LogicalResult Search::run(SmallVectorImpl<Value> &results) {
  readOperands();
  return hasBeams() ? byBeams(results) : oneByOne(results);
}

// These are the methods of the ops.

static LogicalResult verifySearch(SubgraphHolder op) {
  OpBuilder b(op);
  return Search(op, b).verify();
}

/// Infers types. The sequences are [batch, length], or [batch, sequences, length] where there are beams; then the
/// results have scores, too.
static LogicalResult inferSearch(SubgraphHolder op, SmallVectorImpl<Type> &types) {
  OpBuilder b(op);
  if (failed(Search(op, b).verifyOperands())) {
    return failure();
  }
  const SearchForm &form = formOf(op);
  Size batch = sizeOf(ranked(op->getOperand(kIds)), 0), most = numberIn(op->getOperand(kMostLength));
  if (form.beams < 0) {
    types.push_back(sizedType({batch, most}, b.getI32Type()));
    return success();
  }
  Size returned = numberIn(op->getOperand(form.returned)), beams = numberIn(op->getOperand(form.beams));
  types.push_back(sizedType({batch, returned, most}, b.getI32Type()));
  types.push_back(sizedType({batch, returned}, b.getF32Type()));
  types.push_back(sizedType({Size::unknown(), batch, beams, Size::unknown()}, b.getF32Type()));
  return success();
}

/// Checks that the model declares the types of a subgraph's inputs, since the op knows nothing else of them.
static LogicalResult searchArguments(SubgraphHolder op, unsigned region, ArrayRef<Type> types) {
  for (auto [i, type] : llvm::enumerate(types)) {
    if (!type) {
      return op->emitOpError("needs to know the type of input ") << i << " of '" << op.subgraphNames()[region] << "'";
    }
  }
  return success();
}

static constexpr StringLiteral kSubgraphs[] = {"decoder", "init_decoder", "encoder"};

#define SEARCH(Op)                                                                                                     \
  LogicalResult Op::verify() { return verifySearch(*this); }                                                           \
  LogicalResult Op::inferTypes(SmallVectorImpl<Type> &types) { return inferSearch(*this, types); }                     \
  ArrayRef<StringLiteral> Op::subgraphNames() { return kSubgraphs; }                                                   \
  LogicalResult Op::argumentTypes(unsigned region, SmallVectorImpl<Type> &types) {                                     \
    return searchArguments(*this, region, types);                                                                      \
  }                                                                                                                    \
  LogicalResult Op::expand(OpBuilder &b, SmallVectorImpl<Value> &results) { return Search(*this, b).run(results); }
SEARCH(GreedySearchOp)
SEARCH(SamplingOp)
SEARCH(BeamSearchOp)
#undef SEARCH

void registerSearch(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/expanded/Search.cpp.inc"
      >();
}

} // namespace ingot::onnx
