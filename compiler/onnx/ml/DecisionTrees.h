// Decision trees as a model gives them, and the tables that onnx.Trees reads. Whatever a node compares (six ways, and
// membership of a set) becomes questions of one kind, "not greater than?": `less` asks for the number before, `equal`
// asks twice, a set is searched by halves. So a step down a tree is the same few instructions everywhere, without a
// branch.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <string>
#include <vector>

namespace ingot::onnx {

/// What a node asks of an element, in the numbers that TreeEnsemble has for it.
enum class Comparison : uint8_t { NotGreater, Less, NotLess, Greater, Equal, Unequal, Member };

class DecisionTrees {
public:
  /// `isDouble`: elements are 64-bit floats, else 32-bit ones.
  explicit DecisionTrees(bool isDouble) : isDouble(isDouble) {}

  struct Node {
    Comparison how = Comparison::NotGreater;
    int64_t feature = 0;
    double value = 0;
    bool missing = false;             ///< NaN counts as yes
    int64_t yes = -1, no = -1;        ///< nodes; of a leaf -1
    llvm::SmallVector<double> values; ///< of Member
    bool isLeaf() const { return yes < 0; }
  };
  struct Gift {
    int64_t node, target;
    double weight;
  };

  std::vector<Node> nodes;
  std::vector<int64_t> roots;
  std::vector<Gift> gifts; ///< what leaves give; a leaf may give to many targets
  int64_t targets = 1;
  bool isSum = true;
  double nothing = 0; ///< what a leaf gives that gives nothing: what changes no sum, minimum or maximum

  /// The tables; see onnx.Trees.
  struct Tables {
    std::vector<double> splits, weights;
    std::vector<int64_t> links, roots, depths, targetOf; ///< the last: empty where leaves give to all targets
    int64_t features = 0;                                ///< that rows must have
    std::string missing;
  };
  /// Or what is wrong.
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
  std::vector<int64_t> meaning;    ///< of each node: the question that stands for it, or the leaf (below 0: ~node)
  std::vector<Question> questions; ///< each behind those that it leads to
  std::vector<int64_t> questionDepth;
  std::vector<int64_t> leafOf, treeOf; ///< by row of the tables: the leaf's node, or -1; the tree
};

} // namespace ingot::onnx
