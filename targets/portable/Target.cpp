// Any processor, through C++ source (--emit cpp): no instruction that some lack, sizes of caches as small processors
// have them. It has no machine code: what becomes of the source is up to the compiler behind it, which also makes of
// vectors of a length what its processor has.
#include "compiler/target/SpecTable.h"

using namespace ingot::target;
using llvm::StringRef;

namespace {

/// `matmulTile` leaves a vector for the broadcast and one for the product.
struct Row {
  const char *spec, *sentence;
  bool vectorTypes;
  int64_t lanes;
  MachineModel::Tile matmulTile;
};

constexpr Row rows[] = {
    {"portable", "any processor, as C++ source (--emit cpp); compilers make vectors of its loops", false, 8, {4, 2}},
    {"portable-scalar", "the same for processors without vectors", false, 1, {4, 4}},
    {"portable-128", "the same in vectors of 128 bits, as g++ and clang have them: SSE, NEON", true, 4, {4, 2}},
    {"portable-256", "the same in vectors of 256 bits", true, 8, {6, 2}},
};

class PortableTarget final : public Target {
public:
  StringRef name() const override { return "portable"; }

  std::vector<Level> levels() const override { return levelsOf(rows); }

  bool accepts(StringRef spec) const override { return spec.starts_with("portable"); }

  llvm::Expected<MachineModel> machine(StringRef spec) const override {
    const Row *row = llvm::find_if(rows, [&](const Row &each) { return spec == each.spec; });
    if (row == std::end(rows)) {
      return llvm::createStringError("unknown kind '" + spec + "'; use portable, portable-scalar, portable-128 or " +
                                     "portable-256");
    }
    MachineModel machine;
    machine.spec = spec.str();
    machine.machineCode = false;
    machine.vectorTypes = row->vectorTypes;
    machine.lanes = row->lanes;
    machine.fusedMultiplyAdd = false;
    machine.matmulTile = row->matmulTile;
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
