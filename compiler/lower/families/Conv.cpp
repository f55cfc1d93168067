// Convolutions. Blocked to blocked in matrix registers or by Winograd's algorithm where that is faster, else by
// DenseConv, as is row-major to blocked, with weights packed at compile time; blocked to row-major by SumConv where
// output channels are few; row-major by RowConv where all channels are few, and all others.
#include "compiler/onnx/ops/Conv.h"
#include "compiler/lower/conv/DenseConv.h"
#include "compiler/lower/conv/PlainConv.h"
#include "compiler/lower/conv/RowConv.h"
#include "compiler/lower/conv/StemConv.h"
#include "compiler/lower/conv/SumConv.h"
#include "compiler/lower/conv/TileConv.h"
#include "compiler/lower/conv/Winograd.h"
#include "compiler/onnx/Onnx.h"

using namespace mlir;

namespace ingot::lower {

namespace {

class Conv : public ConvFamily {
  enum class Form { Plain, Stem, Sums, Blocked };

  static Form formOf(plan::KernelOp kernel) {
    bool x = static_cast<bool>(plan::blockedOf(kernel.root()->getOperand(0).getType()));
    bool y = static_cast<bool>(plan::blockedOf(kernel.getResult(0).getType()));
    return x ? (y ? Form::Blocked : Form::Sums) : (y ? Form::Stem : Form::Plain);
  }

  /// Whether a value comes from the caller, who gives row-major.
  static bool isModelInput(Value v) {
    auto argument = dyn_cast<BlockArgument>(v);
    Operation *parent = argument ? argument.getOwner()->getParentOp() : nullptr;
    if (parent && argument.getArgNumber() < parent->getNumOperands()) {
      return isModelInput(parent->getOperand(argument.getArgNumber()));
    }
    return argument != nullptr;
  }

  static std::optional<WinogradSchedule> winograd(plan::KernelOp kernel, const target::MachineModel &machine) {
    return skipsPadding(kernel.root()).empty() ? winogradOf(kernel, machine) : std::nullopt;
  }

  /// Not of images as they were given: what is left behind a mean that is subtracted may be the rounding (fns-candy).
  static std::optional<TileConv> tiles(plan::KernelOp kernel, const target::MachineModel &machine) {
    Splitting splitting = splittingOf(kernel, machine);
    if (!splitting.parts || formOf(kernel) != Form::Blocked || !skipsPadding(kernel.root()).empty() ||
        !constantOperand(kernel, kernel.root()->getOperand(1))) {
      return std::nullopt;
    }
    if (splitting.always) {
      return tileConvOf(kernel, machine, std::numeric_limits<double>::infinity(), splitting.parts);
    }
    constexpr double longer = 1.2; // on a machine with tiles than is estimated
    std::optional<WinogradSchedule> other = winograd(kernel, machine);
    return tileConvOf(kernel, machine, other ? std::optional(longer * other->cycles) : std::nullopt, splitting.parts);
  }

public:
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::ConvOp>(); }
  bool isFor(Operation *root) const override { return !isDepthwise(root); }
  LayoutRule layoutRule(Operation *root, const target::MachineModel &machine) const override {
    if (isRowConv(root, machine)) {
      return LayoutRule::Plain;
    }
    if (isSumConv(root, machine)) {
      return LayoutRule::BlockedToPlain;
    }
    LayoutRule rule = ConvFamily::layoutRule(root, machine);
    auto conv = cast<onnx::ConvOp>(root);
    int64_t channels = onnx::ranked(conv.getX()).getDimSize(1);
    bool few = channels <= 4 || (channels < machine.blockLanes() && isModelInput(conv.getX()));
    return rule == LayoutRule::Blocked && conv.getGroup() == 1 && few ? LayoutRule::PlainToBlocked : rule;
  }

  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    if (std::optional<TileConv> schedule = tiles(kernel, machine)) {
      return tileConvShape(kernel, *schedule);
    }
    switch (formOf(kernel)) {
    case Form::Plain:
      return isRowConv(kernel.root(), machine) ? rowConvShape(kernel) : plainConvShape(kernel, machine);
    case Form::Stem:
      return stemConvShape(kernel, machine);
    case Form::Sums:
      return sumConvShape(kernel, machine);
    case Form::Blocked:
      break;
    }
    std::optional<WinogradSchedule> schedule = winograd(kernel, machine);
    return schedule ? winogradShape(kernel, *schedule) : denseConvShape(kernel, machine);
  }

  std::vector<target::Schedule> schedules(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    switch (formOf(kernel)) {
    case Form::Plain:
    case Form::Sums:
      return {};
    case Form::Stem:
      return stemConvSchedules(kernel, machine);
    case Form::Blocked:
      break;
    }
    bool mayBeWinograd = skipsPadding(kernel.root()).empty();
    std::vector<target::Schedule> all =
        mayBeWinograd ? winogradSchedules(kernel, machine) : std::vector<target::Schedule>();
    mayBeWinograd = !all.empty();
    if (mayBeWinograd) {
      std::optional<WinogradSchedule> chosen = winograd(kernel, machine);
      target::Schedule same = {{"winograd", chosen ? chosen->outputs() : 0}};
      all.insert(all.begin(), {{"winograd", 0}});
      llvm::erase(all, same);
    }
    for (target::Schedule &direct : denseConvSchedules(kernel, machine)) {
      if (mayBeWinograd) {
        direct.set("winograd", 0);
      }
      all.push_back(std::move(direct));
    }
    return all;
  }

  LogicalResult build(Build &build, const KernelShape &shape) const override {
    if (std::optional<TileConv> schedule = tiles(build.group.kernel, build.w.machine)) {
      buildTileConv(build, *schedule);
      return success();
    }
    switch (formOf(build.group.kernel)) {
    case Form::Plain:
      if (isRowConv(build.group.root, build.w.machine)) {
        buildRowConv(build);
      } else {
        buildPlainConv(build, shape);
      }
      break;
    case Form::Stem:
      buildStemConv(build);
      break;
    case Form::Sums:
      buildSumConv(build);
      break;
    case Form::Blocked:
      if (auto schedule = winograd(build.group.kernel, build.w.machine)) {
        buildWinograd(build, *schedule);
      } else {
        buildDenseConv(build);
      }
      break;
    }
    return success();
  }

  std::optional<RowShape> rowShape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    std::optional<RowShape> shape = denseRowShape(kernel, machine);
    if (!shape) {
      return shape;
    }
    if (auto schedule = tiles(kernel, machine)) {
      shape->alone = schedule->cycles;
    } else if (auto schedule = winograd(kernel, machine)) {
      shape->alone = schedule->cycles;
    }
    return shape;
  }
  void buildRows(Build &build, const Rows &rows) const override { buildDenseRows(build, rows); }
};

} // namespace

std::unique_ptr<KernelFamily> createConvFamily() { return std::make_unique<Conv>(); }

} // namespace ingot::lower
