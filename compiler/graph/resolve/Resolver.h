// Resolves nodes (Resolve.cpp). Nodes with subgraphs are in ControlFlow.cpp and Scan.cpp, optional values in
// Optional.cpp, sequences in Sequences.cpp, and outputs in Outputs.cpp.
#pragma once
#include "compiler/graph/resolve/Node.h"
#include "compiler/graph/resolve/Sequence.h"
#include "compiler/onnx/interfaces/Expansion.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::graph {

class Resolver {
public:
  Resolver(mlir::func::FuncOp function, Problems &problems)
      : function(function), context(function.getContext()), builder(context), problems(&problems) {}

  mlir::LogicalResult run();

private:
  using Value = mlir::Value;
  using Location = mlir::Location;
  using Values = llvm::SmallVector<Value>;
  using ResolvedValues = llvm::SmallVector<ResolvedValue>;

  void all(mlir::Block &block);
  void node(const Node &node);
  bool isMade(const Node &node) const;
  bool readsMissing(const Node &node) const;
  void markMissing(const Node &node, bool isReported);
  bool arity(onnx::Node &target, mlir::RegisteredOperationName info, const Node &node);
  bool knownAttributes(onnx::Node &target, mlir::RegisteredOperationName info, const Node &node);
  bool knownSubgraphs(const Node &node, mlir::RegisteredOperationName info);
  mlir::Operation *create(onnx::Node &target, const Node &node);
  void alias(onnx::Node &target, mlir::RegisteredOperationName info, const Node &node);
  void take(const onnx::Node &target, const Node &node);
  std::string nodeText(llvm::StringRef message);

  // These tell and set what the values of nodes stand for.
  /// Returns the tensor; null if what should have made it failed, or if it is a sequence.
  Value value(Value written) const;
  ResolvedValue resolvedValue(Value written) const;
  void bind(Value written, const ResolvedValue &resolved);
  bool isSequence(Value written) const { return written && sequences.contains(written); }
  std::optional<Values> inputsOf(const Node &node);
  bool areTensors(const Node &node, llvm::ArrayRef<Value> inputs);

  // These make outputs.
  bool finish();
  void compareDeclared(unsigned number, mlir::DictionaryAttr declared, mlir::Operation *maker);
  std::optional<int64_t> outputForm(mlir::DictionaryAttr declared, Sequence &s);

  // These resolve optional values.
  void optional(const Node &node);
  Value elementOf(const Node &node, Value from);
  Value hasElement(const Node &node, Value from);
  Value truth(Location loc, bool v); ///< a boolean constant of rank 0
  static bool mayBeAbsent(Value v);
  void optionalUses();

  // These resolve sequences.
  bool takesSequence(const Node &node) const;
  bool names(const Node &node, size_t index);
  void sequence(const Node &node);
  struct Place;
  std::optional<Place> placeIn(const Node &node, size_t index, const Sequence &s, bool behind);
  std::optional<Sequence> sequenceIn(const Node &node);
  std::optional<Sequence> listedSequence(const Node &node);
  std::optional<Sequence> changedSequence(const Node &node);
  std::optional<Sequence> forwardedSequence(const Node &node);
  std::optional<llvm::SmallVector<int64_t>> partsOf(const Node &node, Value x, int64_t axis);
  std::optional<Sequence> splitSequence(const Node &node);
  Value elementAt(const Node &node, const Sequence &s);
  void concatenate(const Node &node, const Sequence &s);
  std::optional<Values> inputsOfIteration(const Node &node, int64_t iteration);
  bool mayUnroll(const Node &node);
  void mapSequence(const Node &node);
  void sequenceLoop(const Node &node);
  bool unrolledLoop(const Node &node, const Subgraph &body, int64_t trips);
  bool unrollIteration(const Node &node, const Subgraph &body, int64_t iteration, ResolvedValues &state,
                       llvm::MutableArrayRef<Values> slices);
  // These make loops that remain loops in the model.
  void packedLoop(const Node &node, const Subgraph &body, Value trips, Value condition);
  void packedMap(const Node &node, const Subgraph &body);
  struct Iteration;
  ResolvedValue packedAs(const Node &node, ResolvedValue resolved, int64_t rank, bool mixes, bool isOptional);
  std::optional<ResolvedValues>
  carryPacked(const Node &node, Value trips, Value condition, const ResolvedValues &initial, unsigned scans,
              int numberRank, llvm::function_ref<std::optional<Iteration>(mlir::Block &, ResolvedValues)> body);

  // These resolve nodes with subgraphs. Those that make ops return null once a problem has been added.
  struct Scan;
  void control(const Node &node);
  void makeIf(const Node &node);
  mlir::Operation *ifOp(const Node &node, Value condition, unsigned results, mlir::Operation *before = nullptr);
  std::optional<ResolvedValues> branch(const Subgraph &graph, mlir::Block &block, Problems &reported);
  bool unifyBranches(const Node &node, ResolvedValue (&both)[2], mlir::Block *(&blocks)[2]);
  void takeResults(const Node &node, mlir::ValueRange results, llvm::ArrayRef<ResolvedValue> form);
  Values makeLoop(const Node &node);
  Values makeScan(const Node &node);
  bool holdSubgraphs(const Node &node, onnx::SubgraphHolder op);
  bool holdSubgraph(const Node &node, const Subgraph &graph, onnx::SubgraphHolder op, unsigned number);
  bool scanAttributes(const Node &node, Scan &scan);
  Values scanBatches(Scan &scan, llvm::ArrayRef<Value> inputs);
  Values scanOnce(Scan &scan, llvm::ArrayRef<Value> initial, llvm::ArrayRef<Value> inputs);
  Values loop(const Node &node, Value trips, Value condition, llvm::ArrayRef<Value> initial, unsigned results,
              int numberRank, llvm::function_ref<Values(mlir::Block &)> body);
  std::optional<ResolvedValues> contents(const Subgraph &graph);
  std::optional<Values> subgraph(const Subgraph &graph, llvm::ArrayRef<Value> inputs);
  const Subgraph *subgraphOf(const Node &node, llvm::StringRef attribute, int inputs);
  bool finishControl(const Node &node, mlir::Operation *op);

  mlir::func::FuncOp function;
  mlir::MLIRContext *context;
  mlir::OpBuilder builder;
  Problems *problems;
  llvm::DenseMap<Value, Value> values;
  llvm::DenseMap<Value, Sequence> sequences;
  llvm::DenseSet<Value> missing;  ///< values that could not be made, for which a problem has been reported
  int64_t unrolledIterations = 0; ///< iterations of loops over sequences that were written out
  const Node *current = nullptr;  ///< the node that is being resolved, which problems of its code belong to
};

} // namespace ingot::graph
