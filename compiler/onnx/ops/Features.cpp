// Writes filters of a spectrum as comparisons of all bins with all edges, which fusion makes one kernel of. It counts
// n-grams of a text by numbers for its elements, and a walk through a tree of n-grams from each of them.
#include "compiler/onnx/ops/Features.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/ml/Scores.h"
#include "compiler/onnx/rewriting/Formula.h"
#include "compiler/onnx/text/Texts.h"
#include "runtime_support/include/ingot.h"
#include <cmath>
#include <map>
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Features.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

// This writes MelWeightMatrix.

/// Makes the filters. Filter i rises from edge i to edge i + 1 and falls to edge i + 2; edges are equally far apart on
/// the mel scale, and are numbers of bins.
LogicalResult MelWeightMatrixOp::upgrade(Node &node) {
  Type element = elementOfNumber(node.integer("output_datatype", 1), node.builder.getContext());
  if (failed(node.needs(5)) || !element || !isa<FloatType>(element)) {
    return element && isa<FloatType>(element) ? failure() : node.error("gives elements of a type that is unsupported");
  }
  Formula f(node.builder, node.loc);
  auto real = [&](Value v) { return f.cast(f.reshape(v, {}), f.b.getF64Type(), 11); };
  auto whole = [&](Value v) { return f.cast(f.reshape(v, {}), f.b.getI64Type(), 7); };
  Value bands = whole(node.operand(0)), length = whole(node.operand(1)), rate = real(node.operand(2));
  auto n = [&](double v) { return f.number(v, rate); };
  auto mel = [&](Value hertz) {
    Value log = f.log(f.add(f.div(real(hertz), n(700)), n(1)));
    return f.mul(log, n(2595 / std::log(10)));
  };
  Value low = mel(node.operand(3)), edges = f.add(bands, f.scalar(2));
  Value step = f.div(f.sub(mel(node.operand(4)), low), real(edges));
  auto edge = [&](int64_t from) { // the edge of each filter with the number `from`
    Value numbers = f.op("Range", {f.scalar(from), f.add(bands, f.scalar(from)), f.scalar(1)});
    Value at = f.add(f.mul(f.cast(numbers, f.b.getF64Type(), 11), step), low);
    Value hertz = f.mul(f.sub(f.exp(f.mul(at, n(std::log(10) / 2595))), n(1)), n(700));
    return f.op("Floor", {f.div(f.mul(f.add(real(length), n(1)), hertz), rate)});
  };
  Value bins = f.op("Range", {f.scalar(0), f.add(f.div(length, f.scalar(2)), f.scalar(1)), f.scalar(1)});
  Value bin = f.op("Unsqueeze", {f.cast(bins, f.b.getF64Type(), 11), makeIntegers(f.b, f.loc, {1})});
  Value begin = edge(0), centre = edge(1), end = edge(2), zero = n(0), one = n(1);
  auto where = [&](Value condition, Value yes, Value no) { return f.op("Where", {condition, yes, no}); };
  auto isLess = [&](Value a, Value b) { return f.op("Less", {a, b}); };
  auto within = [&](Value from, Value v, Value beyond) {
    return f.op("And", {f.op("GreaterOrEqual", {v, from}), isLess(v, beyond)});
  };
  auto length2 = [&](Value from, Value to) { return f.op("Max", {f.sub(to, from), one}); };
  Value atCentre = where(f.op("Equal", {bin, centre}), one, zero);
  Value rising = f.div(f.sub(bin, begin), length2(begin, centre));
  Value y = where(within(begin, bin, centre), rising, atCentre);
  Value falling = f.div(f.sub(end, bin), length2(centre, end));
  y = where(within(centre, bin, end), falling, y);
  node.results.push_back(f.cast(y, element, numberOfElement(element)));
  return success();
}

// These write TfIdfVectorizer.

namespace {

/// Writes one TfIdfVectorizer. The pool lists n-grams by length, one behind the other; ngram_counts says where each
/// length begins:
///
///   pool = [2, 3, 5, 4, 5, 6], ngram_counts = [0, 2]   the grams [2], [3], [5, 4] and [5, 6]
///
/// ngram_indexes has for each of them the column of the result that it counts in.
class Counts {
public:
  explicit Counts(Node &node) : node(node), f(node.builder, node.loc) {}

  LogicalResult write();

private:
  LogicalResult check();
  SmallVector<Gram> distinct(SmallVectorImpl<int64_t> &column);
  Value count(ArrayRef<Gram> grams, int64_t width);
  Value weigh(Value y, StringRef mode, ArrayRef<double> weights);

  Node &node;
  Formula f;
  SmallVector<int64_t> begins, places, pool;
  SmallVector<StringRef> words; ///< the different strings of a pool; a pool of integers is `numbers`
  SmallVector<int64_t> numbers;
  SmallVector<double> weights;
  int64_t least = 1, most = 1, skips = 0;
};

/// Elements of the pool are numbered from 0 in order of appearance, so grams of strings and of integers are alike.
LogicalResult Counts::check() {
  begins = integersIn(node, "ngram_counts"), places = integersIn(node, "ngram_indexes");
  weights = floatsIn(node, "weights");
  least = node.integer("min_gram_length", 0), most = node.integer("max_gram_length", 0);
  skips = node.integer("max_skip_count", 0);
  auto type = ranked(node.operand(0));
  bool isOfStrings = type && isString(type.getElementType());
  auto number = [&](auto elements, auto &known, auto &distinct) {
    for (auto element : elements) {
      auto [it, isNew] = known.try_emplace(element, static_cast<int64_t>(distinct.size()));
      pool.push_back(it->second);
      if (isNew) {
        distinct.push_back(element);
      }
    }
  };
  llvm::StringMap<int64_t> knownWords;
  std::map<int64_t, int64_t> knownNumbers;
  if (isOfStrings) {
    number(textsIn(node, "pool_strings"), knownWords, words);
  } else {
    number(integersIn(node, "pool_int64s"), knownNumbers, numbers);
  }
  if (pool.empty() || !type || !type.getElementType().isInteger()) {
    return node.error("has no pool for elements of its input, or their rank is unknown");
  }
  if (type.getRank() < 1 || type.getRank() > 2) {
    return node.error("takes a matrix or one row");
  }
  if (least < 1 || most < least || skips < 0 || skips > 1000 || !llvm::is_sorted(begins) || begins.empty() ||
      begins.front() != 0 || begins.back() > static_cast<int64_t>(pool.size()) ||
      static_cast<int64_t>(begins.size()) < most || (!weights.empty() && weights.size() != places.size())) {
    return node.error("lengths of n-grams, their counts, or their weights do not fit each other");
  }
  size_t count = 0;
  for (size_t i = 0; i < begins.size(); ++i) {
    int64_t end = i + 1 < begins.size() ? begins[i + 1] : static_cast<int64_t>(pool.size());
    auto length = static_cast<int64_t>(i) + 1;
    if ((end - begins[i]) % length) {
      return node.error("the pool has " + Twine(end - begins[i]) + " elements for n-grams of " + Twine(length));
    }
    count += (end - begins[i]) / length;
  }
  bool fit = llvm::all_of(places, [](int64_t n) { return n >= 0 && n < (1 << 24); });
  if (count != places.size() || !fit) {
    return node.error(Twine(places.size()) + " indexes for " + Twine(count) + " n-grams, or one that is no index");
  }
  return success();
}

/// Returns the different n-grams; `column` says which of them each n-gram of the pool is.
SmallVector<Gram> Counts::distinct(SmallVectorImpl<int64_t> &column) {
  SmallVector<Gram> grams;
  std::map<SmallVector<int64_t>, int64_t> known;
  for (size_t i = 0; i < begins.size(); ++i) {
    int64_t end = i + 1 < begins.size() ? begins[i + 1] : static_cast<int64_t>(pool.size());
    auto length = static_cast<int64_t>(i) + 1;
    for (int64_t at = begins[i]; at < end; at += length) {
      SmallVector<int64_t> gram(ArrayRef(pool).slice(at, length));
      auto [it, isNew] = known.try_emplace(gram, static_cast<int64_t>(grams.size()));
      column.push_back(it->second);
      if (isNew) {
        grams.push_back({std::move(gram), static_cast<uint32_t>(it->second)});
      }
    }
  }
  return grams;
}

/// Returns how often each n-gram of `grams` is in each row, [rows, width].
Value Counts::count(ArrayRef<Gram> grams, int64_t width) {
  Value x = node.operand(0);
  Value places = isString(elementOf(x)) ? find(f, x, words)
                                        : makeText(f, {f.cast(x, f.b.getI64Type(), INGOT_INT64)},
                                                   {"find_number", INGOT_INT64, keysOf(ArrayRef<int64_t>(numbers))});
  return makeText(f, {places},
                  {"count_grams", INGOT_FLOAT32, gramsOf(grams, least, most, skips), 0, Size(width), true});
}

/// Returns what the mode makes of counts, whose columns have these weights.
Value Counts::weigh(Value y, StringRef mode, ArrayRef<double> weights) {
  if (mode == "IDF") {
    y = f.op("Where", {f.op("Greater", {y, f.number(0, y)}), f.number(1, y), f.number(0, y)});
  }
  if (mode != "TF" && !weights.empty()) {
    auto type = tensorOf({static_cast<int64_t>(weights.size())}, f.b.getF32Type());
    y = f.mul(y, makeConstant(f.b, f.loc, constantFromFloats(type, weights)));
  }
  return y;
}

/// Where two grams count in one column, or one gram in two, a product with a matrix of zeros and ones spreads the
/// counts.
LogicalResult Counts::write() {
  StringRef mode = node.text("mode", "");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF") {
    return node.error("mode '" + mode + "' is not known, expected TF, IDF or TFIDF");
  }
  if (failed(check())) {
    return failure();
  }
  SmallVector<int64_t> column;
  SmallVector<Gram> grams = distinct(column);
  int64_t width = *llvm::max_element(places) + 1, rows = static_cast<int64_t>(places.size());
  SmallVector<double> byPlace(weights.empty() ? 0 : width, 0), ones;
  llvm::DenseSet<int64_t> taken(places.begin(), places.end());
  if (grams.size() == places.size() && taken.size() == places.size()) { // each n-gram has a column of its own
    for (auto [gram, place] : llvm::enumerate(places)) {
      grams[gram].place = static_cast<uint32_t>(place);
      if (!weights.empty()) {
        byPlace[place] = weights[gram];
      }
    }
    node.results.push_back(weigh(count(grams, width), mode, byPlace));
    return success();
  }
  Value y = count(grams, static_cast<int64_t>(grams.size()));
  y = weigh(f.op("Gather", {y, makeIntegers(f.b, f.loc, column)}, {f.integer("axis", -1)}), mode, weights);
  ones.assign(rows * width, 0);
  for (auto [gram, place] : llvm::enumerate(places)) {
    ones[gram * width + place] = 1;
  }
  Value spread = makeConstant(f.b, f.loc, constantFromFloats(tensorOf({rows, width}, f.b.getF32Type()), ones));
  node.results.push_back(f.op("MatMul", {y, spread}));
  return success();
}

} // namespace

LogicalResult TfIdfVectorizerOp::upgrade(Node &node) { return Counts(node).write(); }

void registerFeatures(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Features.cpp.inc"
      >();
}

} // namespace ingot::onnx
