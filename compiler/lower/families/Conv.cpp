// Convolutions. Blocked to blocked by Winograd's algorithm where that is faster, else by DenseConv, as is row-major to
// blocked, with weights packed at compile time; all others row-major.
#include "compiler/lower/DenseConv.h"
#include "compiler/lower/PlainConv.h"
#include "compiler/lower/StemConv.h"
#include "compiler/lower/Winograd.h"
#include "compiler/onnx/Onnx.h"

using namespace mlir;

namespace ingot::lower {

namespace {

class Conv : public KernelFamily {
  enum class Form { Plain, Stem, Blocked };

  static Form formOf(plan::KernelOp kernel) {
    bool x = static_cast<bool>(plan::blockedOf(rootOf(kernel)->getOperand(0).getType()));
    bool y = static_cast<bool>(plan::blockedOf(kernel.getResult(0).getType()));
    return !y ? Form::Plain : x ? Form::Blocked : Form::Stem;
  }

public:
  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    switch (formOf(kernel)) {
    case Form::Plain:
      return plainConvShape(kernel, machine);
    case Form::Stem:
      return stemConvShape(kernel, machine);
    case Form::Blocked:
      break;
    }
    std::optional<WinogradSchedule> winograd = winogradOf(kernel, machine);
    return winograd ? winogradShape(kernel, *winograd) : denseConvShape(kernel, machine);
  }

  LogicalResult build(Build &build, const KernelShape &shape) const override {
    switch (formOf(build.group.kernel)) {
    case Form::Plain:
      buildPlainConv(build, shape);
      break;
    case Form::Stem:
      buildStemConv(build);
      break;
    case Form::Blocked:
      if (auto winograd = winogradOf(build.group.kernel, build.w.machine)) {
        buildWinograd(build, *winograd);
      } else {
        buildDenseConv(build);
      }
      break;
    }
    return success();
  }
};

} // namespace

std::unique_ptr<KernelFamily> createConvFamily() { return std::make_unique<Conv>(); }

} // namespace ingot::lower
