// A target of its own in a few lines: this host without vectors. `scalar` takes every op; `scalar:Relu+Add` takes only
// those, so that a model can be cut into pieces for two targets. `scalar@elsewhere` is a machine that this host is not.
//
// This file is all there is to a target: a folder below targets/ (or below test/, as here) with create(). Nothing else
// names it.
#include "compiler/target/Target.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

using namespace ingot::target;
using llvm::StringRef;

namespace {

class ScalarTarget final : public Target {
public:
  StringRef name() const override { return "scalar"; }

  std::vector<Level> levels() const override { return {{"scalar", "this host without vectors, for tests"}}; }

  bool accepts(StringRef spec) const override {
    return spec == "scalar" || spec == "scalar@elsewhere" || spec.starts_with("scalar:");
  }

  std::string hostLacks(const MachineModel &machine) const override {
    return StringRef(machine.spec).ends_with("@elsewhere") ? "being elsewhere" : "";
  }

  llvm::Expected<MachineModel> machine(StringRef spec) const override {
    if (spec == "scalar:") {
      return llvm::createStringError("target 'scalar:' names no op; write scalar:Relu+Add");
    }
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    MachineModel machine;
    machine.spec = spec.str();
    machine.triple = llvm::sys::getDefaultTargetTriple();
    machine.cpu = "generic";
    machine.lanes = 1;
    machine.fusedMultiplyAdd = false;
    machine.matmulTile = {4, 1};
    return machine;
  }

  std::string refuses(mlir::Operation *op, const MachineModel &machine) const override {
    auto [self, list] = StringRef(machine.spec).split(':');
    llvm::SmallVector<StringRef> claimed;
    list.split(claimed, '+');
    StringRef opName = op->getName().stripDialect();
    if (list.empty() || llvm::is_contained(claimed, opName)) {
      return "";
    }
    return "only " + list.str() + " here, not " + opName.str();
  }
};

} // namespace

namespace ingot::targets::scalar {
std::unique_ptr<Target> create() { return std::make_unique<ScalarTarget>(); }
} // namespace ingot::targets::scalar
