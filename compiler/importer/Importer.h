// The builder of the IR: see Import.cpp; nodes with subgraphs are in ControlFlow.cpp, optional
// values in Optional.cpp, sequences in Sequences.cpp.
#pragma once
#include "compiler/importer/Import.h"
#include "compiler/importer/Sequence.h"
#include "compiler/importer/Types.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/interfaces/Expansion.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::importer {

/// The rank of a tensor of one element, 0 or 1, that a subgraph declares.
int rankOf(const pb::ValueInfoProto &value);

class Importer {
public:
  Importer(mlir::MLIRContext &context, ModelFile &file, const Graph &graph, Problems &problems)
      : context(&context), builder(&context), file(file), graph(graph), problems(&problems) {}

  mlir::OwningOpRef<mlir::ModuleOp> run(const ImportOptions &options);

private:
  void bounds(mlir::func::FuncOp function, const ImportOptions &options);
  using Value = mlir::Value;
  using Location = mlir::Location;

  void initializers(const pb::GraphProto &proto, llvm::ArrayRef<std::string> names);
  void initializer(const std::string &name, llvm::Expected<TensorData> data);
  void all(llvm::ArrayRef<Node> nodes);
  void node(const Node &node);
  bool isMade(const Node &node) const;
  bool readsMissing(const Node &node) const;
  void lose(const Node &node, bool isReported);
  void constantNode(const Node &node, Location loc);
  bool operands(const Node &node, onnx::Node &target);
  bool attributes(const Node &node, onnx::Node &target, mlir::RegisteredOperationName info);
  bool namedTensors(const Node &node, onnx::Node &target, llvm::ArrayRef<llvm::StringLiteral> attributes);
  mlir::Operation *create(onnx::Node &target, const Node &node);
  void form(onnx::Node &target, mlir::RegisteredOperationName info, const Node &node);
  void take(const onnx::Node &target, const Node &node);
  bool knownAttributes(onnx::Node &target, mlir::RegisteredOperationName info, const Node &node);
  bool arity(onnx::Node &target, mlir::RegisteredOperationName info, const Node &node);
  Value value(const std::string &name);
  std::string nodeText(const Node *node, llvm::StringRef message);
  bool finish(mlir::func::FuncOp function, const ImportOptions &options);
  void compareDeclared(mlir::func::FuncOp function, unsigned number, const pb::ValueInfoProto &output,
                       const ImportOptions &options);
  std::optional<int64_t> outputForm(const pb::ValueInfoProto &output, Sequence &s);
  void problem(const Where &where, llvm::Error error, const llvm::Twine &prefix = "") {
    problems->add(where, prefix + llvm::toString(std::move(error)));
  }
  Location locationOf(llvm::StringRef name) { return mlir::NameLoc::get(builder.getStringAttr(name)); }
  /// The operator as it was written stands behind the name, for messages of later phases.
  Location locationOf(const Node &node) {
    return mlir::NameLoc::get(builder.getStringAttr(node.name), locationOf(node.where().opText()));
  }

  // Optional values.
  void optional(const Node &node);
  Value elementOf(const Node &node, Value from);
  Value hasElement(const Node &node, Value from);
  Value truth(Location loc, bool v); ///< a boolean constant of rank 0
  static bool mayBeAbsent(Value v);
  void optionalUses(mlir::func::FuncOp function);

  // Sequences.
  using Values = llvm::SmallVector<Value>;
  using Givens = llvm::SmallVector<Given>;
  void gather(mlir::func::FuncOp function, llvm::ArrayRef<Spread> inputs);

  // Maps.
  bool mayTake(const Node &node, const std::string &input);
  bool takeRows(const Node &node, const onnx::Node &target);
  bool takesSequence(const Node &node) const;
  bool names(const Node &node, size_t index);
  void sequence(const Node &node);
  struct Place;
  std::optional<Place> placeIn(const Node &node, size_t index, const Sequence &s, bool behind);
  std::optional<Sequence> sequenceIn(const Node &node);
  std::optional<Sequence> listedSequence(const Node &node);
  std::optional<Sequence> changedSequence(const Node &node);
  std::optional<Sequence> handedSequence(const Node &node);
  std::optional<llvm::SmallVector<int64_t>> partsOf(const Node &node, Value x, int64_t axis);
  std::optional<Sequence> splitSequence(const Node &node);
  Value elementAt(const Node &node, const Sequence &s);
  void concatenate(const Node &node, const Sequence &s);
  std::optional<Values> turnOf(const Node &node, int64_t turn);
  bool mayTurn(const Node &node);
  void mapSequence(const Node &node);
  bool hand(llvm::StringRef from, llvm::StringRef to);
  void sequenceLoop(const Node &node);
  bool unrolledLoop(const Node &node, const Subgraph &body, int64_t trips);
  bool oneTurn(const Node &node, const Subgraph &body, int64_t turn, llvm::MutableArrayRef<Values> slices);
  // Loops that a run turns.
  void packedLoop(const Node &node, const Subgraph &body, Value trips, Value condition);
  void packedMap(const Node &node, const Subgraph &body);
  Given givenBy(llvm::StringRef name);
  void bind(llvm::StringRef name, const Given &given);
  struct Turn;
  Given inForm(const Node &node, Given given, int64_t rank, bool mixes, bool isOptional);
  std::optional<Givens> carry(const Node &node, Value trips, Value condition, const Givens &initial, unsigned scans,
                              int numberRank, llvm::function_ref<std::optional<Turn>(mlir::Block &, Givens)> body);

  // Nodes with subgraphs. Those that make ops return null once a problem has been added.
  struct Scan;
  void control(const Node &node);
  void makeIf(const Node &node);
  mlir::Operation *ifOp(const Node &node, Value condition, unsigned results, mlir::Operation *before = nullptr);
  std::optional<Givens> branch(const Subgraph &graph, mlir::Block &block, Problems &found);
  bool unite(const Node &node, Given (&both)[2], mlir::Block *(&blocks)[2]);
  void takeResults(const Node &node, mlir::ValueRange results, llvm::ArrayRef<Given> like);
  void forgetValuesOf(mlir::Block &block);
  void giveUp(mlir::Operation *op);
  Values makeLoop(const Node &node);
  Values makeScan(const Node &node);
  bool holdSubgraphs(const Node &node, onnx::SubgraphHolder op);
  bool holdSubgraph(const Node &node, const Subgraph &graph, onnx::SubgraphHolder op, unsigned number);
  bool scanAttributes(const Node &node, Scan &scan);
  Values scanBatches(Scan &scan, llvm::ArrayRef<Value> inputs);
  Values scanOnce(Scan &scan, llvm::ArrayRef<Value> initial, llvm::ArrayRef<Value> inputs);
  Values loop(const Node &node, Value trips, Value condition, llvm::ArrayRef<Value> initial, unsigned results,
              int numberRank, llvm::function_ref<Values(mlir::Block &)> body);
  std::optional<Givens> contents(const Subgraph &graph);
  std::optional<Values> subgraph(const Subgraph &graph, llvm::ArrayRef<Value> inputs);
  std::optional<Values> inputsOf(const Node &node);
  bool areTensors(const Node &node, llvm::ArrayRef<Value> inputs);
  const Subgraph *subgraphOf(const Node &node, llvm::StringRef attribute, int inputs);
  bool finishControl(const Node &node, mlir::Operation *op);

  mlir::MLIRContext *context;
  mlir::OpBuilder builder;
  ModelFile &file;
  const Graph &graph;
  Problems *problems;
  llvm::StringMap<Value> values;
  llvm::StringSet<> missing; ///< values that could not be made, which has been reported
  llvm::StringMap<Sequence> sequences;
  struct Map {
    Value keys, values;
  };
  llvm::StringMap<Map> maps; ///< inputs that are maps
  struct Rows {
    Value values;
    mlir::Attribute keys;
  };
  llvm::StringMap<Rows> rowsOfMaps; ///< what ZipMap makes
  int64_t turns = 0;                ///< of loops over sequences, which are written one behind the other
  struct Weight {
    mlir::ElementsAttr elements; ///< null: what is wrong with it is a problem of those that read it
    Where where = {};
    std::string problem = {};
  };
  llvm::StringMap<Weight> weights;      ///< initializers that no node has used yet
  const Node *current = nullptr;        ///< whose code runs: what it reports is about it
  mlir::Operation *outermost = nullptr; ///< the op in the function's block that is being filled
};

/// How many results ops of this name have; none: as many as the node names.
std::optional<unsigned> resultCount(mlir::RegisteredOperationName info);

} // namespace ingot::importer
