// Builds the tables in four steps: order() finds an order in which each node comes behind those that it leads to, ask()
// writes the questions of each node in that order, place() lays the questions out, and weigh() fills in what leaves
// give. In the tables a question at place p has its threshold in splits[p]; links[p] has the place of its first
// successor in the upper 32 bits, and the feature in the lower ones. The successors of a question are neighbours, so
// that a step of a row is
//
//   p = first + !(x[feature] <= split)
//
// and a leaf leads to itself: its threshold is NaN, with which nothing compares, so that the step goes to first + 1,
// and first is the place before the leaf. (Where NaN leads to the other side everywhere, first is the leaf's own
// place.) All rows of a tree thus take as many steps as the tree is deep, without a branch.
#include "compiler/onnx/ml/DecisionTrees.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace ingot::onnx {

static constexpr double infinity = std::numeric_limits<double>::infinity();

/// Fills bottomUp by a walk with a stack of its own, since a hostile tree may be a list of a million nodes.
std::string DecisionTrees::order() {
  enum : uint8_t { New, Open, Done };
  std::vector<uint8_t> state(nodes.size(), New);
  std::vector<int64_t> stack;
  for (int64_t root : roots) {
    stack.push_back(root);
    while (!stack.empty()) {
      int64_t n = stack.back();
      const Node &node = nodes[n];
      if (state[n] == New) {
        state[n] = Open;
        for (int64_t next : {node.yes, node.no}) {
          if (!node.isLeaf() && state[next] == Open) {
            return "node " + std::to_string(next) + " of a tree leads back to itself";
          }
          if (!node.isLeaf() && state[next] == New) {
            stack.push_back(next);
          }
        }
        continue;
      }
      stack.pop_back();
      if (state[n] == Open) {
        state[n] = Done;
        bottomUp.push_back(n);
      }
    }
  }
  return "";
}

double DecisionTrees::before(double value) const {
  return isDouble ? std::nextafter(value, -infinity)
                  : double(std::nextafterf(static_cast<float>(value), -std::numeric_limits<float>::infinity()));
}

/// Returns the question's number; where both answers lead to the same place, nothing has to be asked.
int64_t DecisionTrees::question(int64_t feature, double split, bool missing, int64_t yes, int64_t no) {
  if (yes == no) {
    return yes;
  }
  questions.push_back({feature, split, missing, yes, no});
  return static_cast<int64_t>(questions.size()) - 1;
}

/// Asks whether an element is not greater than `value`, and then whether it is not greater than the number before.
/// Nothing is less than minus infinity, for which the second question is left out.
int64_t DecisionTrees::equals(const Node &node, double value, int64_t yes, int64_t no) {
  int64_t inner = value == -infinity ? yes : question(node.feature, before(value), false, no, yes);
  return question(node.feature, value, node.missing, inner, no);
}

/// Searches a sorted set by halves: each half is asked for its members in turn.
int64_t DecisionTrees::member(const Node &node, llvm::ArrayRef<double> values, int64_t yes, int64_t no) {
  if (values.empty()) {
    return no;
  }
  if (values.size() == 1) {
    return equals(node, values[0], yes, no);
  }
  size_t half = values.size() / 2;
  int64_t low = member(node, values.take_front(half), yes, no), high = member(node, values.drop_front(half), yes, no);
  return question(node.feature, values[half - 1], false, low, high);
}

/// Writes the questions that stand for a node.
void DecisionTrees::ask(int64_t n) {
  const Node &node = nodes[n];
  if (node.isLeaf()) {
    meaning[n] = ~n;
    return;
  }
  int64_t yes = meaning[node.yes], no = meaning[node.no], f = node.feature;
  bool lowest = node.value == -infinity;
  switch (node.how) {
  case Comparison::NotGreater:
    meaning[n] = question(f, node.value, node.missing, yes, no);
    return;
  // Nothing but NaN could be less than minus infinity, and a question about NaN alone is not needed.
  case Comparison::Less:
    meaning[n] = lowest ? no : question(f, before(node.value), node.missing, yes, no);
    return;
  case Comparison::Greater:
    meaning[n] = question(f, node.value, !node.missing, no, yes);
    return;
  case Comparison::NotLess:
    meaning[n] = lowest ? yes : question(f, before(node.value), !node.missing, no, yes);
    return;
  case Comparison::Equal:
    meaning[n] = equals(node, node.value, yes, no);
    return;
  case Comparison::Unequal: { // NaN is unequal, too
    Node other = node;
    other.missing = false;
    meaning[n] = equals(other, node.value, no, yes);
    return;
  }
  case Comparison::Member: {
    std::set<double> sorted(node.values.begin(), node.values.end());
    meaning[n] = member(node, llvm::SmallVector<double>(sorted.begin(), sorted.end()), yes, no);
    return;
  }
  }
}

/// Gives the questions and leaves places in the tables, where the two that a question leads to stand side by side.
/// False:
/// there are too many.
bool DecisionTrees::place(Tables &t) {
  bool some = llvm::any_of(questions, [](const Question &q) { return q.missing; });
  bool all = llvm::all_of(questions, [](const Question &q) { return q.missing; });
  t.missing = !some ? "never" : all ? "always" : "mixed";
  auto grow = [&](int64_t count) {
    t.splits.resize(t.splits.size() + count, 0);
    t.links.resize(t.splits.size(), 0), leafOf.resize(t.splits.size(), -1), treeOf.resize(t.splits.size(), -1);
    return static_cast<int64_t>(t.splits.size()) - count;
  };
  for (auto [tree, root] : llvm::enumerate(roots)) {
    std::map<std::pair<int64_t, int64_t>, int64_t> pairs; ///< the place of a pair that stands in the table
    std::vector<std::pair<int64_t, int64_t>> open;        ///< places, and the questions or leaves to put there
    t.roots.push_back(grow(1));
    open.emplace_back(t.roots.back(), meaning[root]);
    t.depths.push_back(meaning[root] < 0 ? 0 : questionDepth[meaning[root]]);
    while (!open.empty()) {
      auto [at, what] = open.back();
      open.pop_back();
      treeOf[at] = static_cast<int64_t>(tree);
      if (what < 0) {
        leafOf[at] = ~what;
        t.splits[at] = std::numeric_limits<double>::quiet_NaN();
        t.links[at] = static_cast<int64_t>(static_cast<uint64_t>(all && some ? at : at - 1) << 32);
        continue;
      }
      const Question &q = questions[what];
      auto [pair, isNew] = pairs.try_emplace({q.yes, q.no}, 0);
      if (isNew) {
        if (t.splits.size() > size_t(mostNodes)) {
          return false;
        }
        pair->second = grow(2);
        open.emplace_back(pair->second, q.yes), open.emplace_back(pair->second + 1, q.no);
      }
      t.splits[at] = q.split;
      uint64_t flag = t.missing == "mixed" && q.missing ? uint64_t(1) << 31 : 0;
      t.links[at] = static_cast<int64_t>(static_cast<uint64_t>(pair->second) << 32 | flag | uint64_t(q.feature));
      t.features = std::max(t.features, q.feature + 1);
    }
  }
  return true;
}

/// Fills in the weights of leaves: one for each where all leaves of a tree give to the same target, else one for each
/// target.
void DecisionTrees::weigh(Tables &t) {
  llvm::DenseMap<int64_t, llvm::SmallVector<const LeafWeight *, 1>> of;
  for (const LeafWeight &leaf : leafWeights) {
    of[leaf.node].push_back(&leaf);
  }
  std::vector<int64_t> only(roots.size(), -1);
  bool one = true;
  for (size_t at = 0; at < leafOf.size(); ++at) {
    for (const LeafWeight *leaf :
         leafOf[at] < 0 ? llvm::ArrayRef<const LeafWeight *>() : llvm::ArrayRef(of[leafOf[at]])) {
      int64_t &target = only[treeOf[at]];
      one &= target < 0 || target == leaf->target;
      target = leaf->target;
    }
  }
  int64_t width = one ? 1 : targets;
  t.weights.assign(leafOf.size() * width, nothing);
  for (size_t at = 0; at < leafOf.size(); ++at) {
    for (const LeafWeight *leaf :
         leafOf[at] < 0 ? llvm::ArrayRef<const LeafWeight *>() : llvm::ArrayRef(of[leafOf[at]])) {
      double &weight = t.weights[at * width + (one ? 0 : leaf->target)];
      weight = isSum ? weight + leaf->weight : leaf->weight;
    }
  }
  if (one) {
    t.targetOf = only;
    llvm::replace(t.targetOf, int64_t(-1), int64_t(0));
  }
}

std::string DecisionTrees::build(Tables &tables) {
  if (std::string wrong = order(); !wrong.empty()) {
    return wrong;
  }
  meaning.assign(nodes.size(), -1);
  for (int64_t n : bottomUp) {
    ask(n);
  }
  auto depthOf = [&](int64_t what) { return what < 0 ? 0 : questionDepth[what]; };
  for (const Question &q : questions) {
    questionDepth.push_back(1 + std::max(depthOf(q.yes), depthOf(q.no)));
  }
  if (!place(tables)) {
    return "has more than " + std::to_string(mostNodes) + " nodes";
  }
  if (tables.splits.size() * uint64_t(targets) > uint64_t(mostNodes) * 4) {
    return "has more leaves for more targets than are supported";
  }
  weigh(tables);
  return "";
}

} // namespace ingot::onnx
