// Any processor, through C++ source (--emit cpp): no vectors, no instruction that some lack, sizes of caches as small
// processors have them. It has no machine code: what becomes of the source is up to the compiler behind it.
#include "compiler/target/Target.h"

using namespace ingot::target;
using llvm::StringRef;

namespace {

class PortableTarget final : public Target {
public:
  StringRef name() const override { return "portable"; }

  std::vector<Level> levels() const override { return {{"portable", "any processor, as C++ source (--emit cpp)"}}; }

  bool accepts(StringRef spec) const override { return spec == "portable"; }

  llvm::Expected<MachineModel> machine(StringRef spec) const override {
    MachineModel machine;
    machine.spec = spec.str();
    machine.machineCode = false;
    machine.lanes = 1;
    machine.fusedMultiplyAdd = false;
    machine.matmulTile = {4, 4};
    machine.l1Bytes = 32 << 10;
    machine.l2Bytes = 256 << 10;
    machine.l3Bytes = 2 << 20;
    return machine;
  }

  std::string refuses(mlir::Operation *op, const MachineModel &machine) const override { return ""; }
};

} // namespace

namespace ingot::targets::portable {
std::unique_ptr<Target> create() { return std::make_unique<PortableTarget>(); }
} // namespace ingot::targets::portable
