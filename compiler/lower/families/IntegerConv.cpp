// Convolutions of unsigned by signed bytes with sums of int32, from channel blocks, or a row-major image of few
// channels (StemConv), to channel blocks: in matrix registers where the machine has some, by Winograd's algorithm where
// that is faster, else by DenseConv over quads of input channels. Where there are no blocks, PlainIntegerConv.
#include "compiler/lower/LowerKernels.h"
#include "compiler/lower/conv/DenseConv.h"
#include "compiler/lower/conv/PlainConv.h"
#include "compiler/lower/conv/StemConv.h"
#include "compiler/lower/conv/TileConv.h"
#include "compiler/lower/conv/Winograd.h"
#include "compiler/onnx/ops/Conv.h"

using namespace mlir;

namespace ingot::lower {
namespace {

class IntegerConv : public TileConvFamily {
  static bool blocked(plan::KernelOp kernel) {
    return static_cast<bool>(plan::blockedOf(kernel.getResult(0).getType()));
  }

  /// Winograd's algorithm, where that is to be; else tiles, where they are faster.
  struct Form {
    bool ofPlanes = false;
    std::optional<WinogradSchedule> winograd;
    std::optional<TileConv> tiles;
  };
  static Form formOf(plan::KernelOp kernel, const target::MachineModel &machine) {
    Form form;
    form.ofPlanes = !plan::blockedOf(kernel.root()->getOperand(0).getType());
    if (form.ofPlanes) {
      if (isTileStem(kernel.root(), machine)) {
        form.tiles = tileConvOf(kernel, machine, std::nullopt);
      }
      return form;
    }
    form.winograd = winogradOf(kernel, machine);
    auto said = kernel->getParentOfType<ModuleOp>()->getAttrOfType<StringAttr>(winogradName);
    bool isWanted = form.winograd && said && (said.getValue() == "2" || said.getValue() == "4");
    if (!isWanted) {
      form.tiles = tileConvOf(kernel, machine, form.winograd ? std::optional(form.winograd->cycles) : std::nullopt);
    }
    return form;
  }

public:
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::IntegerConvOp>(); }
  bool isFor(Operation *root) const override { return !isDepthwise(root); }

  LayoutRule layoutRule(Operation *root, const target::MachineModel &machine) const override {
    LayoutRule rule = TileConvFamily::layoutRule(root, machine);
    return rule == LayoutRule::Blocked && isByteStem(root, machine) ? LayoutRule::PlainToBlocked : rule;
  }

  void mark(plan::KernelOp kernel) const override { markExactOutputs(kernel); }

  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    if (!blocked(kernel)) {
      return plainIntegerConvShape(kernel);
    }
    Form form = formOf(kernel, machine);
    return form.tiles      ? tileConvShape(kernel, *form.tiles)
           : form.winograd ? winogradShape(kernel, *form.winograd)
           : form.ofPlanes ? stemConvShape(kernel, machine)
                           : denseConvShape(kernel, machine);
  }

  LogicalResult build(Build &build, const KernelShape &) const override {
    if (!blocked(build.group.kernel)) {
      buildPlainIntegerConv(build);
      return success();
    }
    Form form = formOf(build.group.kernel, build.w.machine);
    if (form.tiles) {
      buildTileConv(build, *form.tiles);
    } else if (form.winograd) {
      buildWinograd(build, *form.winograd);
    } else if (form.ofPlanes) {
      buildStemConv(build);
    } else {
      buildDenseConv(build);
    }
    return success();
  }
};

} // namespace

std::unique_ptr<KernelFamily> createIntegerConvFamily() { return std::make_unique<IntegerConv>(); }

} // namespace ingot::lower
