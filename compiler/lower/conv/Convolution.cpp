#include "compiler/lower/conv/Convolution.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/elements/Window.h"
#include "compiler/onnx/formats/Convolutions.h"
#include "compiler/onnx/ops/Conv.h"
#include "compiler/onnx/quantization/Quantization.h"
#include "compiler/onnx/sizes/Shapes.h"
#include <numeric>

using namespace mlir;

namespace ingot::lower {

/// The taps of one axis in the order of input coordinates, which the weights are packed in.
struct AxisTaps {
  ConvAxis axis;
  SmallVector<int64_t> taps;
};

static AxisTaps forwardAxis(const onnx::Window &window, size_t i, const support::Size &in) {
  AxisTaps a;
  a.axis = {static_cast<int>(i) + 2, window.out[i],      0, 1, -window.before[i].number(), window.strides[i],
            window.kernel[i],        window.dilations[i]};
  // Strides may leave the padding unread; where a run determines the size, some leave none of it.
  a.axis.readsBehind = in.isNumber() ? a.axis.inEnd().number() > in.number() : !window.after[i].is(0);
  a.taps.resize(window.kernel[i]);
  std::iota(a.taps.begin(), a.taps.end(), 0);
  return a;
}

/// Outputs residue + q * stride get tap k from input q + (residue + before - k * dilation) / stride where that divides;
/// later taps reach earlier inputs.
static AxisTaps transposedAxis(const onnx::Window &window, size_t i, int64_t residue) {
  int64_t stride = window.strides[i], dilation = window.dilations[i];
  AxisTaps a;
  a.axis = {
      static_cast<int>(i) + 2, floorDiv(window.out[i] + (stride - 1 - residue), stride), residue, stride, 0, 1, 0, 1};
  int64_t last = 0;
  for (int64_t k = window.kernel[i]; k-- > 0;) {
    int64_t at = residue + window.before[i].number() - k * dilation;
    if (at % stride) {
      continue;
    }
    if (a.taps.empty()) {
      a.axis.inStart = at / stride;
    } else {
      a.axis.tapStep = at / stride - last;
    }
    last = at / stride;
    a.taps.push_back(k);
  }
  a.axis.taps = a.taps.size();
  return a;
}

/// Below this many positions in a row the registers are not filled.
static constexpr int64_t shortRow = 8;

/// Whether the last axis is too short to be the inner one. The first sub-convolution decides for all: one input has one
/// order of axes.
static bool hasShortRows(ArrayRef<AxisTaps> axes) {
  support::Size row = axes.back().axis.out;
  return axes.size() > 1 && !(row - shortRow).atLeast(0) && row.isNumber() &&
         (axes[axes.size() - 2].axis.out - row).atLeast(1);
}

static SubConv phaseOf(SmallVector<AxisTaps, 3> axes, ArrayRef<int64_t> kernel, bool swapsAxes) {
  SmallVector<int64_t, 3> steps(axes.size(), 1); // of a tap in the flat kernel
  for (size_t i = axes.size(); i-- > 1;) {
    steps[i - 1] = steps[i] * kernel[i];
  }
  while (axes.size() < 3) {
    axes.insert(axes.begin(), {ConvAxis(), {0}});
    steps.insert(steps.begin(), 0);
  }
  if (swapsAxes) {
    std::swap(axes[1], axes[2]);
    std::swap(steps[1], steps[2]);
  }
  SubConv subConv{{axes[0].axis, axes[1].axis, axes[2].axis}, {}};
  for (int64_t d : axes[0].taps) {
    for (int64_t h : axes[1].taps) {
      for (int64_t w : axes[2].taps) {
        subConv.taps.push_back(d * steps[0] + h * steps[1] + w * steps[2]);
      }
    }
  }
  return subConv;
}

ConvGeometry geometryOf(Operation *op, bool maySwapAxes) {
  auto x = cast<RankedTensorType>(op->getOperand(0).getType()), y = cast<RankedTensorType>(op->getResult(0).getType());
  auto transposed = isa<onnx::ConvTransposeOp>(op);
  support::Sizes sizes = onnx::sizesOf(x);
  ArrayRef<support::Size> spatial = ArrayRef<support::Size>(sizes).drop_front(2);
  support::Sizes kernel = *onnx::kernelOf(op, op->getOperand(1));
  auto group = op->getAttrOfType<IntegerAttr>("group");
  onnx::Window window =
      transposed ? *onnx::transposedWindowOf(op, spatial, kernel) : *onnx::windowOf(op, spatial, kernel);
  ConvGeometry g{sizes[0],
                 x.getDimSize(1),
                 y.getDimSize(1),
                 group ? group.getInt() : 1,
                 onnx::elements(window.kernel),
                 transposed,
                 onnx::elementBytes(onnx::elementOf(op->getOperand(1))),
                 support::Sizes(spatial),
                 {},
                 requestedSchedule(op),
                 isa<formats::Int8ConvOp>(op) && onnx::isInt(onnx::elementOf(op->getOperand(0)), 16),
                 onnx::int16DotsOf(op)};
  std::vector<std::vector<AxisTaps>> choices(spatial.size());
  for (size_t i = 0; i < spatial.size(); ++i) {
    if (!transposed) {
      choices[i].push_back(forwardAxis(window, i, spatial[i]));
      continue;
    }
    // Of a result without elements one: what is asked of a first sub-convolution is answered with none of its pixels.
    int64_t residues = std::clamp<int64_t>(typical(window.out[i], window.strides[i]), 1, window.strides[i]);
    for (int64_t residue = 0; residue < residues; ++residue) {
      choices[i].push_back(transposedAxis(window, i, residue));
    }
  }
  using Combination = SmallVector<AxisTaps, 3>;
  std::vector<Combination> all(1);
  for (const auto &choice : choices) {
    std::vector<Combination> longer;
    for (const Combination &prefix : all) {
      for (const AxisTaps &a : choice) {
        longer.push_back(prefix);
        longer.back().push_back(a);
      }
    }
    all = std::move(longer);
  }
  for (const Combination &axes : all) {
    g.subConvs.push_back(phaseOf(axes, window.kernel, maySwapAxes && hasShortRows(all.front())));
  }
  return g;
}

/// What a symbol in the height or width of an image is taken for, if it may be so large.
static constexpr int64_t typicalExtent = 640;

ConvGeometry typicalOf(ConvGeometry g, const support::Facts &facts) {
  auto symbol = [&](support::Symbol s) -> std::optional<int64_t> {
    int64_t value = typicalExtent;
    for (const support::Size &fact : facts.sizes()) { // most - s
      support::Size most = fact + support::Size(s);
      value = std::min(value, typical(most, value));
    }
    return value;
  };
  auto fix = [&](support::Size &size) { size = std::max<int64_t>(1, size.evaluate(symbol).value_or(typicalExtent)); };
  llvm::for_each(g.spatial, fix);
  for (ConvAxis &axis : g.subConvs[0].axes) {
    fix(axis.out);
  }
  return g;
}

static std::optional<SmallVector<int64_t>> forwardHalo(ArrayRef<support::Size> spatial, const onnx::Window &window) {
  SmallVector<int64_t> halo;
  for (size_t i = 0; i < window.rank(); ++i) {
    const support::Size &in = spatial[i];
    if (in.isUnknown() || !window.before[i].isNumber() || !window.after[i].isNumber()) {
      return std::nullopt;
    }
    int64_t before = window.before[i].number(), after = window.after[i].number();
    if (in.isNumber()) { // strides may leave some of the padding behind unread
      after = (window.out[i].number() - 1) * window.strides[i] + window.reach(i) - before - in.number();
    }
    halo.append({before, std::max<int64_t>(0, after)});
  }
  return halo;
}

/// Output p reads inputs (p + before - k * dilation) / stride: from that of the last tap of output 0 to that of the
/// first tap of the last.
static std::optional<SmallVector<int64_t>> transposedHalo(ArrayRef<support::Size> spatial, const onnx::Window &window) {
  SmallVector<int64_t> halo;
  for (size_t i = 0; i < window.rank(); ++i) {
    int64_t stride = window.strides[i];
    // Of the last output, from the beginning of the last input's taps on.
    support::Size behind = window.out[i] - 1 + window.before[i] - support::Size(stride) * (spatial[i] - 1);
    if (!window.before[i].isNumber() || !behind.isNumber()) {
      return std::nullopt;
    }
    int64_t first = window.before[i].number() - (window.reach(i) - 1);
    halo.append({first < 0 ? (-first + stride - 1) / stride : 0, std::max<int64_t>(0, behind.number() / stride)});
  }
  return halo;
}

std::optional<SmallVector<int64_t>> haloOf(Operation *op) {
  RankedTensorType x = onnx::ranked(op->getOperand(0));
  auto kernel = onnx::kernelOf(op, op->getOperand(1));
  if (!x || !kernel || x.getRank() < 3) {
    return std::nullopt;
  }
  support::Sizes sizes = onnx::sizesOf(x);
  ArrayRef<support::Size> spatial = ArrayRef<support::Size>(sizes).drop_front(2);
  bool transposed = isa<onnx::ConvTransposeOp>(op);
  auto window = transposed ? onnx::transposedWindowOf(op, spatial, *kernel) : onnx::windowOf(op, spatial, *kernel);
  if (failed(window)) {
    return std::nullopt;
  }
  return transposed ? transposedHalo(spatial, *window) : forwardHalo(spatial, *window);
}

std::pair<Ix, Ix> ConvAxis::tapsOf(const Ix &i) const {
  if (!image) {
    return {0, taps};
  }
  // Quotients of numbers that are not negative.
  Ix at = i * inStep + inStart;
  return {min(floorDiv(max(Ix(tapStep - 1) - at, 0), tapStep), taps),
          min(floorDiv(max(Ix(image + tapStep - 1) - at, 0), tapStep), taps)};
}

/// The share of an axis's taps, and of the kernel's, that may read the image where leaving out the others is worth its
/// shorter tiles.
static constexpr double shareOfAxis = 0.75, shareOfKernel = 0.4;

SmallVector<bool> skipsPadding(Operation *op) {
  if (!isa<onnx::ConvOp>(op) || !isPackable(op) || isDepthwise(op)) {
    return {};
  }
  ConvGeometry g = geometryOf(op, /*maySwapAxes=*/false);
  SmallVector<bool> skips;
  double share = 1;
  int64_t pixels = 1, rows = 1;
  for (auto [i, size] : llvm::enumerate(g.spatial)) {
    const ConvAxis &axis = g.subConvs.front().axes[3 - g.spatial.size() + i];
    if (!size.isNumber()) {
      return {};
    }
    ConvAxis bounded = axis;
    bounded.image = size.number();
    int64_t out = axis.out.number(), reached = 0;
    for (int64_t at = 0; at < out; ++at) {
      auto [first, last] = bounded.tapsOf(at);
      reached += std::max<int64_t>(0, last.number() - first.number());
    }
    double shareOfThis = static_cast<double>(reached) / static_cast<double>(std::max<int64_t>(1, out * axis.taps));
    skips.push_back(axis.tapStep > 1 && shareOfThis <= shareOfAxis);
    share *= skips.back() ? shareOfThis : 1;
    pixels *= out, rows *= i + 1 < g.spatial.size() ? out : 1;
  }
  bool worth = share <= shareOfKernel && pixels > flatPixels && rows > 1;
  return worth ? skips : SmallVector<bool>();
}

bool isPackable(Operation *op) {
  Value weights = op->getOperand(1), bias = op->getOperand(2);
  bool constant = onnx::isStatic(weights) && onnx::constantThrough(weights) &&
                  (!onnx::present(bias) || onnx::constantThrough(bias));
  return constant && haloOf(op).has_value();
}

std::string whyOtherLanes(Operation *op, const target::MachineModel &machine) {
  if (machine.blockLanes() == 1 || machine.lanes > machine.blockLanes()) {
    return "a channel block is no vector of the machine";
  }
  if (!isPackable(op)) {
    return "its weights, bias or padding are not constant";
  }
  if (!onnx::elementOf(op->getOperand(0)).isF32()) {
    return "it is not of float32";
  }
  ConvGeometry g = geometryOf(op, /*maySwapAxes=*/false);
  if (!llvm::all_of(g.spatial, [](const support::Size &size) { return size.isNumber(); })) {
    return "the size of its image is open";
  }
  bool isEmpty = llvm::any_of(g.spatial, [](const support::Size &size) { return size.is(0); });
  return isEmpty ? "its image is empty" : g.groups != 1 ? "it has groups" : "";
}

bool isDepthwise(Operation *op) {
  bool forward = isa<onnx::ConvOp, formats::Int8ConvOp>(op);
  auto w = forward ? onnx::ranked(op->getOperand(1)) : RankedTensorType();
  auto group = op->getAttrOfType<IntegerAttr>("group");
  return w && group && group.getInt() > 1 && w.getDimSize(0) == group.getInt() && w.getDimSize(1) == 1 &&
         isPackable(op);
}

bool isFromBlocks(plan::KernelOp kernel) {
  return static_cast<bool>(plan::blockedOf(kernel.root()->getOperand(0).getType()));
}
bool isToBlocks(plan::KernelOp kernel) { return static_cast<bool>(plan::blockedOf(kernel.getResult(0).getType())); }

int64_t paddingOf(Operation *op) {
  auto conv = dyn_cast<formats::Int8ConvOp>(op);
  return conv ? static_cast<int64_t>(conv.getPadding()) : 0;
}

bool hasRows(plan::KernelOp kernel) {
  auto x = cast<RankedTensorType>(kernel.root()->getOperand(0).getType());
  auto y = cast<RankedTensorType>(kernel.getResult(0).getType());
  return operandNumber(kernel.root()->getOperand(0)) >= 0 && isImageOfRows(x) && isImageOfRows(y);
}

RowShape rowShapeOf(const ConvGeometry &g) {
  const ConvAxis &rows = g.subConvs.front().axes[1];
  RowShape shape;
  shape.step = rows.inStep, shape.start = rows.inStart, shape.reach = (rows.taps - 1) * rows.tapStep + 1;
  return shape;
}

std::string ConvFamily::unsupported(Operation *root, const target::MachineModel &machine) const {
  return onnx::whyGathered(root);
}

LayoutRule ConvFamily::layoutRule(Operation *root, const target::MachineModel &machine) const {
  return isPackable(root) && machine.blockLanes() > 1 ? LayoutRule::Blocked : LayoutRule::RowMajor;
}

SmallVector<int64_t> ConvFamily::halo(Operation *root) const {
  SmallVector<int64_t> halo = haloOf(root).value_or(SmallVector<int64_t>());
  for (auto [i, skips] : llvm::enumerate(skipsPadding(root))) {
    if (skips) {
      halo[2 * i] = halo[2 * i + 1] = 0;
    }
  }
  return halo;
}
int64_t ConvFamily::fill(Operation *root) const { return paddingOf(root); }

plan::WeightTable::Recipe paddedRecipe(int64_t count, int64_t elementBytes) {
  return {"padded to " + std::to_string(count), count * elementBytes,
          [](ArrayRef<char> from, MutableArrayRef<char> to) { llvm::copy(from, to.begin()); }};
}

} // namespace ingot::lower
