// A device inside of this process, with a memory of its own. `loopback` takes every op, `loopback:Conv+Relu` only those
// that are named; `loopback@2` and `loopback@2:Conv` are another device of the same kind.
#include "compiler/target/Target.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

using namespace ingot::target;
using llvm::StringRef;

namespace {

class LoopbackTarget final : public Target {
public:
  StringRef name() const override { return "loopback"; }

  std::vector<Level> levels() const override { return {{"loopback", "a device with a memory of its own, for tests"}}; }

  bool accepts(StringRef spec) const override {
    return spec.consume_front("loopback") && (spec.empty() || spec.starts_with("@2") || spec.starts_with(":"));
  }

  llvm::Expected<MachineModel> machine(StringRef spec) const override {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    MachineModel machine;
    machine.spec = spec.str();
    machine.triple = llvm::sys::getDefaultTargetTriple();
    machine.cpu = "generic";
    machine.lanes = 4;
    machine.fusedMultiplyAdd = false;
    machine.matmulTile = {4, 2};
    machine.hasOwnMemory = true;
    return machine;
  }

  std::string refuses(mlir::Operation *op, const MachineModel &machine) const override {
    StringRef list = StringRef(machine.spec).split(':').second;
    llvm::SmallVector<StringRef> claimed;
    list.split(claimed, '+');
    StringRef opName = op->getName().stripDialect();
    return list.empty() || llvm::is_contained(claimed, opName) ? ""
                                                               : "only " + list.str() + " here, not " + opName.str();
  }
};

} // namespace

namespace ingot::targets::loopback {
std::unique_ptr<Target> create() { return std::make_unique<LoopbackTarget>(); }
} // namespace ingot::targets::loopback
