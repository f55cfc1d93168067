// The builder of the IR: see Import.cpp; nodes with subgraphs are in ControlFlow.cpp, optional
// values in Optional.cpp.
#pragma once
#include "compiler/importer/Import.h"
#include "compiler/importer/Types.h"
#include "compiler/onnx/Onnx.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::importer {

/// Whether a node of that name has subgraphs that the importer makes regions of.
bool isControl(llvm::StringRef domain, llvm::StringRef op);

/// Whether a node of that name is about optional values.
bool isOptional(llvm::StringRef domain, llvm::StringRef op);

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
  void constantNode(const Node &node, Location loc);
  bool operands(const Node &node, onnx::Node &target);
  bool attributes(const Node &node, onnx::Node &target);
  mlir::Operation *create(onnx::Node &target, const Node &node);
  void form(onnx::Node &target, mlir::RegisteredOperationName info, const Node &node);
  bool knownAttributes(onnx::Node &target, mlir::RegisteredOperationName info, const Node &node);
  bool arity(onnx::Node &target, mlir::RegisteredOperationName info, const Node &node);
  Value value(const std::string &name);
  std::string nodeText(const Node *node, llvm::StringRef message);
  void finish(mlir::func::FuncOp function);
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
  static bool mayBeAbsent(Value v);
  void optionalUses(mlir::func::FuncOp function);

  // Nodes with subgraphs. Those that make ops return null once a problem has been added.
  using Values = llvm::SmallVector<Value>;
  struct Scan;
  void control(const Node &node);
  Values makeIf(const Node &node);
  void branch(const Subgraph &graph, mlir::Block &block, Problems &found);
  void forgetValuesOf(mlir::Block &block);
  Values makeLoop(const Node &node);
  Values makeScan(const Node &node);
  Values makeFlexAttention(const Node &node);
  Value modified(const Node &node, llvm::StringRef name, Value v);
  bool scanAttributes(const Node &node, Scan &scan);
  Values scanBatches(Scan &scan, llvm::ArrayRef<Value> inputs);
  Values scanOnce(Scan &scan, llvm::ArrayRef<Value> initial, llvm::ArrayRef<Value> inputs);
  Values loop(const Node &node, Value trips, Value condition, llvm::ArrayRef<Value> initial, unsigned results,
              int numberRank, llvm::function_ref<Values(mlir::Block &)> body);
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
  llvm::StringMap<mlir::ElementsAttr> weights; ///< initializers that no node has used yet
  const Node *current = nullptr;               ///< whose code runs: what it reports is about it
  mlir::Operation *outermost = nullptr;        ///< the op in the function's block that is being filled
};

} // namespace ingot::importer
