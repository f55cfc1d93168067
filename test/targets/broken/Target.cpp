// A target with a bug, to see what the compiler makes of one: `broken:triple` has a machine that nobody can generate
// code for, so that a phase fails; `broken:crash` crashes when it is asked.
#include "compiler/target/Target.h"
#include <csignal>

using namespace ingot::target;
using llvm::StringRef;

namespace {

class BrokenTarget final : public Target {
public:
  StringRef name() const override { return "broken"; }
  std::vector<Level> levels() const override { return {}; }
  bool accepts(StringRef spec) const override { return spec == "broken:triple" || spec == "broken:crash"; }

  llvm::Expected<MachineModel> machine(StringRef spec) const override {
    MachineModel machine;
    machine.spec = spec.str();
    machine.triple = "pdp11-dec-unix";
    machine.lanes = 1;
    machine.matmulTile = {4, 1};
    return machine;
  }

  std::string refuses(mlir::Operation *, const MachineModel &machine) const override {
    if (machine.spec == "broken:crash") {
      raise(SIGSEGV);
    }
    return "";
  }
};

} // namespace

namespace ingot::targets::broken {
std::unique_ptr<Target> create() { return std::make_unique<BrokenTarget>(); }
} // namespace ingot::targets::broken
