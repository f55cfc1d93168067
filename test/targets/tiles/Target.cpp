// This host with AMX, which it need not have: test/amx executes its instructions. `tiles` is the host with its own
// features besides, `tiles:CPU` a CPU that the host is like. With `tiles!` every kernel that can be in tiles is.
#include "compiler/target/Target.h"

namespace ingot::targets::tiles {
namespace {

class TilesTarget final : public target::Target {
public:
  llvm::StringRef name() const override { return "tiles"; }
  std::vector<target::Level> levels() const override { return {{"tiles", "this host, with AMX, for tests"}}; }
  bool accepts(llvm::StringRef spec) const override {
    return spec == "tiles" || spec == "tiles!" || spec.starts_with("tiles:");
  }

  llvm::Expected<target::MachineModel> machine(llvm::StringRef spec) const override {
    llvm::StringRef like = spec.starts_with("tiles:") ? spec.drop_front(name().size() + 1) : "native";
    llvm::Expected<target::MachineModel> host = target::resolveMachine(like);
    llvm::Expected<target::MachineModel> sapphire = target::resolveMachine("sapphirerapids");
    if (!host || !sapphire) {
      return host ? std::move(sapphire) : std::move(host);
    }
    host->spec = spec.str();
    host->level = 0;
    host->features += ",+amx-tile,+amx-int8,+amx-bf16";
    host->tiles = sapphire->tiles;
    constexpr auto first = static_cast<size_t>(target::Instruction::TileConfigure);
    std::copy(sapphire->intrinsics.begin() + first, sapphire->intrinsics.end(), host->intrinsics.begin() + first);
    if (spec.ends_with("!")) {
      host->tiles.startCycles = -std::numeric_limits<double>::infinity();
    }
    return host;
  }
  std::string refuses(mlir::Operation *, const target::MachineModel &) const override { return ""; }
};

} // namespace

std::unique_ptr<target::Target> create() { return std::make_unique<TilesTarget>(); }
} // namespace ingot::targets::tiles
