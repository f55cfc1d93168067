// Makes the three operators that hold trees Trees, and ordinary operators for what is done with the sums: base values,
// labels, transformations. Where leaves speak of one of two classes, the standard leaves open what that means, and this
// does what ONNX Runtime does. Where they speak of both, it gives the larger score's label, as onnx's reference
// evaluator does, and not, as ONNX Runtime does, 0 or 1 by the sign of the second score.
#include "compiler/onnx/ops/Trees.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/ml/DecisionTrees.h"
#include "compiler/onnx/ml/Scores.h"
#include "compiler/onnx/rewriting/Formula.h"
#include "compiler/onnx/sizes/Ranks.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>
#include <map>
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Trees.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

LogicalResult TreesOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto x = ranked(getX());
  if (!x) {
    types.push_back(typeOfRank(2, elementOf(getX())));
    return success();
  }
  Size features = x.getRank() == 2 ? sizeOf(x, 1) : Size::unknown();
  if (x.getRank() != 2 || failed(require(*this, max(features, Size(static_cast<int64_t>(getFeatures()))), features))) {
    return emitOpError("reads element ") << getFeatures() - 1 << " of each row, but has " << x;
  }
  types.push_back(sizedType({sizeOf(x, 0), Size(static_cast<int64_t>(getCount()))}, x.getElementType()));
  return success();
}

namespace {

/// A way of combining what trees give, by its name and its number in TreeEnsemble.
constexpr StringLiteral aggregates[] = {"AVERAGE", "SUM", "MIN", "MAX"};
constexpr StringLiteral transforms[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};

/// The places of nodes by their trees and their own numbers, which are any numbers.
using Numbers = std::map<std::pair<int64_t, int64_t>, int64_t>;

/// The trees of a node before they are tables.
class TreeAttributes {
public:
  explicit TreeAttributes(Node &node) : node(node), f(node.builder, node.loc), x(rowsOf(node)) {
    if (x) {
      trees.emplace(elementOf(x).isF64());
    }
  }

  Node &node;
  Formula f;
  Value x; ///< null: a message has been given
  std::optional<DecisionTrees> trees;

  LogicalResult fail(const Twine &why) { return node.error(why); }

  /// Reads the trees of TreeEnsembleClassifier and TreeEnsembleRegressor, whose leaves give what the attributes
  /// `prefix`_ids and so on say.
  LogicalResult byTree(StringRef prefix);
  /// Reads the trees of TreeEnsemble.
  LogicalResult byIndex();

  /// Returns what the trees give together, [rows, targets].
  Value sums(StringRef aggregate);

private:
  LogicalResult readLinks(ArrayRef<int64_t> tree, const Numbers &numbers);
  LogicalResult readLeafWeights(StringRef prefix, const Numbers &numbers);
  LogicalResult checkNode(int64_t n);
  Value table(ArrayRef<double> values, ArrayRef<int64_t> shape) {
    return makeConstant(f.b, f.loc, constantFromFloats(tensorOf(shape, elementOf(x)), values));
  }
};

/// Nothing is less than NaN, so a node that compares with it would lead all rows to one side.
LogicalResult TreeAttributes::checkNode(int64_t n) {
  const DecisionTrees::Node &each = trees->nodes[n];
  if (each.feature < 0 || each.feature >= INT32_MAX) {
    return fail("node " + Twine(n) + " asks for element " + Twine(each.feature) + " of a row");
  }
  if (std::isnan(each.value) && each.how != Comparison::Member) {
    return fail("node " + Twine(n) + " compares with a value that is not a number");
  }
  return success();
}

/// These two operators list nodes by pairs of a tree and a number of their own, in any order, and weights for such
/// pairs.
LogicalResult TreeAttributes::byTree(StringRef prefix) {
  auto numbers = integersIn(node, "nodes_nodeids"), tree = integersIn(node, "nodes_treeids"),
       features = integersIn(node, "nodes_featureids"), missing = integersIn(node, "nodes_missing_value_tracks_true");
  SmallVector<double> values = floatsIn(node, "nodes_values");
  auto modes = dyn_cast_or_null<ArrayAttr>(node.attributes.get("nodes_modes"));
  size_t count = numbers.size();
  if (!modes || count == 0 || tree.size() != count || features.size() != count || modes.size() != count ||
      values.size() != count || (!missing.empty() && missing.size() != count)) {
    return fail("the attributes nodes_* have lengths that differ, or there are no nodes");
  }
  Numbers places;
  for (size_t i = 0; i < count; ++i) {
    if (!places.try_emplace({tree[i], numbers[i]}, static_cast<int64_t>(i)).second) {
      return fail("node " + Twine(numbers[i]) + " of tree " + Twine(tree[i]) + " is there twice");
    }
    auto text = dyn_cast<StringAttr>(modes[i]);
    auto how = llvm::StringSwitch<std::optional<Comparison>>(text ? text.getValue() : "")
                   .Case("BRANCH_LEQ", Comparison::NotGreater)
                   .Case("BRANCH_LT", Comparison::Less)
                   .Case("BRANCH_GTE", Comparison::NotLess)
                   .Case("BRANCH_GT", Comparison::Greater)
                   .Case("BRANCH_EQ", Comparison::Equal)
                   .Case("BRANCH_NEQ", Comparison::Unequal)
                   .Case("LEAF", Comparison::Member)
                   .Default(std::nullopt);
    if (!how) {
      return fail("the mode " + (text ? "'" + text.getValue().str() + "'" : std::string("of a node")) +
                  " is not known");
    }
    DecisionTrees::Node each;
    each.how = *how, each.feature = features[i], each.value = values[i], each.missing = !missing.empty() && missing[i];
    trees->nodes.push_back(std::move(each));
  }
  return failed(readLinks(tree, places)) ? failure() : readLeafWeights(prefix, places);
}

/// Notes where nodes lead. Roots are nodes to which none leads, in the order of their trees.
LogicalResult TreeAttributes::readLinks(ArrayRef<int64_t> tree, const Numbers &numbers) {
  auto yes = integersIn(node, "nodes_truenodeids"), no = integersIn(node, "nodes_falsenodeids");
  if (yes.size() != tree.size() || no.size() != tree.size()) {
    return fail("the attributes nodes_* have lengths that differ, or there are no nodes");
  }
  std::vector<bool> led(tree.size(), false);
  for (size_t i = 0; i < tree.size(); ++i) {
    DecisionTrees::Node &each = trees->nodes[i];
    if (each.how == Comparison::Member) {
      continue; // the node is a leaf
    }
    for (auto [to, id] : {std::pair(&each.yes, yes[i]), {&each.no, no[i]}}) {
      auto found = numbers.find({tree[i], id});
      if (found == numbers.end()) {
        return fail("tree " + Twine(tree[i]) + " leads to node " + Twine(id) + ", which it does not have");
      }
      *to = found->second;
      led[*to] = true;
    }
    if (failed(checkNode(static_cast<int64_t>(i)))) {
      return failure();
    }
  }
  std::map<int64_t, int64_t> rootOf;
  for (size_t i = 0; i < tree.size(); ++i) {
    if (!led[i] && !rootOf.try_emplace(tree[i], static_cast<int64_t>(i)).second) {
      return fail("tree " + Twine(tree[i]) + " has two roots");
    }
    if (!led[i]) {
      trees->roots.push_back(static_cast<int64_t>(i));
    }
  }
  for (int64_t each : tree) {
    if (!rootOf.count(each)) {
      return fail("tree " + Twine(each) + " has no root: it leads back to itself");
    }
  }
  return success();
}

/// Notes what leaves add to which target; a leaf that adds to several has several weights.
LogicalResult TreeAttributes::readLeafWeights(StringRef prefix, const Numbers &numbers) {
  auto name = [&](StringRef rest) { return (prefix + "_" + rest).str(); };
  auto ids = integersIn(node, name("ids")), ofNode = integersIn(node, name("nodeids")),
       ofTree = integersIn(node, name("treeids"));
  SmallVector<double> weights = floatsIn(node, name("weights"));
  if (ofNode.size() != ids.size() || ofTree.size() != ids.size() || weights.size() != ids.size()) {
    return fail("the attributes " + prefix + "_* have lengths that differ");
  }
  for (size_t i = 0; i < ids.size(); ++i) {
    auto found = numbers.find({ofTree[i], ofNode[i]});
    if (found == numbers.end() || !trees->nodes[found->second].isLeaf()) {
      return fail("weight " + Twine(i) + " is for node " + Twine(ofNode[i]) + " of tree " + Twine(ofTree[i]) +
                  ", which is no leaf");
    }
    if (ids[i] < 0 || ids[i] >= trees->targets) {
      return fail("weight " + Twine(i) + " is for target " + Twine(ids[i]) + " of " + Twine(trees->targets));
    }
    trees->leafWeights.push_back({found->second, ids[i], weights[i]});
  }
  return success();
}

/// This operator lists inner nodes and leaves separately, each led to by its index. In `nodes` the leaves come behind
/// the inner nodes. Sets of members stand in one list, with a NaN behind each.
LogicalResult TreeAttributes::byIndex() {
  auto numbersOf = [&](StringRef name) {
    auto tensor = dyn_cast_or_null<ElementsAttr>(node.attributes.get(name));
    return tensor ? floatsOf(tensor).value_or(SmallVector<double>()) : SmallVector<double>();
  };
  auto features = integersIn(node, "nodes_featureids"), missing = integersIn(node, "nodes_missing_value_tracks_true"),
       ids = integersIn(node, "leaf_targetids");
  SmallVector<int64_t> to[] = {integersIn(node, "nodes_truenodeids"), integersIn(node, "nodes_falsenodeids")};
  SmallVector<int64_t> areLeaves[] = {integersIn(node, "nodes_trueleafs"), integersIn(node, "nodes_falseleafs")};
  SmallVector<double> splits = numbersOf("nodes_splits"), weights = numbersOf("leaf_weights"),
                      members = numbersOf("membership_values");
  auto modes = dyn_cast_or_null<ElementsAttr>(node.attributes.get("nodes_modes"));
  auto how = modes ? integersOf(modes) : std::nullopt;
  size_t count = features.size();
  for (const auto &list : {to[0], to[1], areLeaves[0], areLeaves[1], how.value_or(SmallVector<int64_t>())}) {
    if (list.size() != count) {
      return fail("the attributes nodes_* have lengths that differ");
    }
  }
  if (splits.size() != count || (!missing.empty() && missing.size() != count) || ids.size() != weights.size()) {
    return fail("the attributes nodes_* or leaf_* have lengths that differ");
  }
  const auto leaves = static_cast<int64_t>(ids.size()), inner = static_cast<int64_t>(count);
  trees->nodes.resize(inner + leaves);
  const double *member = members.begin();
  for (int64_t i = 0; i < inner; ++i) {
    DecisionTrees::Node &each = trees->nodes[i];
    if ((*how)[i] < 0 || (*how)[i] > static_cast<int64_t>(Comparison::Member)) {
      return fail("the mode " + Twine((*how)[i]) + " is not known");
    }
    each.how = static_cast<Comparison>((*how)[i]);
    each.feature = features[i], each.value = splits[i], each.missing = !missing.empty() && missing[i];
    if (each.how == Comparison::Member) {
      const double *end =
          std::find_if(member, static_cast<const double *>(members.end()), [](double v) { return std::isnan(v); });
      each.values.assign(member, end);
      member = end == members.end() ? end : end + 1;
    }
    for (int k : {0, 1}) {
      bool isLeaf = areLeaves[k][i] != 0;
      if (to[k][i] < 0 || to[k][i] >= (isLeaf ? leaves : inner)) {
        return fail("node " + Twine(i) + " leads to " + (isLeaf ? "leaf " : "node ") + Twine(to[k][i]) +
                    ", which is not there");
      }
      (k ? each.no : each.yes) = to[k][i] + (isLeaf ? inner : 0);
    }
    if (failed(checkNode(i))) {
      return failure();
    }
  }
  for (int64_t i = 0; i < leaves; ++i) {
    if (ids[i] < 0 || ids[i] >= trees->targets) {
      return fail("leaf " + Twine(i) + " is for target " + Twine(ids[i]) + " of " + Twine(trees->targets));
    }
    trees->leafWeights.push_back({inner + i, ids[i], weights[i]});
  }
  for (int64_t root : integersIn(node, "tree_roots")) {
    if (root < 0 || root >= inner) {
      return fail("a tree begins at node " + Twine(root) + ", which is not there");
    }
    trees->roots.push_back(root);
  }
  return trees->roots.empty() ? fail("there are no trees") : success();
}

/// Averages are sums divided by the number of trees. For the smallest and largest, a target that no leaf gives anything
/// stays infinite in the tables, and becomes 0 here.
Value TreeAttributes::sums(StringRef aggregate) {
  bool isMin = aggregate == "MIN", isMax = aggregate == "MAX";
  double infinity = std::numeric_limits<double>::infinity();
  trees->isSum = !isMin && !isMax;
  trees->nothing = isMin ? infinity : isMax ? -infinity : 0;
  DecisionTrees::Tables tables;
  if (std::string wrong = trees->build(tables); !wrong.empty()) {
    (void)fail(wrong);
    return {};
  }
  auto rows = static_cast<int64_t>(tables.splits.size());
  bool each = !tables.targetOf.empty();
  Value targets = each ? makeIntegers(f.b, f.loc, tables.targetOf) : Value();
  auto text = [&](StringRef name, StringRef value) { return f.b.getNamedAttr(name, f.b.getStringAttr(value)); };
  Value y =
      f.op("Trees",
           {x, table(tables.splits, {rows}), makeIntegers(f.b, f.loc, tables.links),
            each ? table(tables.weights, {rows}) : table(tables.weights, {rows, trees->targets}),
            makeIntegers(f.b, f.loc, tables.roots), makeIntegers(f.b, f.loc, tables.depths), targets},
           {f.integer("features", tables.features), f.integer("count", trees->targets), text("missing", tables.missing),
            text("combine", isMin   ? "min"
                            : isMax ? "max"
                                    : "sum")});
  if (aggregate == "AVERAGE") {
    return f.div(y, f.number(trees->roots.size(), y));
  }
  if (!trees->isSum) { // no leaf gave anything to the target
    y = f.op("Where", {f.op("IsInf", {y}), f.number(0, y), y});
  }
  return y;
}

/// Adds a row of base values, if there are as many as columns.
Value withBase(Formula &f, Value scores, ArrayRef<double> base) {
  if (base.empty()) {
    return scores;
  }
  auto type = tensorOf({static_cast<int64_t>(base.size())}, elementOf(scores));
  return f.add(scores, makeConstant(f.b, f.loc, constantFromFloats(type, base)));
}

} // namespace

LogicalResult TreeEnsembleOp::upgrade(Node &node) {
  int64_t aggregate = node.integer("aggregate_function", 1), transform = node.integer("post_transform", 0);
  if (aggregate < 0 || aggregate > 3 || transform < 0 || transform > 4) {
    return node.error("aggregate_function " + Twine(aggregate) + " or post_transform " + Twine(transform) +
                      " is not known");
  }
  TreeAttributes attributes(node);
  if (!attributes.x) {
    return failure();
  }
  attributes.trees->targets = node.integer("n_targets", 1);
  if (attributes.trees->targets < 1) {
    return node.error("n_targets is " + Twine(attributes.trees->targets));
  }
  if (failed(attributes.byIndex())) {
    return failure();
  }
  Value y = attributes.sums(aggregates[aggregate]);
  node.results.push_back(y ? transformedScores(node, y, transforms[transform]) : Value());
  return success(node.results.back() != nullptr);
}

LogicalResult TreeEnsembleRegressorOp::upgrade(Node &node) {
  StringRef aggregate = node.text("aggregate_function", "SUM");
  if (!llvm::is_contained(aggregates, aggregate)) {
    return node.error("aggregate_function '" + aggregate + "' is not known");
  }
  TreeAttributes attributes(node);
  if (!attributes.x) {
    return failure();
  }
  attributes.trees->targets = node.integer("n_targets", 1);
  SmallVector<double> base = floatsIn(node, "base_values");
  if (attributes.trees->targets < 1 ||
      (!base.empty() && static_cast<int64_t>(base.size()) != attributes.trees->targets)) {
    return node.error("n_targets is " + Twine(attributes.trees->targets) + " and there are " + Twine(base.size()) +
                      " base values");
  }
  if (failed(attributes.byTree("target"))) {
    return failure();
  }
  Value y = attributes.sums(aggregate);
  if (!y) {
    return failure();
  }
  y = attributes.f.cast(withBase(attributes.f, y, base), node.builder.getF32Type(), 1);
  node.results.push_back(transformedScores(node, y, node.text("post_transform", "NONE")));
  return success(node.results.back() != nullptr);
}

/// Returns the label's number and both scores of two classes, where all leaves speak of the first: the other's score is
/// what is left.
static std::pair<Value, Value> oneOfTwo(Node &node, Formula &f, Value score, bool positive, StringRef transform) {
  Value first = f.op("Greater", {score, f.number(positive ? 0.5 : 0, score)});
  Value label = f.reshape(f.cast(first, f.b.getI64Type(), 7), {-1});
  if (transform == "LOGISTIC") {
    return {label, transformedScores(node, twoColumns(f, f.op("Neg", {score}), score), transform)};
  }
  return {label, twoColumns(f, positive ? f.sub(f.number(1, score), score) : f.op("Neg", {score}), score)};
}

/// Returns the class of the largest score. A class to which no leaf gives anything does not count, unless it has a base
/// value.
static Value bestClass(Formula &f, Value scores, ArrayRef<int64_t> ids, ArrayRef<double> base, int64_t classes) {
  SmallVector<double> out(classes, base.empty() ? -std::numeric_limits<double>::infinity() : 0.0);
  for (int64_t id : ids) {
    out[id] = 0;
  }
  if (llvm::any_of(out, [](double v) { return v != 0; })) {
    scores = withBase(f, scores, out);
  }
  return f.op("ArgMax", {scores}, {f.integer("axis", 1), f.integer("keepdims", 0)});
}

LogicalResult TreeEnsembleClassifierOp::upgrade(Node &node) {
  TreeAttributes attributes(node);
  if (!attributes.x) {
    return failure();
  }
  int64_t classes = labelCount(node, "classlabels_int64s", "classlabels_strings");
  SmallVector<int64_t> ids = integersIn(node, "class_ids");
  SmallVector<double> base = floatsIn(node, "base_values"), weights = floatsIn(node, "class_weights");
  attributes.trees->targets = std::max<int64_t>(classes, 1);
  if (classes < 1 || failed(attributes.byTree("class"))) {
    return classes < 1 ? node.error("has no labels of classes") : failure();
  }
  bool one = classes == 2 && !ids.empty() && llvm::all_equal(ids) && ids[0] == 0;
  if (!base.empty() && static_cast<int64_t>(base.size()) != classes && !(one && base.size() == 1)) {
    return node.error("has " + Twine(base.size()) + " base values for " + Twine(classes) + " classes");
  }
  Formula &f = attributes.f;
  if (one) {
    attributes.trees->targets = 1;
  }
  Value scores = attributes.sums("SUM");
  if (!scores) {
    return failure();
  }
  StringRef transform = node.text("post_transform", "NONE");
  scores = f.cast(withBase(f, scores, one ? ArrayRef(base).take_back(1) : ArrayRef(base)), f.b.getF32Type(), 1);
  Value label;
  if (one) {
    bool positive = llvm::all_of(weights, [](double w) { return w >= 0; });
    std::tie(label, scores) = oneOfTwo(node, f, scores, positive, transform);
  } else {
    label = bestClass(f, scores, ids, base, classes);
    scores = transformedScores(node, scores, transform);
  }
  node.results = {labelsOf(node, label, "classlabels_int64s", "classlabels_strings"), scores};
  return success(static_cast<bool>(scores));
}

void registerTrees(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Trees.cpp.inc"
      >();
}

} // namespace ingot::onnx
