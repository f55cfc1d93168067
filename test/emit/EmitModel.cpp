// emit-model FILE.mlir DIR SPEC KINDS: what the pipeline does after its last phase, on loop IR written by hand. The
// model is described by the module's attribute
//   ingot.model = {name = "m", inputs = [["x", 1, [4, 2]]], outputs = [...], nodes = ["n"], workspace = 64,
//                  weights = 128, symbols = [["batch", 8]]}
// with ONNX's type numbers; dims may be texts of sizes, then workspace is -1 (symbols may be absent). Byte i of the
// weights is (i * 37 + 11) mod 256.
#include "compiler/emit/Emit.h"
#include "compiler/plan/Run.h"
#include "compiler/target/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace ingot;

static std::vector<plan::TensorInfo> tensors(Attribute list) {
  std::vector<plan::TensorInfo> all;
  for (auto item : cast<ArrayAttr>(list).getAsRange<ArrayAttr>()) {
    plan::TensorInfo tensor;
    tensor.name = cast<StringAttr>(item[0]).str();
    tensor.type = cast<IntegerAttr>(item[1]).getInt();
    tensor.bytes = tensor.type == 1 ? 4 : 1;
    for (Attribute dim : cast<ArrayAttr>(item[2])) {
      auto text = dyn_cast<StringAttr>(dim);
      tensor.dims.push_back(text ? *support::Size::parse(text) : support::Size(cast<IntegerAttr>(dim).getInt()));
      tensor.bytes = tensor.bytes * tensor.dims.back();
    }
    all.push_back(tensor);
  }
  return all;
}

static plan::ModelInfo describe(DictionaryAttr description, const target::MachineModel &machine) {
  plan::ModelInfo model;
  model.name = description.getAs<StringAttr>("name").str();
  model.target = machine.spec;
  model.inputs = tensors(description.get("inputs"));
  model.outputs = tensors(description.get("outputs"));
  model.workspaceBytes = description.getAs<IntegerAttr>("workspace").getInt();
  model.weightBytes = description.getAs<IntegerAttr>("weights").getInt();
  if (auto symbols = description.getAs<ArrayAttr>("symbols")) {
    for (auto symbol : symbols.getAsRange<ArrayAttr>()) {
      plan::SymbolInfo info;
      info.name = cast<StringAttr>(symbol[0]).str();
      info.most = cast<IntegerAttr>(symbol[1]).getInt();
      model.symbols.push_back(info);
    }
  }
  for (auto name : description.getAs<ArrayAttr>("nodes").getAsRange<StringAttr>()) {
    model.nodes.push_back(name.str());
  }
  return model;
}

static void makeWeights(int64_t count, const emit::WeightsSink &sink) {
  std::vector<char> bytes;
  for (int64_t i = 0; i < count; ++i) {
    bytes.push_back(char(i * 37 + 11));
    if (bytes.size() == 1000 || i + 1 == count) {
      sink(bytes);
      bytes.clear();
    }
  }
}

int main(int argc, char **argv) {
  if (argc != 5) {
    llvm::errs() << "usage: emit-model FILE.mlir DIR SPEC KINDS\n";
    return 1;
  }
  DialectRegistry registry;
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect, math::MathDialect,
                  memref::MemRefDialect, run::RunDialect, scf::SCFDialect, vector::VectorDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects();
  context.loadDialect<DLTIDialect, LLVM::LLVMDialect>(); // as it is when a model gets here
  auto machine = target::resolveMachine(argv[3]);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(argv[1], &context);
  if (!machine || !module) {
    llvm::errs() << llvm::toString(machine.takeError()) << "\n";
    return 1;
  }
  auto description = module->getOperation()->getAttrOfType<DictionaryAttr>("ingot.model");
  plan::ModelInfo model = describe(description, *machine);
  module->getOperation()->removeAttr("ingot.model");
  emit::Options options;
  options.dir = argv[2];
  options.kinds.clear();
  SmallVector<StringRef> kinds;
  StringRef(argv[4]).split(kinds, ',');
  for (StringRef kind : kinds) {
    options.kinds.push_back(*support::valueOf<emit::Kind>(kind));
  }
  options.depfile = true;
  options.dependencies = {"a model.onnx"};
  emit::Result result;
  auto weights = [&](const emit::WeightsSink &sink) { makeWeights(model.weightBytes, sink); };
  if (failed(emit::emitModel(*module, *machine, model, weights, options, result))) {
    return 1;
  }
  llvm::outs() << "code " << (result.sizes.code > 0 ? "yes" : "no") << "\n";
  for (const emit::Artifact &artifact : result.artifacts) {
    llvm::outs() << artifact.path << " " << (artifact.bytes > 0 ? "written" : "empty") << "\n";
  }
  return 0;
}
