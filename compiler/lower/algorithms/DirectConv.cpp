// Convolutions from channel blocks to channel blocks with as many multiplications as the standard says, by BlockedConv;
// of narrow floats with sums of float32, of bytes over four input channels at a time. Transposed convolutions are one
// for each residue of the output coordinates modulo the strides. Its cost is what other algorithms have to undercut.
#include "compiler/lower/Algorithm.h"
#include "compiler/lower/conv/BlockedConv.h"
#include "compiler/lower/core/Counts.h"
#include "compiler/lower/product/WeightRate.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/formats/Convolutions.h"
#include "compiler/onnx/ops/Conv.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace ingot::lower {
namespace {

/// Of one tap and an image that stays in the second cache: whether all pixels for a panel read less from there than all
/// panels for a tile of pixels. Weights that stay in the first cache are not read from there.
bool panelsReadLess(const ConvGeometry &g, const BlockedSchedule &s, const target::MachineModel &machine,
                    ScheduleReasons *reasons) {
  if (g.groups > 1) {
    return false;
  }
  const SubConv &subConv = g.subConvs.front();
  int64_t weightBytes = 4 * s.weightElements(g), inputBytes = inputBytesOf(g, s);
  int64_t tiles = subConv.rows().number() * tilesOfRow(subConv.axes[2], s.pixels);
  int64_t byPanel = inputBytes * s.panelCount() + weightBytes, byTile = weightBytes * tiles + inputBytes;
  bool readLess = inputBytes <= machine.l2Bytes / 2 && weightBytes > machine.l1Bytes / 2 && byPanel < byTile;
  if (readLess && reasons) {
    reasons->order =
        llvm::formatv("order=0: {0} from the second cache, order=1 {1}", bytesText(byPanel), bytesText(byTile));
  }
  return readLess;
}

/// Of one tap and at least as many results as inputs: the order in which results are written, and images behind the
/// sums are read, in long runs, where all images of the kernel that are as large as the result do not stay in the
/// second cache. All panels for a tile of pixels would touch a few lines of every channel block at a time: no machine
/// fetches so many streams ahead, or keeps all their pages at hand (64 to 256 channels of 56x56 and a residual sum on
/// Zen 4: 0.5 to 0.8 of the time with AVX2, 0.75 to 0.94 with AVX-512).
void writeLongRuns(const ConvGeometry &g, BlockedSchedule &s, plan::KernelOp kernel,
                   const target::MachineModel &machine, ScheduleReasons *reasons) {
  if (s.channels != BlockedSchedule::Blocks || s.panelCount() == 1) {
    return;
  }
  const SubConv &subConv = g.subConvs.front();
  int64_t inputBytes = inputBytesOf(g, s), pixels = subConv.rows().number() * subConv.axes[2].out.number();
  int64_t resultBytes = s.elementBytes() * g.outChannels * pixels;
  auto isImage = [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getShape() == cast<RankedTensorType>(kernel.getResult(0).getType()).getShape();
  };
  int64_t images = 1 + llvm::count_if(kernel.getBody().getArgumentTypes(), isImage);
  if (resultBytes < inputBytes || images * resultBytes <= machine.l2Bytes / 2) {
    return;
  }
  s.pixelsOuter = false;
  if (reasons) {
    reasons->order = llvm::formatv("order=0: results, and images behind the sums, go by in long runs, since {0} of {1} "
                                   "exceed half of the second cache ({2})",
                                   images, bytesText(resultBytes), bytesText(machine.l2Bytes / 2));
  }
  if (inputBytes > machine.l3Bytes / 2) { // which would be read once for each panel
    int64_t rowTiles = tilesOfRow(subConv.axes[2], s.pixels);
    int64_t tiles = std::max<int64_t>(1, machine.l2Bytes / 2 / (s.elementBytes() * g.inChannels * s.pixels));
    s.partRows = std::clamp<int64_t>(tiles / rowTiles, 1, subConv.rows().number());
    s.partTiles = std::min(tiles, rowTiles);
    if (reasons) {
      reasons->order +=
          "; in parts of the image, which (" + bytesText(inputBytes) + ") exceeds half of the third cache";
    }
  }
}

/// Cuts long panels of weights that a small image meets into K-chunks (WeightRate.h).
void chooseChunks(const ConvGeometry &g, BlockedSchedule &s, const target::MachineModel &machine,
                  ScheduleReasons *reasons) {
  const SubConv &subConv = g.subConvs.front();
  bool isPlain = s.channels == BlockedSchedule::Blocks && !s.isOfBytes() && !s.part && !machine.packing &&
                 g.subConvs.size() == 1 && s.inputs % s.lanes == 0 && knowsPixels(subConv);
  bool skips = llvm::any_of(subConv.axes, [](const ConvAxis &axis) { return axis.image > 0; });
  if (!isPlain || skips) {
    return;
  }
  int64_t pixels = subConv.rows().number() * subConv.axes[2].out.number(), blocks = s.inputs / s.lanes;
  int64_t panelBytes = g.weightBytes * s.weightElements(g) / std::max<int64_t>(1, s.panelCount());
  int64_t part = chunkBytesOfPanel(machine);
  if (pixels > flatPixels || pixels <= s.pixels || 4 * pixels * s.vectors * s.lanes > mostSpilledBytes(machine) ||
      panelBytes < 2 * part || g.weightBytes * s.weightElements(g) <= machine.l2Bytes / 2) {
    return;
  }
  s.chunkBlocks = std::max<int64_t>(1, blocks * part / panelBytes);
  while (blocks % s.chunkBlocks) {
    --s.chunkBlocks;
  }
  s.flat = true;
  if (reasons) {
    reasons->order = llvm::formatv("chunk={0}: {1} pixels meet panels of {2}, which are cut into chunks", s.chunkBlocks,
                                   pixels, bytesText(panelBytes));
  }
}

BlockedSchedule blockedSchedule(const ConvGeometry &g, plan::KernelOp kernel, const target::MachineModel &machine,
                                ScheduleReasons *reasons = nullptr) {
  bool ofBytes = onnx::elementOf(kernel.root()->getOperand(0)).isInteger();
  int64_t lanes = plan::blockedOf(kernel.getResult(0).getType()).getLanes();
  BlockedSchedule s = scheduleOf(g, lanes, /*planes=*/false, machine, ofBytes, reasons);
  if (!s.pixelsOuter && !s.partRows && !g.requested["flat"]) {
    chooseChunks(g, s, machine, reasons);
  }
  if (!s.pixelsOuter || g.requested["order"] || g.kernel > 1 || !knowsPixels(g.subConvs.front())) {
    return s;
  }
  if (panelsReadLess(g, s, machine, reasons)) {
    s.pixelsOuter = false;
  } else {
    writeLongRuns(g, s, kernel, machine, reasons);
  }
  return s;
}

/// The orders of loops for a register tile.
void addOrders(const ConvGeometry &g, target::Schedule tile, std::vector<target::Schedule> &all) {
  const SubConv &subConv = g.subConvs.front();
  if (g.subConvs.size() > 1) {
    all.push_back(tile);
    return;
  }
  auto add = [&](const char *name, int64_t value) {
    all.push_back(tile);
    all.back().set(name, value);
  };
  add("order", 0), add("order", 1);
  if (!knowsPixels(subConv)) {
    return;
  }
  int64_t rows = subConv.rows().number();
  for (int64_t part : {2, 4, 8, 16}) {
    if (rows > 1 ? part < rows : 4 * part * flatPixels < subConv.axes[2].out.number()) {
      add(rows > 1 ? "rows" : "tiles", part);
    }
  }
}

void packOperands(plan::KernelOp kernel, const ConvGeometry &g, const BlockedSchedule &s,
                  const target::MachineModel &machine, std::map<unsigned, plan::WeightTable::Recipe> &packed) {
  Value weights = kernel.root()->getOperand(1), bias = kernel.root()->getOperand(2);
  packed[operandNumber(weights)] = packedWeights(g, s, s.bytes(machine));
  if (onnx::present(bias)) {
    packed[operandNumber(bias)] = paddedRecipe(s.blocks * s.lanes, g.weightBytes);
  }
}

/// Whether a table may ask for the kernel's schedule.
bool hasSchedules(plan::KernelOp kernel, const target::MachineModel &machine) {
  return isa<onnx::ConvOp>(kernel.root()) && !machine.packing;
}

/// The line of a tuning table that asks for this schedule.
target::Schedule requestFor(const ConvGeometry &g, const BlockedSchedule &s) {
  target::Schedule requested = {{"vectors", s.vectors}};
  if (s.chunkBlocks) {
    return requested;
  }
  requested.set("flat", s.flat);
  if (s.partRows) {
    bool areWhole = s.partTiles == tilesOfRow(g.subConvs.front().axes[2], s.pixels);
    areWhole ? requested.set("rows", s.partRows) : requested.set("tiles", s.partTiles);
  } else if (!s.flat && g.subConvs.size() == 1) {
    requested.set("order", s.pixelsOuter);
  }
  return requested;
}

/// Estimates the cycles of the schedule that is chosen. An image whose size only the run knows counts with a typical
/// size.
double expectedCycles(plan::KernelOp kernel, const ConvGeometry &open, const target::MachineModel &machine) {
  // Another machine that reads the same weights goes the same way.
  const target::MachineModel &packing = machine.packing ? *machine.packing : machine;
  ConvGeometry g = typicalOf(open, onnx::factsOf(kernel));
  BlockedSchedule s = blockedSchedule(g, kernel, packing);
  const SubConv &subConv = g.subConvs.front();
  int64_t pixels = subConv.rows().number() * subConv.axes[2].out.number();
  double input = static_cast<double>(s.elementBytes() * g.inChannels * pixels);
  double memory = 4.0 * static_cast<double>(s.weightElements(g)) / weightRateOf(kernel, packing) +
                  input * static_cast<double>(s.pixelsOuter ? 1 : s.panelCount()) / rateOf(input, packing);
  double arithmetic = cyclesOf(g, s, packing) * (s.isOfBytes() ? s.bytes(packing).share() : 1);
  return overlappedCycles(arithmetic, memory) * static_cast<double>(g.subConvs.size());
}

class DirectConv : public Algorithm {
public:
  DirectConv() : Algorithm("direct", /*rank=*/1) {}

  SmallVector<TypeID> roots() const override {
    return rootsOf<onnx::ConvOp, onnx::ConvTransposeOp, formats::Int8ConvOp, formats::Bf16ConvOp>();
  }

  std::optional<LayoutRule> layoutRule(Operation *root, const target::MachineModel &machine) const override {
    return isPackable(root) && machine.blockLanes() > 1 ? std::optional(LayoutRule::Blocked) : std::nullopt;
  }

  Offer offer(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    if (!isFromBlocks(kernel) || !isToBlocks(kernel)) {
      return "its images are not in channel blocks";
    }
    BlockedKernel conv = BlockedKernel::of(kernel);
    const ConvGeometry &g = conv.g;
    BlockedSchedule s = blockedSchedule(g, kernel, machine);
    auto shape = [kernel, conv, s, &machine] {
      KernelShape shape;
      shape.items = BlockedConv::items(conv.g, s);
      packOperands(kernel, conv.g, s, machine, shape.packed);
      shape.build = [conv, s](Build &build) {
        BlockedConv(build, conv.g, s, conv.input(build), conv.result(build)).run();
      };
      return shape;
    };
    Candidate candidate{name, expectedCycles(kernel, g, machine)};
    (hasSchedules(kernel, machine) ? candidate.schedule : candidate.numbers) = requestFor(g, s);
    for (auto [number, value] : {std::pair("chunk", s.chunkBlocks), {"part", s.part}}) {
      if (value) {
        candidate.numbers.set(number, value);
      }
    }
    candidate.shape = shape;
    candidate.whySchedule = [kernel, conv, &machine] {
      ScheduleReasons reasons;
      blockedSchedule(conv.g, kernel, machine, &reasons);
      return reasons.text();
    };
    return candidate;
  }

  std::vector<target::Schedule> schedules(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    if (!hasSchedules(kernel, machine) || !isFromBlocks(kernel) || !isToBlocks(kernel)) {
      return {};
    }
    ConvGeometry g = BlockedKernel::of(kernel).g;
    BlockedSchedule s = blockedSchedule(g, kernel, machine);
    std::vector<target::Schedule> all;
    for (int64_t vectors : {2, 1, 3, 4}) {
      if (vectors > s.blocks || (vectors > 2 && pixelsFor(s, vectors, machine) < 3)) {
        continue;
      }
      addOrders(g, {{"vectors", vectors}, {"flat", 0}}, all);
      if (mayBeFlat(g, s)) {
        all.push_back({{"vectors", vectors}, {"flat", 1}});
      }
    }
    llvm::erase_if(all, [&](const target::Schedule &requested) {
      g.requested = requested;
      return blockedSchedule(g, kernel, machine) == s;
    });
    return all;
  }

  std::optional<RowShape> rowShape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    Operation *root = kernel.root();
    if (!isa<onnx::ConvOp>(root) || !hasRows(kernel) || !skipsPadding(root).empty()) {
      return std::nullopt;
    }
    ConvGeometry whole = BlockedKernel::of(kernel).g, g = geometryOf(root, /*maySwapAxes=*/false);
    BlockedSchedule s = rowScheduleOf(g, plan::blockedOf(kernel.getResult(0).getType()).getLanes(), machine);
    RowShape shape = rowShapeOf(g);
    shape.weightBytes = 4 * s.weightElements(g);
    // Both ways read the weights once from afar, as the estimates of other algorithms count it.
    double weights = static_cast<double>(shape.weightBytes) / weightRateOf(kernel, machine);
    shape.cycles = overlappedCycles(cyclesOf(g, s, machine), weights);
    shape.alone = overlappedCycles(cyclesOf(whole, blockedSchedule(whole, kernel, machine), machine), weights);
    packOperands(kernel, g, s, machine, shape.packed);
    shape.build = [=](Build &build, const Rows &rows) {
      Space space = build.group.space(build.group.resultType());
      BlockedConv(build, g, s, blockedInput(build, g), std::move(space)).rows(rows.image, 0, rows.from, rows.to);
    };
    return shape;
  }
};

} // namespace

std::unique_ptr<Algorithm> createDirectConvAlgorithm() { return std::make_unique<DirectConv>(); }

} // namespace ingot::lower
