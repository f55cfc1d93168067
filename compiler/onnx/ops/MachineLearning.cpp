// Writes each operator as a few of the standard's when the node is imported. Where the standard is open (two classes
// with one row of coefficients, norms of zero), it does what ONNX Runtime does.
#include "compiler/onnx/ops/MachineLearning.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/ml/Scores.h"
#include "compiler/onnx/rewriting/Formula.h"
#include "compiler/onnx/text/Texts.h"
#include "runtime_support/include/ingot.h"
#include "llvm/Support/ScopedPrinter.h"
#include <cmath>
#define GET_OP_CLASSES
#include "compiler/onnx/ops/MachineLearning.cpp.inc"

using namespace mlir;

namespace ingot::onnx {
namespace {

LogicalResult give(Node &node, Value v) {
  node.results.push_back(v);
  return success(static_cast<bool>(v));
}

/// Returns X times the rows of coefficients, and intercepts: [rows, outputs]; null, with a message, where numbers do
/// not fit.
Value linear(Node &node, Formula &f, Value x, int64_t outputs) {
  SmallVector<double> coefficients = floatsIn(node, "coefficients"), intercepts = floatsIn(node, "intercepts");
  // ONNX Runtime reads the first coefficients where there are more than the columns need.
  if (Size columns = sizeOf(ranked(x), 1); outputs > 0 && columns.isNumber() && columns.number() > 0 &&
                                           int64_t(coefficients.size()) > outputs * columns.number()) {
    coefficients.truncate(outputs * columns.number());
  }
  auto count = static_cast<int64_t>(coefficients.size());
  if (outputs < 1 || count == 0 || count % outputs || (!intercepts.empty() && int64_t(intercepts.size()) != outputs)) {
    (void)node.error(Twine(count) + " coefficients and " + Twine(intercepts.size()) + " intercepts do not make " +
                     Twine(outputs) + " scores");
    return {};
  }
  Value rows = constantLike(f, coefficients, {outputs, count / outputs}, x);
  Value y = f.op("MatMul", {x, rows}, {f.flag("transB")});
  return intercepts.empty() ? y : f.add(y, constantLike(f, intercepts, {outputs}, x));
}

} // namespace

LogicalResult LinearRegressorOp::upgrade(Node &node) {
  Value x = rowsOf(node);
  if (!x) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  Value y = linear(node, f, x, node.integer("targets", 1));
  return y ? give(node, transformedScores(node, toFloat(f, y), node.text("post_transform", "NONE"))) : failure();
}

/// Writes a linear classifier. One row of coefficients for two labels scores the second label, and of the
/// transformations only LOGISTIC applies to it.
LogicalResult LinearClassifierOp::upgrade(Node &node) {
  Value x = rowsOf(node);
  if (!x) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  int64_t labels = labelCount(node, "classlabels_ints", "classlabels_strings");
  SmallVector<double> intercepts = floatsIn(node, "intercepts");
  bool one = labels == 2 && intercepts.size() == 1;
  Value scores = linear(node, f, x, one ? 1 : labels), label;
  if (!scores) {
    return failure();
  }
  scores = toFloat(f, scores);
  StringRef transform = node.text("post_transform", "NONE");
  if (one) {
    label = f.reshape(f.cast(f.op("Greater", {scores, f.number(0, scores)}), f.b.getI64Type(), 7), {-1});
    if (transform == "LOGISTIC") {
      scores = transformedScores(node, scores, transform);
    }
    scores = twoColumns(f, f.sub(f.number(1, scores), scores), scores);
  } else {
    label = f.op("ArgMax", {scores}, {f.integer("axis", 1), f.integer("keepdims", 0)});
    scores = transformedScores(node, scores, transform);
  }
  node.results = {labelsOf(node, label, "classlabels_ints", "classlabels_strings"), scores};
  return success(static_cast<bool>(scores));
}

/// Writes a normalizer, in which rows whose norm is zero stay.
LogicalResult NormalizerOp::upgrade(Node &node) {
  Value x = rowsOf(node);
  if (!x) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  StringRef norm = node.text("norm", "MAX");
  if (norm != "MAX" && norm != "L1" && norm != "L2") {
    return node.error("norm '" + norm + "' is not known");
  }
  x = toFloat(f, x);
  Value size = f.reduce(norm == "MAX" ? "ReduceMax" : norm == "L1" ? "ReduceL1" : "ReduceL2", x, {1}, true);
  Value safe = f.op("Where", {f.op("Equal", {size, f.number(0, x)}), f.number(1, x), size});
  Value y = f.div(x, safe);
  if (ranked(node.operand(0)).getRank() == 1) {
    y = f.op("Squeeze", {y, makeIntegers(f.b, f.loc, {0})});
  }
  return give(node, y);
}

/// Returns x, for which a list has one value for all columns or one for each: in the second case x has that many
/// columns, and a run with another number is refused. Null, and an error, if it cannot have them.
static Value withColumnsFor(Node &node, Formula &f, Value x, int64_t values) {
  auto type = ranked(x);
  if (!type || !type.getRank() || values == 1 || type.getShape().back() == values) {
    return x;
  }
  if (!ShapedType::isDynamic(type.getShape().back())) {
    (void)node.error(Twine(values) + " values for columns of " + llvm::to_string(type));
    return {};
  }
  SmallVector<int64_t> shape(type.getRank(), 0);
  shape.back() = values;
  return f.op("Reshape", {x, makeIntegers(f.b, f.loc, shape)});
}

/// (x - offset) * scale, where each list has one number for all columns or one for each.
LogicalResult ScalerOp::upgrade(Node &node) {
  Formula f(node.builder, node.loc);
  Value x = toFloat(f, node.operand(0));
  for (auto [name, operation] : {std::pair("offset", "Sub"), {"scale", "Mul"}}) {
    SmallVector<double> values = floatsIn(node, name);
    if (values.empty()) {
      continue;
    }
    x = withColumnsFor(node, f, x, int64_t(values.size()));
    if (!x) {
      return failure();
    }
    x = f.op(operation, {x, constantLike(f, values, {int64_t(values.size())}, x)});
  }
  return give(node, x);
}

/// A missing float is usually written as NaN, which equals nothing: IsNaN finds it.
LogicalResult ImputerOp::upgrade(Node &node) {
  Formula f(node.builder, node.loc);
  Value x = node.operand(0);
  bool isFloat = isa<FloatType>(elementOf(x));
  SmallVector<double> values = floatsIn(node, "imputed_value_floats");
  SmallVector<int64_t> integers = integersIn(node, "imputed_value_int64s");
  if (isFloat ? values.empty() : integers.empty()) {
    return node.error("has no values to put in");
  }
  auto count = static_cast<int64_t>(isFloat ? values.size() : integers.size());
  x = withColumnsFor(node, f, x, count);
  if (!x) {
    return failure();
  }
  if (!isFloat) {
    auto constant = [&](ArrayRef<int64_t> list, ArrayRef<int64_t> shape) {
      return makeConstant(f.b, f.loc, constantFromIntegers(tensorOf(shape, elementOf(x)), list));
    };
    Value missing = f.op("Equal", {x, constant({node.integer("replaced_value_int64", 0)}, {})});
    return give(node, f.op("Where", {missing, constant(integers, {int64_t(integers.size())}), x}));
  }
  double replaced = node.number("replaced_value_float", 0);
  Value missing = std::isnan(replaced) ? f.op("IsNaN", {x}) : f.op("Equal", {x, f.number(replaced, x)});
  return give(node, f.op("Where", {missing, constantLike(f, values, {int64_t(values.size())}, x), x}));
}

/// Tells which elements exceed a number. Integers are compared as integers, since no float holds the large ones.
static Value isMore(Formula &f, Value x, double number) {
  auto type = dyn_cast<IntegerType>(elementOf(x));
  if (!type) {
    return f.op("Greater", {x, f.number(number, x)});
  }
  double end = std::ldexp(1.0, static_cast<int>(type.getWidth()) - (type.isUnsigned() ? 0 : 1));
  double whole = std::floor(number), least = type.isUnsigned() ? 0 : -end;
  return whole < least ? f.op("Equal", {x, x})
         : whole < end ? f.op("Greater", {x, f.number(whole, x)})
                       : f.op("Less", {x, x});
}

LogicalResult BinarizerOp::upgrade(Node &node) {
  Formula f(node.builder, node.loc);
  Value x = node.operand(0);
  Type element = elementOf(x);
  return give(node, f.cast(isMore(f, x, node.number("threshold", 0)), element, numberOfElement(element)));
}

/// Takes elements of the last axis; a vector is one row.
LogicalResult ArrayFeatureExtractorOp::upgrade(Node &node) {
  if (failed(node.needs(2))) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  Value x = node.operand(0), y = f.op("Gather", {x, f.reshape(node.operand(1), {-1})}, {f.integer("axis", -1)});
  if (!ranked(x)) {
    return node.error("takes elements of a tensor of unknown rank, which is unsupported");
  }
  return give(node, ranked(x).getRank() == 1 ? f.op("Unsqueeze", {y, makeIntegers(f.b, f.loc, {0})}) : y);
}

/// Returns the first `width` columns of x [rows, columns]; where it has fewer, there are zeros behind them.
static Value withColumns(Formula &f, Value x, int64_t width) {
  auto list = [&](ArrayRef<int64_t> numbers) { return makeIntegers(f.b, f.loc, numbers); };
  if (int64_t columns = ranked(x).getDimSize(1); ShapedType::isDynamic(columns) || columns < width) {
    x = f.op("Pad", {x, list({0, 0, 0, width}), Value(), Value()});
  }
  return f.op("Slice", {x, list({0}), list({width}), list({1}), Value()});
}

/// Joins columns side by side, as floats.
LogicalResult FeatureVectorizerOp::upgrade(Node &node) {
  Formula f(node.builder, node.loc);
  SmallVector<int64_t> widths = integersIn(node, "inputdimensions");
  if (!widths.empty() && widths.size() != node.operands.size()) {
    return node.error(Twine(widths.size()) + " widths for " + Twine(node.operands.size()) + " inputs");
  }
  if (const int64_t *width = llvm::find_if(widths, [](int64_t width) { return width < 0; }); width != widths.end()) {
    return node.error("a width is negative: " + Twine(*width));
  }
  SmallVector<Value> parts;
  for (auto [i, v] : llvm::enumerate(node.operands)) {
    bool hasMoreAxes = v && ranked(v) && ranked(v).getRank() > 2; // all axes behind the first are one row
    Value x = hasMoreAxes ? f.op("Flatten", {v}, {f.integer("axis", 1)}) : v;
    x = x ? rowsOf(node, x) : Value();
    if (!x) {
      return v ? failure() : node.error("has too few inputs: input " + Twine(i) + " is missing");
    }
    if (!widths.empty() && ranked(x).getDimSize(1) != widths[i]) {
      x = withColumns(f, x, widths[i]);
    }
    parts.push_back(toFloat(f, x));
  }
  return give(node, parts.size() == 1 ? parts[0] : f.op("Concat", parts, {f.integer("axis", 1)}));
}

/// Each element is compared with all categories along a new last axis. With zeros = 1 one that is no category makes a
/// row of zeros, otherwise it ends the run.
LogicalResult OneHotEncoderOp::upgrade(Node &node) {
  Formula f(node.builder, node.loc);
  SmallVector<int64_t> categories = integersIn(node, "cats_int64s");
  SmallVector<StringRef> texts = textsIn(node, "cats_strings");
  bool isOfStrings = isString(elementOf(node.operand(0)));
  if (isOfStrings ? texts.empty() : categories.empty()) {
    return node.error("has no categories for elements of " + rowOf(elementOf(node.operand(0))).name);
  }
  if (isOfStrings) {
    Value number = find(f, node.operand(0), texts, /*isNeeded=*/!node.integer("zeros", 1));
    Value places = makeIntegers(f.b, f.loc, llvm::to_vector(llvm::seq<int64_t>(0, texts.size())));
    Value column = f.op("Unsqueeze", {number, makeIntegers(f.b, f.loc, {-1})});
    return give(node, toFloat(f, f.op("Equal", {column, places})));
  }
  Value x = f.cast(node.operand(0), f.b.getI64Type(), 7);
  if (!node.integer("zeros", 1)) { // elements are looked up, since one that is no key ends the run
    Value number = makeText(f, {x}, {"find_number", INGOT_INT64, keysOf(categories), INGOT_ERROR_STRING});
    x = f.op("Gather", {makeIntegers(f.b, f.loc, categories), number});
  }
  Value column = f.op("Unsqueeze", {x, makeIntegers(f.b, f.loc, {-1})});
  Value hit = f.op("Equal", {column, makeIntegers(f.b, f.loc, categories)});
  return give(node, toFloat(f, hit));
}

// These write LabelEncoder: the place of an element among the keys says which value it becomes; the default stands
// behind the values.

/// Returns an attribute NAME_int64s, NAME_floats or NAME_tensor of numbers.
static ElementsAttr numbersOf(const Node &node, StringRef name) {
  OpBuilder &b = node.builder;
  if (auto tensor = dyn_cast_or_null<ElementsAttr>(node.attributes.get((name + "_tensor").str()))) {
    return isString(tensor.getElementType()) ? ElementsAttr() : tensor;
  }
  if (auto list = integersIn(node, (name + "_int64s").str()); !list.empty()) {
    return constantFromIntegers(tensorOf({int64_t(list.size())}, b.getI64Type()), list);
  }
  if (auto list = floatsIn(node, (name + "_floats").str()); !list.empty()) {
    return constantFromFloats(tensorOf({int64_t(list.size())}, b.getF32Type()), list);
  }
  return {};
}

/// Returns an attribute NAME_strings or NAME_tensor of strings.
static SmallVector<StringRef> textsOf(const Node &node, StringRef name) {
  SmallVector<StringRef> list = textsIn(node, (name + "_strings").str());
  return list.empty() ? textsIn(node, (name + "_tensor").str()) : list;
}

/// Returns the default as one element of this type. The defaults of the standard, where a model gives none, are -0.0
/// and -1.
static ElementsAttr defaultOf(const Node &node, Type element) {
  auto type = tensorOf({1}, element);
  if (auto tensor = dyn_cast_or_null<ElementsAttr>(node.attributes.get("default_tensor"))) {
    return tensor.getElementType() == element && tensor.getNumElements() == 1 ? tensor : ElementsAttr();
  }
  return isa<FloatType>(element) ? constantFromFloats(type, {node.number("default_float", -0.0)})
                                 : constantFromIntegers(type, {node.integer("default_int64", -1)});
}

/// Writes the first version, which has one list of strings, and their places in it.
static LogicalResult upgradeLabels(Node &node) {
  SmallVector<StringRef> texts = textsIn(node, "classes_strings");
  if (texts.empty()) {
    return success();
  }
  auto places = llvm::to_vector(llvm::seq<int64_t>(0, texts.size()));
  bool isOfStrings = isString(elementOf(node.operand(0)));
  node.attributes.set(isOfStrings ? "keys_strings" : "values_strings", node.attributes.get("classes_strings"));
  node.attributes.set(isOfStrings ? "values_int64s" : "keys_int64s", node.builder.getDenseI64ArrayAttr(places));
  return success();
}

LogicalResult LabelEncoderOp::upgrade(Node &node) {
  if (failed(node.needs(1)) || failed(upgradeLabels(node))) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  Value x = node.operand(0);
  ElementsAttr keys = numbersOf(node, "keys"), values = numbersOf(node, "values");
  SmallVector<StringRef> keyTexts = textsOf(node, "keys"), texts = textsOf(node, "values");
  auto size = [](ElementsAttr numbers, ArrayRef<StringRef> texts) {
    return numbers ? numbers.getNumElements() : static_cast<int64_t>(texts.size());
  };
  int64_t count = size(keys, keyTexts);
  if (!count || count != size(values, texts)) {
    return node.error(Twine(count) + " keys do not fit " + Twine(size(values, texts)) + " values");
  }
  if (keys ? keys.getElementType() != elementOf(x) : !isString(elementOf(x))) {
    return node.error("keys are of another type than the input, which is of " + rowOf(elementOf(x)).name);
  }
  auto flat = [&](ElementsAttr a) { return f.reshape(makeConstant(f.b, f.loc, a), {a.getNumElements()}); };
  bool orNaN = isa<FloatType>(elementOf(x)) && node.opset >= 4; // NaN is a key since that version
  auto place = [&] { return keys ? placeAmong(f, x, flat(keys), orNaN) : find(f, x, keyTexts); };
  if (!values) {
    SmallVector<StringRef> otherwise = textsIn(node, "default_tensor");
    texts.push_back(otherwise.empty() ? node.text("default_string", "_Unused") : otherwise.front());
    return give(node, spell(f, place(), texts));
  }
  ElementsAttr otherwise = defaultOf(node, values.getElementType());
  if (!otherwise) {
    return node.error("default_tensor is not one element of the type of the values");
  }
  if (!keys && isInt(values.getElementType(), 64)) {
    SmallVector<int64_t> all = *integersOf(values);
    llvm::append_range(all, *integersOf(otherwise));
    return give(node, find(f, x, keyTexts, all));
  }
  Value all = f.op("Concat", {flat(values), flat(otherwise)}, {f.integer("axis", 0)});
  return give(node, f.op("Gather", {all, place()}));
}

void registerMachineLearning(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/MachineLearning.cpp.inc"
      >();
}

} // namespace ingot::onnx
