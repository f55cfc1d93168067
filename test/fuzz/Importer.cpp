// Bytes of a model file through the importer and graph::resolve: a module that verifies or problems that say something,
// and nothing else.
#include "compiler/graph/Resolve.h"
#include "compiler/importer/Import.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "test/fuzz/Fuzz.h"

using namespace ingot;
using namespace ingot::fuzz;

/// A context is costly to make, and what it has uniqued stays in it: one serves many executions.
static mlir::MLIRContext &contextFor(unsigned execution) {
  static std::unique_ptr<mlir::MLIRContext> context;
  if (!context || execution % 2000 == 0) {
    context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
    context->getDiagEngine().registerHandler([](mlir::Diagnostic &) { return mlir::success(); });
  }
  return *context;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static MemoryFile file;
  static unsigned execution = 0;
  file.write({reinterpret_cast<const char *>(data), size});
  support::Problems problems("m.onnx");
  std::optional<importer::ImportedModel> model =
      importer::importModel(contextFor(execution++), file.path(), {}, problems);
  if (model && failed(mlir::verify(*model->module))) {
    finding("the importer made a module that does not verify");
  }
  if (model && failed(graph::resolve(*model->module->getOps<mlir::func::FuncOp>().begin(), problems))) {
    model.reset();
  }
  if (!model && llvm::StringRef(problems.text()).trim().empty()) {
    finding("the model was refused without a reason");
  }
  if (model && (!problems.empty() || failed(mlir::verify(*model->module)))) {
    finding("the model was accepted with problems: " + problems.text());
  }
  return 0;
}
