// Resolves nodes. Resolver walks through them in their order and knows what each value stands for (Resolve.cpp). It has
// what rules for nodes are made of: subgraphs (Subgraphs.cpp), optional values (Optional.cpp), sequences
// (Sequences.cpp, PackedLoops.cpp) and outputs (Outputs.cpp).
//
// A node of which not one op of its name is made, but several, others, or none, has a rule. A file NAME.cpp of nodes/
// has the rules of some operators and adds them in `void addNAME(Rules &)`; it is found by the folder.
#pragma once
#include "compiler/graph/resolve/Node.h"
#include "compiler/graph/resolve/Sequence.h"
#include "compiler/onnx/interfaces/Expansion.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::graph {

using Values = llvm::SmallVector<mlir::Value>;
using ResolvedValues = llvm::SmallVector<ResolvedValue>;

/// The values that an iteration of a loop gives.
struct Iteration {
  mlir::Value continues; ///< whether the loop goes on
  ResolvedValues state;
  Values slices;
};

class Resolver {
public:
  using Value = mlir::Value;
  using Location = mlir::Location;

  Resolver(mlir::func::FuncOp function, Problems &problems)
      : builder(function.getContext()), problems(&problems), function(function), context(function.getContext()) {}

  mlir::LogicalResult run();

  // The rest is for the rules.
  mlir::OpBuilder builder; ///< at the place of the node that is resolved
  Problems *problems;
  void fail(const Node &node, const llvm::Twine &problem) { problems->add(node.where(), problem); }

  // These tell and set what the values of nodes stand for.
  /// Returns the tensor; null if what should have made it failed, or if it is a sequence.
  Value value(Value written) const;
  ResolvedValue resolvedValue(Value written) const;
  void bind(Value written, const ResolvedValue &resolved);
  bool isSequence(Value written) const { return written && sequences.contains(written); }
  bool takesSequence(const Node &node) const;
  /// Returns the inputs; nothing where one of them is missing.
  std::optional<Values> inputsOf(const Node &node);

  // These return whether the node is as it should be; else that has been reported.
  bool areTensors(const Node &node, llvm::ArrayRef<Value> inputs); ///< no optional values
  bool names(const Node &node, size_t index);                      ///< its input `index`
  bool hasOneOutput(const Node &node);
  bool mayUnroll(const Node &node); ///< whether a body may be written once more

  // These are about optional values.
  Value truth(Location loc, bool v); ///< a boolean constant of rank 0
  static bool mayBeAbsent(Value v);
  static Value sourceOf(Value v); ///< the value from which Identity ops make `v`

  // These are about sequences.
  /// Returns the sequence that is the node's first input; nothing once it has been reported that it is none.
  std::optional<Sequence> sequenceIn(const Node &node);
  /// Returns the value with its sequence, if it is one, packed in this way.
  ResolvedValue packedAs(const Node &node, ResolvedValue resolved, int64_t rank, bool mixes, bool isOptional);
  /// Makes a loop that remains a loop in the model and carries packed sequences. The results are the last state, and
  /// then the scan outputs.
  std::optional<ResolvedValues>
  carryPacked(const Node &node, Value trips, Value condition, const ResolvedValues &initial, unsigned scans,
              int numberRank, llvm::function_ref<std::optional<Iteration>(mlir::Block &, ResolvedValues)> body);

  // These are about subgraphs, whose regions are filled like the graph itself. What they make is null once a problem
  // has been added.
  const Subgraph *subgraphOf(const Node &node, llvm::StringRef attribute, int inputs);
  void all(mlir::Block &block); ///< resolves the nodes of a block
  std::optional<ResolvedValues> contents(const Subgraph &graph);
  std::optional<Values> subgraph(const Subgraph &graph, llvm::ArrayRef<Value> inputs);
  std::optional<ResolvedValues> branch(const Subgraph &graph, mlir::Block &block, Problems &reported);
  Values loop(const Node &node, Value trips, Value condition, llvm::ArrayRef<Value> initial, unsigned results,
              int numberRank, llvm::function_ref<Values(mlir::Block &)> body);
  bool finishControl(const Node &node, mlir::Operation *op);
  /// Binds the node's outputs to these tensors, which stand for values like those of `pattern`.
  void takeResults(const Node &node, mlir::ValueRange results, llvm::ArrayRef<ResolvedValue> pattern);
  /// Binds them to tensors; none: a problem has been added.
  void takeTensors(const Node &node, llvm::ArrayRef<Value> results);

private:
  void node(const Node &node);
  bool isMade(const Node &node) const;
  bool readsMissing(const Node &node) const;
  void markMissing(const Node &node, bool isReported);
  bool arity(onnx::Node &target, mlir::RegisteredOperationName info, const Node &node);
  bool knownAttributes(onnx::Node &target, mlir::RegisteredOperationName info, const Node &node);
  bool knownSubgraphs(const Node &node, mlir::RegisteredOperationName info);
  bool holdSubgraphs(const Node &node, onnx::SubgraphHolder op);
  bool holdSubgraph(const Node &node, const Subgraph &graph, onnx::SubgraphHolder op, unsigned number);
  mlir::Operation *create(onnx::Node &target, const Node &node);
  void alias(onnx::Node &target, mlir::RegisteredOperationName info, const Node &node);
  void take(const onnx::Node &target, const Node &node);
  std::string nodeText(llvm::StringRef message);

  // These make outputs.
  bool finish();
  void compareDeclared(unsigned number, mlir::DictionaryAttr declared, mlir::Operation *maker);
  std::optional<int64_t> sequenceCodeOf(mlir::DictionaryAttr declared, Sequence &s);
  void optionalUses();

  mlir::func::FuncOp function;
  mlir::MLIRContext *context;
  llvm::DenseMap<Value, Value> values;
  llvm::DenseMap<Value, Sequence> sequences;
  llvm::DenseSet<Value> missing;  ///< values that could not be made, for which a problem has been reported
  int64_t unrolledIterations = 0; ///< iterations of loops over sequences that were written out
  const Node *current = nullptr;  ///< the node that is being resolved, which problems of its code belong to
};

/// Resolves nodes of an operator: binds their outputs, or adds a problem.
using Rule = std::function<void(Resolver &, const Node &)>;
/// Returns the rule of an operator that gives a sequence; `make` returns nothing after a problem.
Rule givesSequence(std::optional<Sequence> (*make)(Resolver &, const Node &));
/// Returns the rule of an operator that makes a tensor of a sequence, its first input.
Rule givesTensor(mlir::Value (*make)(Resolver &, const Node &, const Sequence &));

/// The rules, by operator.
class Rules {
public:
  template <typename Op> void add(Rule rule) { rules[mlir::TypeID::get<Op>()] = std::move(rule); }
  /// Adds a rule for nodes of which an input is a sequence. It comes before the operator's other one, and the operator
  /// need not have another.
  template <typename Op> void addOfSequences(Rule rule) { ofSequences[mlir::TypeID::get<Op>()] = std::move(rule); }

  /// Returns the rule for nodes of an operator; null: there is none.
  const Rule *find(mlir::TypeID op, bool takesSequence) const;

private:
  llvm::DenseMap<mlir::TypeID, Rule> rules, ofSequences;
};

/// Returns a number that is known and that a tensor of one element holds.
std::optional<int64_t> numberOf(mlir::Value v);

} // namespace ingot::graph
