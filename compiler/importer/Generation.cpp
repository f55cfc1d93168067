// GreedySearch, Sampling and BeamSearch of com.microsoft, which write tokens with a decoder that the node holds as a
// subgraph. What they compute is a Loop of the standard around the decoder, so that sizes, memory and kernels are those
// of any other loop.
//
// The first step stands in front of the loop, since it is another one: it reads a whole prompt, once for each sentence
// and not for each beam, by a subgraph of its own where there is one (`init_decoder`, or an encoder that starts the
// decoder). A turn of the loop reads one token for each row. Its caches, the mask and the sequences (without the token
// that it reads) all grow by one, from the prompt's length on, so that they share one size.
#include "compiler/importer/Importer.h"
#include "compiler/importer/TokenFormula.h"
#include "compiler/onnx/text/NGrams.h"

using namespace mlir;

namespace ingot::importer {

namespace {
/// Where an operator has its inputs; -1: it has none of that kind.
struct SearchForm {
  llvm::StringLiteral op;
  int beams, returned, lengthPenalty, penalty, vocabulary, firstToken, mask, presence, seed;
};
} // namespace

static constexpr SearchForm kForms[] = {{"GreedySearch", -1, -1, -1, 3, 4, 5, 6, -1, -1},
                                        {"Sampling", -1, -1, -1, 3, 4, 5, 6, 7, 8},
                                        {"BeamSearch", 3, 4, 5, 6, 7, 8, 9, -1, -1}};
static constexpr int kIds = 0, kMostLength = 1, kLeastLength = 2, kForcedIds = 10, kProcessor = 11; // of all

static const SearchForm *formOf(llvm::StringRef op) {
  auto found = llvm::find_if(kForms, [&](const SearchForm &form) { return form.op == op; });
  return found == std::end(kForms) ? nullptr : found;
}

bool isSearch(llvm::StringRef domain, llvm::StringRef op) { return domain == "com.microsoft" && formOf(op); }

/// What a decoder keeps from one step to the next, beside the tokens.
struct Kept {
  Value mask, places;         ///< of decoders that read the prompt: [rows, length], [rows, 1]
  SmallVector<Value> caches;  ///< which grow
  SmallVector<Value> encoded; ///< what an encoder gave, which stays
};

struct Importer::Search {
  Search(Importer &importer, const Node &node)
      : importer(importer), node(node), form(*formOf(node.op)), t(importer.builder, importer.locationOf(node), {}) {}

  Importer &importer;
  const Node &node;
  const SearchForm &form;
  TokenFormula t;
  TokenDice dice;
  Values inputs;
  int64_t kind = 0, start = -1, words = -1;
  bool stopsEarly = false;
  Value lengthPenalty;         ///< float32, rank 0
  Value most, beams, returned; ///< lists
  const Subgraph *decoder = nullptr, *opening = nullptr;

  bool hasBeams() const { return form.beams >= 0; }
  Value input(int place) const { return place >= 0 && place < int(inputs.size()) ? inputs[place] : Value(); }
  /// An input of one element; where it is left out, null.
  Value number(int place) { return input(place) ? t.scalar(t.i64(input(place))) : Value(); }
  /// The same as a list, and as the size of a tensor: one that data tells is then one size wherever it is used.
  Value count(int place) {
    Value some = t.filled(t.integer(0, t.f.b.getI1Type()), {t.f.reshape(t.i64(input(place)), {1})});
    return t.size(some, 0);
  }
  Values problem(const llvm::Twine &text) {
    importer.problems->add(node.where(), text);
    return {};
  }

  bool readAttributes();
  bool readInputs();
  bool readSubgraphs();

  std::optional<Value> first(Kept &kept, Value &sequences);
  std::optional<Value> prompt(Kept &kept, Value &sequences);
  std::optional<Value> encoder(Kept &kept, Value &sequences);
  std::optional<Value> next(Kept &kept, Value tokens, Value sequences);
  std::optional<Values> call(const Subgraph &graph, Values values, size_t leastOutputs);
  std::optional<Values> emptyCaches(const Subgraph &graph, size_t from, size_t count, Value rows, int64_t heads);
  Value lastOf(Value logits);
  int64_t rowAxis() const { return kind == 0 ? 1 : 0; }

  Value checked(Value tokens, Value length);
  Values oneByOne();
  Values byBeams();
};

// Reading the node.

bool Importer::Search::readAttributes() {
  struct Integer {
    llvm::StringLiteral name;
    int64_t &value;
  };
  struct Real {
    llvm::StringLiteral name;
    double &value;
  };
  int64_t early = 0, custom = 0;
  const Integer integers[] = {{"model_type", kind},
                              {"eos_token_id", t.rules.end},
                              {"pad_token_id", t.rules.padding},
                              {"vocab_size", words},
                              {"no_repeat_ngram_size", t.rules.repeats},
                              {"decoder_start_token_id", start},
                              {"early_stopping", early},
                              {"custom", custom},
                              {"min_tokens_to_keep", dice.least}};
  const Real reals[] = {{"temperature", t.rules.temperature},
                        {"top_p", dice.mass},
                        {"filter_value", dice.filtered},
                        {"presence_penalty", t.rules.presencePenalty}};
  for (const auto &[name, proto] : node.attributes) {
    auto integer = llvm::find_if(integers, [&, &name = name](const Integer &i) { return i.name == name; });
    auto real = llvm::find_if(reals, [&, &name = name](const Real &r) { return r.name == name; });
    bool isInteger = integer != std::end(integers), isReal = real != std::end(reals);
    if (isInteger && proto->type() == pb::AttributeProto::INT) {
      integer->value = proto->i();
    } else if (isReal && proto->type() == pb::AttributeProto::FLOAT) {
      real->value = proto->f();
    } else {
      problem((isInteger || isReal ? "has a value of another kind for the attribute " : "has the unknown attribute ") +
              quoted(name));
      return false;
    }
  }
  stopsEarly = early == 1, dice.isCustom = custom == 1;
  if (t.rules.end < 0 || t.rules.padding < 0) {
    problem("needs the attributes 'eos_token_id' and 'pad_token_id'");
    return false;
  }
  if (t.rules.repeats < 0 || t.rules.repeats > onnx::kMostTokensInARow) {
    problem("no_repeat_ngram_size " + llvm::Twine(t.rules.repeats) + " is unsupported");
    return false;
  }
  if (kind != 0 && !(hasBeams() && kind == 1)) {
    problem("model_type " + llvm::Twine(kind) + " is unsupported");
    return false;
  }
  return true;
}

bool Importer::Search::readInputs() {
  std::optional<Values> given = importer.inputsOf(node);
  if (!given || !importer.areTensors(node, *given)) {
    return false;
  }
  inputs = *given;
  if (!input(kIds) || !input(kMostLength) || (hasBeams() && (!input(form.beams) || !input(form.returned)))) {
    problem("leaves out an input that it needs");
    return false;
  }
  if (auto ids = onnx::ranked(input(kIds)); !ids || ids.getRank() != 2) {
    problem("needs tokens [batch, length]");
    return false;
  }
  if (hasBeams() && (input(kForcedIds) || input(kProcessor))) {
    problem("decoder_input_ids and logits_processor are unsupported");
    return false;
  }
  t.rules.penalty = input(form.penalty), t.rules.vocabulary = input(form.vocabulary);
  t.rules.firstToken = input(form.firstToken), t.rules.presence = input(form.presence);
  t.rules.leastLength = number(kLeastLength);
  dice.seed = form.seed >= 0 && input(form.seed) ? number(form.seed) : t.number(0);
  Value one = onnx::makeNumber(t.f.b, t.f.loc, 1, t.f.b.getF32Type());
  lengthPenalty = input(form.lengthPenalty) ? t.scalar(t.f32(input(form.lengthPenalty))) : one;
  most = count(kMostLength);
  if (!hasBeams()) {
    return true;
  }
  beams = count(form.beams), returned = count(form.returned);
  onnx::Size all = onnx::numberIn(input(form.beams)), few = onnx::numberIn(input(form.returned));
  if (all.isNumber() && few.isNumber() && (few.number() < 1 || few.number() > all.number())) {
    problem("returns " + llvm::Twine(few.number()) + " sequences of " + llvm::Twine(all.number()) + " beams");
    return false;
  }
  return true;
}

bool Importer::Search::readSubgraphs() {
  for (const Subgraph &graph : node.subgraphs) {
    if (graph.attribute == "decoder") {
      decoder = &graph;
    } else if (graph.attribute == (kind == 0 ? "init_decoder" : "encoder")) {
      opening = &graph;
    } else if (graph.attribute != "encoder" && graph.attribute != "init_decoder") {
      problem("has the unknown attribute " + quoted(graph.attribute));
      return false;
    }
  }
  if (!decoder || (kind == 1 && !opening)) {
    problem("needs the attribute " + quoted(decoder ? "encoder" : "decoder"));
    return false;
  }
  return true;
}

// The decoder.

/// What a subgraph gives of these; a problem has been added where it takes others.
std::optional<Importer::Values> Importer::Search::call(const Subgraph &graph, Values values, size_t leastOutputs) {
  if (graph.inputs.size() != values.size() || graph.outputs.size() < leastOutputs) {
    problem("gives " + llvm::Twine(values.size()) + " values to " + quoted(graph.attribute) + ", which has " +
            llvm::Twine(graph.inputs.size()) + " inputs and " + llvm::Twine(graph.outputs.size()) +
            " outputs; caches that past and present share are unsupported");
    return std::nullopt;
  }
  return importer.subgraph(graph, values);
}

/// Caches without a row for inputs [from, from + count) of a subgraph, whose declared types say the other sizes.
std::optional<Importer::Values> Importer::Search::emptyCaches(const Subgraph &graph, size_t from, size_t count,
                                                              Value rows, int64_t heads) {
  Values caches;
  for (size_t i = from; i < from + count; ++i) {
    const pb::TypeProto::Tensor &type = graph.proto->input(int(i)).type().tensor_type();
    Type element = elementType(importer.context, type.elem_type());
    int64_t rank = kind == 0 ? 5 : 4;
    if (type.shape().dim_size() != rank || !element || !isa<FloatType>(element) ||
        type.shape().dim(int(heads)).dim_value() < 1 || type.shape().dim(int(rank - 1)).dim_value() < 1) {
      problem("needs to know of input " + quoted(graph.proto->input(int(i)).name()) + " of " + quoted(graph.attribute) +
              " how many heads it has and how wide they are");
      return std::nullopt;
    }
    SmallVector<Value> shape = {rows, t.list(type.shape().dim(int(heads)).dim_value()), t.list(0),
                                t.list(type.shape().dim(int(rank - 1)).dim_value())};
    if (kind == 0) { // keys and values
      shape.insert(shape.begin(), t.list(2));
    }
    caches.push_back(t.filled(onnx::constantFromFloats(onnx::tensorOf({1}, element), {0.0}), shape));
  }
  return caches;
}

/// The scores [rows, vocabulary] of the last place.
Value Importer::Search::lastOf(Value logits) {
  Value last = t.f32(t.gather(logits, t.number(-1), 1));
  auto type = onnx::ranked(last);
  bool isWider = words > 0 && !(type && type.getRank() == 2 && type.getDimSize(1) == words);
  return isWider ? t.slice(last, t.list(0), t.list(words), 1) : last;
}

/// A decoder reads the prompt. Padding has no place in it and is masked.
std::optional<Value> Importer::Search::prompt(Kept &kept, Value &sequences) {
  sequences = t.i64(input(kIds));
  Value isWord = t.f.op("Not", {t.equal(sequences, t.number(t.rules.padding))}), one = t.i64(isWord);
  Value before = t.f.sub(t.f.op("CumSum", {one, t.number(1)}), t.number(1));
  Value places = t.where(isWord, before, t.number(0));
  kept.mask = t.i32(input(form.mask) ? input(form.mask) : isWord);
  kept.places = t.f.reduce("ReduceSum", one, {1}, /*keepdims=*/true);
  const Subgraph &graph = opening ? *opening : *decoder;
  if (graph.inputs.size() < 4) {
    problem(quoted(graph.attribute) + " has " + llvm::Twine(graph.inputs.size()) + " inputs, and so no cache");
    return std::nullopt;
  }
  std::optional<Values> caches = emptyCaches(graph, 3, graph.inputs.size() - 3, t.size(sequences, 0), 2);
  if (!caches) {
    return std::nullopt;
  }
  Values values = {t.i32(sequences), t.i32(places), kept.mask};
  values.append(*caches);
  std::optional<Values> outputs = call(graph, values, 1 + caches->size());
  if (!outputs) {
    return std::nullopt;
  }
  kept.caches.assign(outputs->begin() + 1, outputs->begin() + 1 + caches->size());
  return outputs->front();
}

/// An encoder reads the prompt, and it or the decoder the token that starts.
std::optional<Value> Importer::Search::encoder(Kept &kept, Value &sequences) {
  Value ids = t.i64(input(kIds)), rows = t.size(ids, 0);
  // Only padding in front is none of the sentence: behind it, an end may be the same token.
  Value isWord = t.f.op("Not", {t.equal(ids, t.number(t.rules.padding))});
  Value words = t.f.op("CumSum", {t.i64(isWord), t.number(1)});
  Value mask = t.i32(input(form.mask) ? input(form.mask) : t.less(t.number(0), words));
  sequences = t.filled(t.integer(start, t.f.b.getI64Type()), {rows, t.list(1)});
  bool starts = opening->inputs.size() == 3;
  Values values = {t.i32(ids), mask};
  if (starts) {
    values.push_back(t.i32(sequences));
  }
  std::optional<Values> outputs = call(*opening, values, starts ? 6 : 2);
  if (!outputs) {
    return std::nullopt;
  }
  bool hasStates = decoder->proto->input_size() > 2 && decoder->proto->input(2).name() == "encoder_hidden_states";
  size_t fixed = 2 + hasStates, layers = (decoder->inputs.size() - std::min(fixed, decoder->inputs.size())) / 4;
  size_t crossed = starts ? 2 + 2 * layers : 0;
  if (layers == 0 || decoder->inputs.size() != fixed + 4 * layers || outputs->size() != crossed + 2 * layers ||
      (hasStates && !starts)) {
    problem("has an encoder of " + llvm::Twine(outputs->size()) + " outputs and a decoder of " +
            llvm::Twine(decoder->inputs.size()) + " inputs, which do not fit each other");
    return std::nullopt;
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
  std::optional<Values> caches = emptyCaches(*decoder, fixed, 2 * layers, rows, 1);
  if (!caches) {
    return std::nullopt;
  }
  kept.caches = *caches;
  return next(kept, sequences, sequences);
}

/// The scores for what follows `tokens`, the last ones of the sequences.
std::optional<Value> Importer::Search::next(Kept &kept, Value tokens, Value sequences) {
  Values values;
  if (kind == 0) {
    Value one = t.filled(t.integer(1, t.f.b.getI32Type()), {t.size(tokens, 0), t.list(1)});
    kept.mask = t.joined({kept.mask, one}, 1);
    values = {t.i32(tokens), t.i32(kept.places), kept.mask};
    kept.places = t.f.add(kept.places, t.number(1));
  } else {
    const auto &ids = decoder->proto->input(0).type().tensor_type().shape();
    bool takesOne = ids.dim_size() == 2 && ids.dim(1).dim_value() == 1;
    values = {t.i32(takesOne ? tokens : sequences), kept.encoded[0]};
    size_t states = kept.encoded.size() - kept.caches.size();
    values.append(kept.encoded.begin() + 1, kept.encoded.begin() + states);
  }
  values.append(kept.caches);
  if (kind == 1) {
    values.append(kept.encoded.end() - kept.caches.size(), kept.encoded.end());
  }
  std::optional<Values> outputs = call(*decoder, values, 1 + kept.caches.size());
  if (!outputs) {
    return std::nullopt;
  }
  kept.caches.assign(outputs->begin() + 1, outputs->begin() + 1 + kept.caches.size());
  return outputs->front();
}

/// The scores for the first token, [sentences, vocabulary].
std::optional<Value> Importer::Search::first(Kept &kept, Value &sequences) {
  std::optional<Value> logits = kind == 0 ? prompt(kept, sequences) : encoder(kept, sequences);
  return logits ? std::optional(lastOf(*logits)) : std::nullopt;
}

// The searches.

/// The first tokens, where there is room for them.
Value Importer::Search::checked(Value tokens, Value length) {
  Value bad = t.f.op("LessOrEqual", {t.scalar(most), length});
  if (hasBeams()) {
    Value none = t.less(t.scalar(returned), t.number(1)), more = t.less(t.scalar(beams), t.scalar(returned));
    bad = t.f.op("Or", {bad, t.f.op("Or", {none, more})});
  }
  return t.unless(bad, tokens);
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
  /// The same of other values.
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

Importer::Values Importer::Search::oneByOne() {
  bool draws = form.seed >= 0;
  Carried begin;
  std::optional<Value> scores = first(begin.kept, begin.sequences);
  if (!scores) {
    return {};
  }
  Value length = t.scalar(t.size(begin.sequences, 1)), rows = t.size(begin.sequences, 0);
  // `more` has which sequences have ended.
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
  auto body = [&](Block &block) -> Values {
    Carried c = begin.like(block.getArguments().drop_front(2));
    Value sequences = t.joined({c.sequences, c.tokens}, 1);
    std::optional<Value> logits = next(c.kept, c.tokens, sequences);
    if (!logits) {
      return {};
    }
    choose(lastOf(*logits), t.f.add(block.getArgument(0), t.number(1)), c, sequences, /*isFirst=*/false);
    Values yields = {t.goesOn(c.more[0])};
    yields.append(c.flat());
    return yields;
  };
  Values initial = begin.flat();
  Values results = importer.loop(node, trips, t.goesOn(begin.more[0]), initial, initial.size(), 0, body);
  if (results.empty()) {
    return {};
  }
  Carried end = begin.like(results);
  Value all = t.joined({end.sequences, end.tokens}, 1);
  return {t.i32(t.padded(all, 2, 1, most, t.number(t.rules.padding)))};
}

Importer::Values Importer::Search::byBeams() {
  bool wantsScores = node.outputs.size() > 2 && !node.outputs[2].empty();
  Carried begin;
  std::optional<Value> logits = first(begin.kept, begin.sequences);
  if (!logits) {
    return {};
  }
  Value sentences = t.size(begin.sequences, 0), length = t.scalar(t.size(begin.sequences, 1));
  auto scored = [&](Value logits, Value sequences, bool isFirst) {
    Value scores = t.f.op("LogSoftmax", {logits}, {t.f.integer("axis", 1)});
    return t.ruled(scores, sequences, isFirst);
  };
  auto stateOf = [](Carried &c) { return BeamState{c.more[0], c.more[1], c.more[2], c.more[3], c.more[4]}; };
  auto keep = [](Carried &c, const BeamState &s) { c.more = {s.scores, s.bestScores, s.best, s.counts, s.done}; };

  // The first step, of sentences: each beam then takes what its sentence has.
  BeamSizes sizes = t.sizesOf(sentences, beams, most, t.size(*logits, 1));
  BeamState state = t.firstBeams(sizes);
  Value one = t.f.op("Unsqueeze", {scored(*logits, begin.sequences, /*isFirst=*/true), t.list(1)});
  Value each = t.f.div(t.f.countTo(t.scalar(sizes.rows)), beams); // the sentence of a row
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
  auto body = [&](Block &block) -> Values {
    Carried c = begin.like(block.getArguments().drop_front(2));
    Value sequences = t.joined({c.sequences, c.tokens}, 1);
    std::optional<Value> logits = next(c.kept, c.tokens, sequences);
    if (!logits) {
      return {};
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
  Values results = importer.loop(node, trips, t.goesOn(state.done), initial, initial.size() + wantsScores, 0, body);
  if (results.empty()) {
    return {};
  }
  Carried end = begin.like(results);
  state = stateOf(end);
  t.finish(sizes, t.joined({end.sequences, end.tokens}, 1), lengthPenalty, state);
  auto front = [&](Value v) { return t.slice(v, t.list(0), returned, 1); };
  Values outputs = {t.i32(front(state.best)), front(state.bestScores)};
  if (wantsScores) {
    Value all = t.joined({t.f.op("Unsqueeze", {firstTotal, t.list(0)}), results.back()});
    outputs.push_back(t.padded(all, 4, 0, t.f.sub(most, length), t.f.number(0, all)));
  }
  return outputs;
}

Importer::Values Importer::makeSearch(const Node &node) {
  Search search(*this, node);
  if (!search.readAttributes() || !search.readInputs() || !search.readSubgraphs()) {
    return {};
  }
  return search.hasBeams() ? search.byBeams() : search.oneByOne();
}

} // namespace ingot::importer
