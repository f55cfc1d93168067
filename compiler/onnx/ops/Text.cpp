// Writes operators on strings. What computes on strings is one op, onnx.Text: a call of ingot_text_DOES in the support
// library, with a table that the compiler makes of the attributes (text/Texts.h): an automaton for a regular
// expression, a hash table for labels, a tree for n-grams. Operators that take strings apart need a size first, the
// most pieces of any string, and so become onnx.Pieces, for which a second pass writes the counting call
// (graph/readers/Pieces.cpp).
//
// A map is two tensors of one length, its keys and its values.
#include "compiler/onnx/ops/Text.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/ml/Scores.h"
#include "compiler/onnx/rewriting/Formula.h"
#include "compiler/onnx/text/Texts.h"
#include "runtime_support/core/text.h"
#include "runtime_support/include/ingot.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Text.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

// These belong to Text.

LogicalResult TextOp::verify() {
  if (getXs().empty() || getXs().size() > 2 || (getRows() && (getXs().size() != 1 || !getTail()))) {
    return emitOpError("needs one or two operands, and where it is of rows one and a tail");
  }
  return elementOfNumber(getTo(), getContext()) ? success() : emitOpError("has no element type ") << getTo();
}

LogicalResult TextOp::inferTypes(SmallVectorImpl<Type> &types) {
  Type element = elementOfNumber(getTo(), getContext());
  std::optional<Sizes> sizes = Sizes();
  for (Value x : getXs()) {
    auto type = ranked(x);
    if (!type) {
      types.push_back(unrankedOf(element));
      return success();
    }
    sizes = broadcast(*this, *sizes, sizesOf(type));
    if (!sizes) {
      return emitOpError("operands do not broadcast: ") << getXs().getTypes();
    }
  }
  if (getRows()) {
    sizes->pop_back();
  }
  if (getTail()) {
    llvm::append_range(*sizes, getTail()->getValues());
  }
  types.push_back(sizedType(*sizes, element));
  return success();
}

// These become Text.

/// The most searches of a tokenizer, since each is a call within that of the one in front of it.
static constexpr size_t mostSearches = 64;

static LogicalResult give(Node &node, Value v) {
  node.results.push_back(v);
  return success(static_cast<bool>(v));
}

/// Checks that operand `i` has strings.
static LogicalResult needsStrings(const Node &node, unsigned i) {
  if (failed(node.needs(i + 1))) {
    return failure();
  }
  Type element = elementOf(node.operand(i));
  return isString(element) ? success()
                           : node.error("input " + Twine(i) + " is of " + rowOf(element).name + ", not of strings");
}

LogicalResult StringConcatOp::upgrade(Node &node) {
  if (failed(needsStrings(node, 0)) || failed(needsStrings(node, 1))) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  return give(node, makeText(f, {node.operand(0), node.operand(1)}, {"join", INGOT_STRING}));
}

LogicalResult RegexFullMatchOp::upgrade(Node &node) {
  if (failed(needsStrings(node, 0))) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  llvm::Expected<std::vector<char>> automaton = automatonOf(node.text("pattern", ""));
  if (!automaton) {
    return node.error("pattern '" + node.text("pattern", "") + "' " + llvm::toString(automaton.takeError()));
  }
  return give(node, makeText(f, {node.operand(0)}, {"match", INGOT_BOOL, std::move(*automaton)}));
}

// These take strings apart.

LogicalResult PiecesOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto x = ranked(getX());
  Type element = elementOf(getX()), i64 = IntegerType::get(getContext(), 64);
  if (!x) {
    types.assign({unrankedOf(element), unrankedOf(i64)});
    return success();
  }
  Sizes sizes = sizesOf(x);
  types.assign({Type(), sizedType(sizes, i64)});
  sizes.push_back(Size::unknown());
  types[0] = sizedType(sizes, element);
  return success();
}

static Operation *takeApart(Formula &f, Value x, std::vector<char> table, ArrayRef<NamedAttribute> attributes) {
  return createOp(f.b, f.loc, PiecesOp::getOperationName(), {x, makeTable(f, std::move(table))}, attributes, 2);
}

/// The number of pieces is bounded where maxsplit is: n splits make n + 1 pieces at most.
LogicalResult StringSplitOp::upgrade(Node &node) {
  if (failed(needsStrings(node, 0))) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  int64_t splits = node.integer("maxsplit", -1);
  auto text = [&](StringRef name, StringRef value) { return f.b.getNamedAttr(name, f.b.getStringAttr(value)); };
  bool isBound = splits >= 0 && splits < INT64_MAX;
  Operation *pieces =
      takeApart(f, node.operand(0), poolOf({node.text("delimiter", "")}),
                {text("counts", "pieces"), text("does", "split"), f.integer("number", isBound ? splits : INT64_MAX),
                 f.integer("most", isBound ? splits + 1 : -1)});
  llvm::append_range(node.results, pieces->getResults());
  return success();
}

/// Returns the tokenizer that a node's attributes describe; failure, with a message, where they cannot be. One empty
/// separator, and the expression ".", make each character a token; other separators are searched for one behind the
/// other, and the expression of `tokenexp` finds the tokens themselves.
static FailureOr<Tokenizer> tokenizerIn(const Node &node) {
  SmallVector<StringRef> separators = textsIn(node, "separators");
  StringRef expression = node.text("tokenexp", "");
  bool separates = node.attributes.get("separators") != nullptr;
  Tokenizer tokenizer = {
      INGOT_TEXT_FOUND, {}, node.integer("mincharnum", 0), node.integer("mark", 0) != 0, node.text("pad_value", "")};
  if (separates ? separators.empty() : expression.empty()) {
    return node.error("needs separators, or a tokenexp");
  }
  if (tokenizer.least < 1) {
    return node.error("mincharnum " + Twine(tokenizer.least) + " is not positive");
  }
  if (separates ? separators.size() == 1 && separators.front().empty() : expression == ".") {
    if (tokenizer.least > 1) {
      return node.error("each character is a token, which is less than mincharnum says");
    }
    tokenizer.kind = INGOT_TEXT_CHARACTERS;
    return tokenizer;
  }
  if (!separates) {
    llvm::Expected<Searcher> searcher = searcherOf(expression);
    if (!searcher) {
      return node.error("tokenexp '" + expression + "' " + llvm::toString(searcher.takeError()));
    }
    tokenizer.searchers.push_back(std::move(*searcher));
    return tokenizer;
  }
  llvm::Expected<std::vector<Searcher>> searchers = separatorsOf(separators);
  if (!searchers) {
    return node.error("separator " + llvm::toString(searchers.takeError()));
  }
  tokenizer.kind = INGOT_TEXT_SEPARATED;
  tokenizer.searchers = std::move(*searchers);
  return tokenizer;
}

LogicalResult TokenizerOp::upgrade(Node &node) {
  if (failed(needsStrings(node, 0))) {
    return failure();
  }
  if (auto x = ranked(node.operand(0)); x && (x.getRank() < 1 || x.getRank() > 2)) {
    return node.error("needs strings [c] or [n, c]");
  }
  FailureOr<Tokenizer> tokenizer = tokenizerIn(node);
  if (failed(tokenizer)) {
    return failure();
  }
  if (tokenizer->searchers.size() > mostSearches) {
    return node.error(Twine(tokenizer->searchers.size()) + " separators follow each other; at most " +
                      Twine(mostSearches) + " that are no single characters are supported");
  }
  Formula f(node.builder, node.loc);
  auto text = [&](StringRef name, StringRef value) { return f.b.getNamedAttr(name, f.b.getStringAttr(value)); };
  Operation *pieces =
      takeApart(f, node.operand(0), tokenizerOf(*tokenizer),
                {text("counts", "count_tokens"), text("does", "tokens"), f.integer("more", tokenizer->marks ? 2 : 0)});
  return give(node, pieces->getResult(0));
}

// Writes StringNormalizer: the words that are left, and behind them an empty one, which is only kept where there is no
// other one.

LogicalResult StringNormalizerOp::upgrade(Node &node) {
  auto type = ranked(node.operand(0));
  if (failed(needsStrings(node, 0))) {
    return failure();
  }
  bool isRow = type && type.getRank() == 2 && (type.getDimSize(0) == 1 || type.isDynamicDim(0));
  if (!type || (type.getRank() != 1 && !isRow)) {
    return node.error("needs strings [c] or [1, c]");
  }
  StringRef action = node.text("case_change_action", "NONE");
  if (action != "NONE" && action != "LOWER" && action != "UPPER") {
    return node.error("case_change_action '" + action + "' is not known, expected NONE, LOWER or UPPER");
  }
  Formula f(node.builder, node.loc);
  auto changed = [&](Value v, bool upper) { return makeText(f, {v}, {"case", INGOT_STRING, lettersOf(upper)}); };
  Value x = f.reshape(node.operand(0), {-1});
  Value lower = action == "LOWER" ? changed(x, false) : Value();
  Value y = lower ? lower : action == "UPPER" ? changed(x, true) : x;
  SmallVector<StringRef> words = textsIn(node, "stopwords");
  if (!words.empty()) {
    bool isSensitive = node.integer("is_case_sensitive", 0);
    std::vector<std::string> own;
    for (StringRef word : words) {
      own.push_back(isSensitive ? word.str() : lowerCase(word));
    }
    SmallVector<StringRef> keys(own.begin(), own.end());
    Value number = find(f, isSensitive ? x : lower ? lower : changed(x, false), keys);
    Value keep = f.op("Equal", {number, f.scalar(static_cast<int64_t>(keys.size()))});
    Value count = f.reduce("ReduceSum", f.cast(keep, f.b.getI64Type(), INGOT_INT64), {0}, true);
    Value none = f.op("Equal", {count, f.scalar(0)});
    Value empty = spell(f, makeIntegers(f.b, f.loc, {0}), {""});
    y = f.op("Concat", {y, empty}, {f.integer("axis", 0)});
    keep = f.op("Concat", {keep, none}, {f.integer("axis", 0)});
    y = f.op("Compress", {y, keep}, {f.integer("axis", 0)});
  }
  return give(node, isRow ? f.op("Unsqueeze", {y, makeIntegers(f.b, f.loc, {0})}) : y);
}

// These write labels.

/// Strings become their numbers, and integers the strings that have them; the default stands behind the list.
LogicalResult CategoryMapperOp::upgrade(Node &node) {
  SmallVector<int64_t> numbers = integersIn(node, "cats_int64s");
  SmallVector<StringRef> texts = textsIn(node, "cats_strings");
  if (failed(node.needs(1)) || numbers.size() != texts.size() || texts.empty()) {
    return node.error(Twine(numbers.size()) + " integers do not fit " + Twine(texts.size()) + " strings");
  }
  Formula f(node.builder, node.loc);
  Value x = node.operand(0);
  if (isString(elementOf(x))) {
    numbers.push_back(node.integer("default_int64", -1));
    return give(node, find(f, x, texts, numbers));
  }
  texts.push_back(node.text("default_string", "_Unused"));
  return give(node, spell(f, placeAmong(f, x, makeIntegers(f.b, f.loc, numbers)), texts));
}

// These write maps.

/// A sequence of maps from the labels is the matrix of their values, since all maps have the same keys.
LogicalResult ZipMapOp::upgrade(Node &node) {
  Value x = node.operand(0);
  auto type = ranked(x);
  size_t count = labelCount(node, "classlabels_int64s", "classlabels_strings");
  if (!type || type.getRank() < 1 || type.getRank() > 2) {
    return node.error("needs a matrix, or one row");
  }
  Size columns = sizesOf(type).back();
  if (count == 0 || (columns.isNumber() && !columns.is(static_cast<int64_t>(count)))) {
    return node.error(Twine(count) + " keys for " + columns.text() + " columns");
  }
  Formula f(node.builder, node.loc);
  return give(node, type.getRank() == 2 ? x : f.op("Unsqueeze", {x, makeIntegers(f.b, f.loc, {0})}));
}

/// Scatters the values of the keys that the vocabulary has, in its order, into a row of zeros with one more place for
/// keys that it does not have.
LogicalResult DictVectorizerOp::upgrade(Node &node) {
  if (failed(node.needs(2))) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  Value keys = node.operand(0), values = node.operand(1), places;
  SmallVector<StringRef> texts = textsIn(node, "string_vocabulary");
  SmallVector<int64_t> numbers = integersIn(node, "int64_vocabulary");
  auto count = static_cast<int64_t>(isString(elementOf(keys)) ? texts.size() : numbers.size());
  if (!count) {
    return node.error("has no vocabulary for keys of " + rowOf(elementOf(keys)).name);
  }
  places = isString(elementOf(keys)) ? find(f, keys, texts) : placeAmong(f, keys, makeIntegers(f.b, f.loc, numbers));
  Value row = f.zeros({Size(count + 1)}, elementOf(values));
  row = f.op("ScatterElements", {row, places, values}, {f.integer("axis", 0)});
  row = f.op("Slice", {row, makeIntegers(f.b, f.loc, {0}), makeIntegers(f.b, f.loc, {count}), Value(), Value()});
  return give(node, f.reshape(row, {1, count}));
}

/// Returns the values in the order of their keys (DENSE), or each where its key says (SPARSE).
LogicalResult CastMapOp::upgrade(Node &node) {
  if (failed(node.needs(2))) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  Value keys = node.operand(0), values = node.operand(1);
  StringRef to = node.text("cast_to", "TO_FLOAT"), form = node.text("map_form", "DENSE");
  int64_t number = to == "TO_FLOAT"    ? INGOT_FLOAT32
                   : to == "TO_INT64"  ? INGOT_INT64
                   : to == "TO_STRING" ? INGOT_STRING
                                       : 0;
  if (!number || (form != "DENSE" && form != "SPARSE")) {
    return node.error("cast_to '" + to + "' or map_form '" + form + "' is not known");
  }
  Type element = elementOf(values), wanted = elementOfNumber(number, f.b.getContext());
  values = isString(element) || isString(wanted) ? castText(f, values, number) : f.cast(values, wanted, number);
  if (form == "SPARSE") {
    int64_t size = node.integer("max_map", 1);
    if (size < 1 || size > (1 << 24)) {
      return node.error("max_map " + Twine(size) + " is no size of a row");
    }
    Value row = f.zeros({Size(size)}, wanted);
    row = f.op("ScatterElements", {row, keys, values}, {f.integer("axis", 0)});
    return give(node, f.reshape(row, {1, size}));
  }
  return give(node, f.op("Unsqueeze", {values, makeIntegers(f.b, f.loc, {0})}));
}

void registerText(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Text.cpp.inc"
      >();
}

} // namespace ingot::onnx
