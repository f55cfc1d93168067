// Makes the tables that onnx.Trees reads from decision trees as a model gives them. Every comparison of a node (six
// ways, and membership of a set) becomes questions of one kind, "not greater than?": `less` asks for the number before,
// `equal` asks twice, and a set is searched by halves. So a step down a tree is the same few instructions everywhere,
// without a branch.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <string>
#include <vector>

namespace ingot::onnx {

/// The comparison of a node, by the numbers that TreeEnsemble has for it.
enum class Comparison : uint8_t { NotGreater, Less, NotLess, Greater, Equal, Unequal, Member };

class DecisionTrees {
public:
  /// Elements are 64-bit floats with `isDouble`, and 32-bit ones else.
  explicit DecisionTrees(bool isDouble) : isDouble(isDouble) {}

  struct Node {
    Comparison how = Comparison::NotGreater;
    int64_t feature = 0;
    double value = 0;
    bool missing = false;             ///< whether NaN leads to `yes`
    int64_t yes = -1, no = -1;        ///< the next nodes; -1 in a leaf
    llvm::SmallVector<double> values; ///< the set that Member looks in
    bool isLeaf() const { return yes < 0; }
  };
  struct LeafWeight {
    int64_t node, target;
    double weight;
  };

  std::vector<Node> nodes;
  std::vector<int64_t> roots;
  std::vector<LeafWeight> leafWeights; ///< the weights that leaves add to targets; a leaf may have many
  int64_t targets = 1;
  bool isSum = true;
  double nothing = 0; ///< the weight of a leaf without weights: it changes no sum, minimum or maximum

  /// The tables that onnx.Trees describes.
  struct Tables {
    std::vector<double> splits, weights;
    /// `targetOf`: the target of each tree; empty where a leaf may give to all targets
    std::vector<int64_t> links, roots, depths, targetOf;
    int64_t features = 0; ///< how many features a row must have
    std::string missing;
  };
  /// Makes the tables, and returns what is wrong with the trees; empty: nothing.
  std::string build(Tables &tables);

private:
  struct Question {
    int64_t feature;
    double split;
    bool missing;
    int64_t yes, no;
  };
  static constexpr int64_t mostNodes = int64_t(1) << 28;

  std::string order();
  void ask(int64_t node);
  int64_t question(int64_t feature, double split, bool missing, int64_t yes, int64_t no);
  int64_t equals(const Node &node, double value, int64_t yes, int64_t no);
  int64_t member(const Node &node, llvm::ArrayRef<double> values, int64_t yes, int64_t no);
  double before(double value) const;
  bool place(Tables &tables);
  void weigh(Tables &tables);

  bool isDouble;
  std::vector<int64_t> bottomUp;   ///< nodes, each behind those that it leads to
  std::vector<int64_t> meaning;    ///< for each node the question that stands for it, or the leaf (below 0: ~node)
  std::vector<Question> questions; ///< each behind those that it leads to
  std::vector<int64_t> questionDepth;
  std::vector<int64_t> leafOf, treeOf; ///< for each row of the tables the leaf's node, or -1; and its tree
};

} // namespace ingot::onnx
