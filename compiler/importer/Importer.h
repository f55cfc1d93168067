// Makes ops of a flat graph (Import.cpp); inputs and outputs are in Interface.cpp.
#pragma once
#include "compiler/importer/Import.h"
#include "compiler/importer/Types.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/expanded/Node.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::importer {

class Importer {
public:
  Importer(mlir::MLIRContext &context, ModelFile &file, const Graph &graph, Problems &problems)
      : context(&context), builder(&context), file(file), graph(graph), problems(&problems) {}

  mlir::OwningOpRef<mlir::ModuleOp> run(const ImportOptions &options);

private:
  using Value = mlir::Value;
  using Location = mlir::Location;

  // These make inputs and outputs.
  mlir::func::FuncOp arguments(mlir::ModuleOp module, const ImportOptions &options);
  void gather(mlir::func::FuncOp function, llvm::ArrayRef<Spread> inputs);
  void bounds(mlir::func::FuncOp function, const ImportOptions &options);
  void finish(mlir::func::FuncOp function, const ImportOptions &options);
  mlir::DictionaryAttr declaration(const pb::ValueInfoProto &output, bool comparesShape);

  // These make values.
  void initializers(const pb::GraphProto &proto, llvm::ArrayRef<std::string> names);
  void initializer(const std::string &name, llvm::Expected<TensorData> data);
  Value value(const std::string &name);

  // These make nodes.
  struct Inputs {
    llvm::SmallVector<Value> values;
    llvm::SmallVector<llvm::StringRef> names; ///< the names of these and of those that are left out
    llvm::SmallVector<std::string> problems = {};
  };
  void node(const Node &node);
  void constantNode(const Node &node);
  Inputs inputsOf(const Node &node);
  mlir::NamedAttrList attributes(const Node &node, Inputs &inputs);
  int32_t namedTensors(const NodeAttribute &attribute, Inputs &inputs);
  mlir::DictionaryAttr describe(const Subgraph &graph);
  void fill(const Subgraph &graph, mlir::Region &region);
  void takeResults(const Node &node, onnx::NodeOp op);
  onnx::NodeOp make(const Where &where, llvm::StringRef domain, const Inputs &inputs, mlir::TypeRange results,
                    mlir::NamedAttrList given = {}, const Node *node = nullptr);
  Location locationOf(llvm::StringRef name) { return mlir::NameLoc::get(builder.getStringAttr(name)); }
  /// The operator as it was written stands behind the name, for messages of later phases.
  Location locationOf(const Where &where) {
    return mlir::NameLoc::get(builder.getStringAttr(where.node), locationOf(where.opText()));
  }

  mlir::MLIRContext *context;
  mlir::OpBuilder builder;
  ModelFile &file;
  const Graph &graph;
  Problems *problems;
  llvm::StringMap<Value> values;
  struct Map {
    Value keys, values;
  };
  llvm::StringMap<Map> maps;                   ///< inputs that are maps
  llvm::StringMap<mlir::Attribute> keysOfMaps; ///< the keys of maps that ZipMap makes
  struct Weight {
    mlir::ElementsAttr elements; ///< null: what is wrong with it is a problem of the nodes that read it
    Where where = {};
    std::string problem = {};
  };
  llvm::StringMap<Weight> weights;      ///< initializers that no node has used yet
  const Node *current = nullptr;        ///< the node whose subgraph is being filled
  mlir::Operation *outermost = nullptr; ///< the op in the function's block that is being filled
};

} // namespace ingot::importer
