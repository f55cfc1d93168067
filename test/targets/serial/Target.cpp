// A target with a kernel family of its own: this host, but sums and products along an axis go through one line after
// the other, in three loops over scalars. The compiler's family of the same op takes vectors of neighbouring lines.
#include "compiler/target/Target.h"
#include "compiler/lower/Family.h"
#include "compiler/lower/core/Vectors.h"
#include "compiler/onnx/ops/Reduce.h"
#include "compiler/onnx/sizes/Shapes.h"

using namespace mlir;

namespace ingot::targets::serial {
namespace {

class SerialRunning final : public lower::KernelFamily {
public:
  SerialRunning() { stem = "SerialRunning"; }

  SmallVector<TypeID> roots() const override { return rootsOf<onnx::CumulativeOp>(); }
  bool fusesEpilogue(Operation *) const override { return false; }

  lower::KernelShape shape(plan::KernelOp, const target::MachineModel &) const override { return {}; }

  LogicalResult build(lower::Build &build, const lower::KernelShape &) const override {
    lower::Writer &w = build.w;
    auto op = cast<onnx::CumulativeOp>(build.group.root);
    lower::Buffer x = build.group.buffer(op.getX()), y = build.group.result();
    lower::Combine how = op.getKind() == "Prod" ? lower::Combine::Mul : lower::Combine::Add;
    support::Sizes sizes = onnx::sizesOf(onnx::ranked(op.getX()));
    auto axis = static_cast<size_t>(op.getAxis());
    lower::Ix before = product(ArrayRef(sizes).take_front(axis)), extent = sizes[axis],
              behind = product(ArrayRef(sizes).drop_front(axis + 1));
    w.loop(0, before, 1, [&](lower::Ix outer) {
      w.loop(0, behind, 1, [&](lower::Ix inner) {
        Value none = neutral(w, how, lower::valueType(x.element));
        w.loop(0, extent, 1, none, [&](lower::Ix i, ValueRange carried) {
          lower::Ix place = op.getReverse() ? extent - 1 - i : i;
          lower::Ix at = (outer * extent + place) * behind + inner;
          Value all = combine(w, how, carried[0], w.load(x, at));
          w.store(op.getExclusive() ? carried[0] : all, y, at);
          return SmallVector<Value>{all};
        });
      });
    });
    return success();
  }
};

class SerialTarget final : public target::Target {
public:
  StringRef name() const override { return "serial"; }
  std::vector<target::Level> levels() const override {
    return {{"serial", "this host, with running sums of its own, for tests"}};
  }
  bool accepts(StringRef spec) const override { return spec == "serial"; }

  llvm::Expected<target::MachineModel> machine(StringRef spec) const override {
    llvm::Expected<target::MachineModel> host = target::resolveMachine("native");
    if (host) {
      host->spec = spec.str();
    }
    return host;
  }

  std::string refuses(Operation *op, const target::MachineModel &machine) const override { return ""; }

  const lower::KernelFamily *family(Operation *op, const target::MachineModel &machine) const override {
    return isa_and_nonnull<onnx::CumulativeOp>(op) ? &running : nullptr;
  }

private:
  SerialRunning running;
};

} // namespace

std::unique_ptr<target::Target> create() { return std::make_unique<SerialTarget>(); }

} // namespace ingot::targets::serial
