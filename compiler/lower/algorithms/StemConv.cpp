// A first convolution: reads the caller's row-major image, of few channels, and writes channel blocks.
//
// The rows that a few output rows read are copied into scratch with what lies around them: channel by channel, as
// float32, or bytes pixel by pixel; without padding an image of float32 is read in place. The multiplication is that of
// BlockedConv, with a plane for each channel, or with a word of four bytes for each pixel.
#include "compiler/lower/Algorithm.h"
#include "compiler/lower/conv/BlockedConv.h"
#include "compiler/lower/conv/InterleavedRows.h"
#include "compiler/lower/core/CopyElements.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/formats/Convolutions.h"
#include "compiler/onnx/ops/Conv.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ingot::lower {
namespace {

using support::Size;

/// Of rows and columns of an image whose size the run determines.
constexpr int64_t typicalExtent = 256;

struct Stem {
  ConvGeometry g;
  BlockedSchedule s;
  bool ofBytes = false;
  bool copied = false; ///< the rows that it reads
  int64_t height = 1;  ///< output rows of a piece, at most
  int64_t reach = 1;   ///< input slices of a piece
  int64_t count = 0;   ///< of pieces of a slice, as equal as can be; 0: only the run determines how many

  int64_t inRows() const { return (height - 1) * axis(1).inStep + (axis(1).taps - 1) * axis(1).tapStep + 1; }
  Size inColumns() const { return axis(2).inEnd() - axis(2).inStart; }
  Size plane() const { return inColumns() * (reach * inRows()); }
  int64_t perPixel() const { return ofBytes ? 1 : g.inChannels; } ///< words of 4 bytes
  Size words() const { return 16 * ceilDiv(plane() * perPixel(), 16) + (ofBytes ? InterleavedRows::slack : 0); }
  Size segments() const { return count ? Size(count) : ceilDiv(axis(1).out, height); }
  /// The first row of a piece; of the one behind the last all of them, or more.
  Ix firstRow(Ix segment) const { return count ? floorDiv(segment * axis(1).out, count) : segment * height; }
  const ConvAxis &axis(size_t i) const { return g.subConvs[0].axes[i]; }
  Size inSize(size_t i) const { return axis(i).dim < 0 ? Size(1) : g.spatial[axis(i).dim - 2]; }
};

/// Returns as many pieces as fill the cache, or a multiple of a few of them where they do not become too low: a last
/// piece that is shorter, or an odd number of them, would leave threads without work.
int64_t countOf(int64_t rows, int64_t height) {
  constexpr int64_t leastHeight = 4;
  int64_t needed = llvm::divideCeil(rows, height);
  for (int64_t multiple : {8, 4, 2}) {
    int64_t count = llvm::alignTo(std::max<int64_t>(1, needed), multiple);
    if (count * leastHeight <= rows) {
      return count;
    }
  }
  return needed;
}

/// Returns how the kernel goes over its image. `reasons`, if any, are told why its tiles are as they are.
Stem stemOf(plan::KernelOp kernel, const target::MachineModel &machine, ScheduleReasons *reasons = nullptr) {
  Stem stem;
  stem.g = geometryOf(kernel.root(), /*maySwapAxes=*/false);
  auto y = cast<RankedTensorType>(kernel.getResult(0).getType());
  Type element = onnx::elementOf(kernel.root()->getOperand(0));
  int64_t lanes = plan::stridesOf(y).lanes;
  stem.ofBytes = element.isInteger();
  stem.copied = stem.ofBytes || onnx::isNarrowFloat(element);
  stem.s = stem.ofBytes ? rowScheduleOf(stem.g, lanes, machine, /*ofBytes=*/true, reasons)
                        : scheduleOf(stem.g, lanes, /*planes=*/true, machine, /*ofBytes=*/false, reasons);
  for (size_t i = 0; i < 3; ++i) {
    stem.copied |= stem.axis(i).inStart < 0 || stem.axis(i).readsBehind;
  }
  stem.reach = (stem.axis(0).taps - 1) * stem.axis(0).tapStep + 1;
  while (stem.height < typical(stem.axis(1).out, typicalExtent)) {
    ++stem.height;
    int64_t words = stem.perPixel() * stem.reach * stem.inRows() * typical(stem.inColumns(), typicalExtent);
    if (4 * words > machine.tuning.stemBytes && stem.height > 4) {
      --stem.height;
      break;
    }
  }
  std::optional<int64_t> requested = stem.g.requested["height"];
  stem.height = requested.value_or(stem.height);
  if (const Size &rows = stem.axis(1).out; rows.isNumber() && !rows.is(0)) {
    stem.count = requested ? llvm::divideCeil(rows.number(), *requested) : countOf(rows.number(), stem.height);
    stem.height = llvm::divideCeil(rows.number(), stem.count);
  }
  return stem;
}

/// Fills a piece: slices, rows and columns from where the first output of it reads on.
void copySegment(Build &build, const Stem &stem, Buffer segment, Ix n, Ix slice, Ix row) {
  Writer &w = build.w;
  Buffer x = build.group.buffer(build.group.root->getOperand(0));
  Ix depth = stem.inSize(0), height = stem.inSize(1), width = stem.inSize(2), columns = stem.inColumns();
  int64_t before = std::max<int64_t>(0, -stem.axis(2).inStart), first = std::max<int64_t>(0, stem.axis(2).inStart);
  Ix count = max(0, min(width - first, columns - before));
  auto within = [&](Ix i, Ix size) {
    // Unsigned: a negative coordinate is a large one.
    return w.compare(arith::CmpIPredicate::ult, i, size);
  };
  w.loop(0, stem.g.inChannels, 1, [&](Ix c) {
    w.loop(0, stem.reach, 1, [&](Ix d) {
      w.loop(0, stem.inRows(), 1, [&](Ix r) {
        Ix z = slice + d, y = row + r, to = ((c * stem.reach + d) * stem.inRows() + r) * columns;
        Value inside = arith::AndIOp::create(w.b, w.loc, within(z, depth), within(y, height));
        w.ifThen(inside, [&] {
          fillZeros(w, segment, to, before);
          copyElements(w, x, ((n * stem.g.inChannels + c) * depth + z) * (height * width) + y * width + first, segment,
                       to + before, count);
          fillZeros(w, segment, to + (before + count), columns - before - count);
        });
        Value outside = arith::XOrIOp::create(w.b, w.loc, inside, w.constant(1, w.b.getI1Type()));
        w.ifThen(outside, [&] { fillZeros(w, segment, to, columns); });
      });
    });
  });
}

/// Whether a convolution of bytes reads its image so, of four channels at most.
bool isByteStem(Operation *root, const target::MachineModel &machine) {
  if (machine.packing || !InterleavedRows::canBeReadBy(root, machine.lanes)) {
    return false;
  }
  ConvGeometry g = geometryOf(root, /*maySwapAxes=*/false);
  bool isEmpty = llvm::any_of(g.subConvs.front().axes, [](const ConvAxis &a) { return !a.out.atLeast(1); });
  return !isEmpty && scheduleOf(g, machine.lanes, /*planes=*/false, machine, /*ofBytes=*/true).stepChannels ==
                         InterleavedRows::channels;
}

/// Whether a value comes from the caller, who gives row-major.
bool isModelInput(Value v) {
  auto argument = dyn_cast<BlockArgument>(v);
  Operation *parent = argument ? argument.getOwner()->getParentOp() : nullptr;
  if (parent && argument.getArgNumber() < parent->getNumOperands()) {
    return isModelInput(parent->getOperand(argument.getArgNumber()));
  }
  return argument != nullptr;
}

/// Whether a convolution of floats does.
bool isStem(onnx::ConvOp conv, const target::MachineModel &machine) {
  int64_t channels = onnx::ranked(conv.getX()).getDimSize(1);
  bool areFew = channels <= 4 || (channels < machine.blockLanes() && isModelInput(conv.getX()));
  return areFew && conv.getGroup() == 1;
}

void buildStem(Build &build, const Stem &stem);

KernelShape shapeOf(plan::KernelOp kernel, const Stem &stem, const target::MachineModel &machine) {
  KernelShape shape;
  shape.items = BlockedConv::items(stem.g, stem.s);
  if (stem.copied) {
    shape.items = stem.g.batch * stem.axis(0).out * stem.segments();
    shape.scratchBytes = shape.items * 4 * stem.words();
  }
  Operation *root = kernel.root();
  shape.packed[operandNumber(root->getOperand(1))] = packedWeights(stem.g, stem.s, stem.s.bytes(machine));
  shape.build = [stem](Build &build) { buildStem(build, stem); };
  if (onnx::present(root->getOperand(2))) {
    shape.packed[operandNumber(root->getOperand(2))] = paddedRecipe(stem.s.blocks * stem.s.lanes, stem.g.weightBytes);
  }
  return shape;
}

std::vector<target::Schedule> schedulesOf(const Stem &stem) {
  std::vector<target::Schedule> all;
  for (int64_t vectors = 1; vectors <= std::min<int64_t>(3, stem.s.blocks); ++vectors) {
    if (vectors != stem.s.vectors) {
      all.push_back({{"vectors", vectors}});
    }
  }
  for (int64_t height : {1, 2, 4, 8, 16}) {
    if (stem.copied && height < typical(stem.axis(1).out, typicalExtent)) {
      all.push_back({{"height", height}});
    }
  }
  return all;
}

void buildStem(Build &build, const Stem &stem) {
  Writer &w = build.w;
  Space space = build.group.space(build.group.resultType());
  plan::Strides in = plan::stridesOf(Group::typeOf(build.group.root->getOperand(0)));
  if (!stem.copied) {
    Access input{{0, {in.strides[0], in.strides[1]}}, build.group.buffer(build.group.root->getOperand(0)), 1};
    for (size_t i = 0; i < 3; ++i) {
      input.strides.push_back(stem.axis(i).dim < 0 ? Ix(0) : in.strides[stem.axis(i).dim]);
    }
    BlockedConv(build, stem.g, stem.s, input, space).run();
    return;
  }
  w.loop(build.begin, build.end, 1, [&](Ix item) {
    Size bytes = 4 * stem.words();
    Type element = stem.ofBytes ? onnx::elementOf(build.group.root->getOperand(0)) : w.b.getF32Type();
    Buffer rows = w.scratch(build.scratch, item * bytes, element, memoryExtent(stem.ofBytes ? bytes : stem.words()));
    Ix segment = remainder(item, stem.segments()), rest = floorDiv(item, stem.segments());
    Ix from = stem.firstRow(segment), to = min(stem.firstRow(segment + 1), stem.axis(1).out);
    Ix outer = remainder(rest, stem.axis(0).out), n = floorDiv(rest, stem.axis(0).out);
    Ix slice = outer * stem.axis(0).inStep + stem.axis(0).inStart,
       row = from * stem.axis(1).inStep + stem.axis(1).inStart;
    Ix columns = stem.inColumns(), high = stem.inRows();
    Ix offset = Ix(0) - slice * (high * columns) - row * columns - stem.axis(2).inStart;
    Access input{{offset, {0, stem.plane(), high * columns, columns, 1}}, rows, 1};
    if (stem.ofBytes) {
      InterleavedRows(build, stem.g).copy(n, row, high, 1, columns, columns, rows);
      input.offset = input.offset * InterleavedRows::channels;
      for (Ix &stride : input.strides) {
        stride = stride * InterleavedRows::channels;
      }
    } else {
      copySegment(build, stem, rows, n, slice, row);
    }
    BlockedConv(build, stem.g, stem.s, input, space).rows(n, outer, from, to);
  });
}

class StemConv : public Algorithm {
public:
  StemConv() : Algorithm("stem", /*rank=*/2) {}

  SmallVector<TypeID> roots() const override { return rootsOf<onnx::ConvOp, formats::Int8ConvOp>(); }

  std::optional<LayoutRule> layoutRule(Operation *root, const target::MachineModel &machine) const override {
    if (!isPackable(root) || machine.blockLanes() == 1) {
      return std::nullopt;
    }
    auto conv = dyn_cast<onnx::ConvOp>(root);
    bool isFirst = conv ? isStem(conv, machine) : isByteStem(root, machine);
    return isFirst ? std::optional(LayoutRule::RowMajorToBlocked) : std::nullopt;
  }

  Offer offer(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    if (isFromBlocks(kernel) || !isToBlocks(kernel)) {
      return "it is not from a row-major image to channel blocks";
    }
    Stem stem = stemOf(kernel, machine);
    double cycles = cyclesOf(stem.g, stem.s, machine) * (stem.ofBytes ? stem.s.bytes(machine).share() : 1);
    Candidate candidate{name, cycles};
    (isa<onnx::ConvOp>(kernel.root()) ? candidate.schedule : candidate.numbers) = {{"vectors", stem.s.vectors}};
    candidate.shape = [=, &machine] { return shapeOf(kernel, stem, machine); };
    candidate.whySchedule = [=, &machine] {
      ScheduleReasons reasons;
      stemOf(kernel, machine, &reasons);
      return reasons.tile;
    };
    return candidate;
  }

  std::vector<target::Schedule> schedules(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    bool isIts = isa<onnx::ConvOp>(kernel.root()) && !isFromBlocks(kernel) && isToBlocks(kernel);
    return isIts ? schedulesOf(stemOf(kernel, machine)) : std::vector<target::Schedule>();
  }
};

} // namespace

std::unique_ptr<Algorithm> createStemConvAlgorithm() { return std::make_unique<StemConv>(); }

} // namespace ingot::lower
