// Convolutions of row-major images, in any number of groups. Where a group has enough channels they are products by
// tiles (TileProduct.h, TensorProduct.h) of weights [channels][inputs * taps] and pixels, of which the factor on the
// right is read where it is, with zeros around the image. On tensor cores pointwise convolutions are products of what
// lies in memory, and are copied in vectors; so are others whose pixels are whole vectors of channels, from a copy of
// the image that has them (ChannelsLast.h). Else, and for transposed convolutions, each thread computes one pixel of a
// channel. Convolutions of uint8 by int8 are as others, with a number of their own around the image. Where there are
// few tiles, or few behind the last whole round of them, several blocks share the depth of each (SplitDepth.h). Where
// the user asks for them, warpgroups of sm_90a are a second way to multiply on tensor cores (WarpgroupProduct.h), which
// the choice of algorithms compares with that.
//
// Constant weights are packed into lines [taps][inputs] (PackedLines.h). Where the inputs of a group are a multiple of
// the depth that a block brings at a time, all of that depth belongs to one tap: what it reads of a pixel is found
// once.
#include "compiler/onnx/formats/Convolutions.h"
#include "compiler/lower/Algorithm.h"
#include "compiler/lower/core/Threads.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/elements/Window.h"
#include "compiler/onnx/ops/Conv.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "targets/cuda/Architectures.h"
#include "targets/cuda/ByteDots.h"
#include "targets/cuda/ChannelsLast.h"
#include "targets/cuda/Families.h"
#include "targets/cuda/PackedLines.h"
#include "targets/cuda/Places.h"
#include "targets/cuda/SplitDepth.h"
#include "targets/cuda/TensorProduct.h"
#include "targets/cuda/TileCycles.h"
#include "targets/cuda/WarpgroupProduct.h"

using namespace mlir;

namespace ingot::targets::cuda {
namespace {

using lower::Ix;
using lower::Ixs;
using support::Size;

/// A spatial axis: of `taps` taps at output o, tap t reads o * stride + t * dilation - before.
struct Axis {
  Size in, out, before;
  int64_t taps, stride, dilation;
};

constexpr int64_t threads = 128;

struct Problem {
  Size batch;
  int64_t groups, inGroup, outGroup, taps = 1;
  bool transposed;
  SmallVector<Axis, 3> axes;

  TensorProduct::Numbers tensor;       ///< what tensor cores multiply
  int64_t side = TensorProduct::small; ///< of tiles there
  bool byWarpgroups = false;

  bool isInt8 = false;
  int8_t padding = 0;               ///< what lies around the image; its bits are those of a uint8
  std::optional<PackedLines> lines; ///< how weights are packed; none: they are not
  std::optional<ChannelsLast> copy; ///< of the image, which the tiles read; none: they read the image

  Problem(Operation *op, const target::MachineModel &machine) : transposed(isa<onnx::ConvTransposeOp>(op)) {
    auto x = lower::Group::typeOf(op->getOperand(0)), y = lower::Group::typeOf(op->getResult(0));
    support::Sizes sizes = onnx::sizesOf(x), kernel = *onnx::kernelOf(op, op->getOperand(1));
    ArrayRef<Size> spatial = ArrayRef<Size>(sizes).drop_front(2);
    onnx::Window window =
        transposed ? *onnx::transposedWindowOf(op, spatial, kernel) : *onnx::windowOf(op, spatial, kernel);
    auto group = op->getAttrOfType<IntegerAttr>("group");
    batch = sizes[0], groups = group ? group.getInt() : 1;
    inGroup = x.getDimSize(1) / groups, outGroup = y.getDimSize(1) / groups;
    for (size_t i = 0; i < spatial.size(); ++i) {
      axes.push_back(
          {spatial[i], window.out[i], window.before[i], window.kernel[i], window.strides[i], window.dilations[i]});
      taps *= window.kernel[i];
    }
    if (isTiled()) {
      tensor = TensorProduct::numbersFor(op, op->getOperand(1), op->getOperand(0), machine);
    }
    if (auto conv = dyn_cast<formats::Int8ConvOp>(op)) {
      isInt8 = true, padding = static_cast<int8_t>(conv.getPadding());
    }
    if (isInt8 || (isTiled() && taps > 1 && onnx::constantThrough(op->getOperand(1)))) {
      Type memory = lower::memoryType(onnx::elementOf(op->getOperand(1)));
      lines = {.lines = groups * outGroup,
               .depth = depth(),
               .elementBytes = onnx::elementBytes(memory),
               .taps = isTiled() ? taps : 1,
               .inVectors = isInt8};
    }
    copyImage(op);
    chooseSide(machine);
  }

  /// Decides whether the image is copied: if a vector of the depth is one tap's, and there are several taps to read it.
  void copyImage(Operation *op) {
    Type memory = lower::memoryType(onnx::elementOf(op->getOperand(0)));
    constexpr int64_t bytesOfVector = 16;
    bool areVectors = inGroup % (bytesOfVector / std::max<int64_t>(1, onnx::elementBytes(memory))) == 0;
    if (!tensor || taps == 1 || !lines || lines->taps != taps || !areVectors || pixels().is(0)) {
      return;
    }
    copy = {batch, groups * inGroup, {}, onnx::elementOf(op->getOperand(0)), padding};
    for (const Axis &axis : axes) {
      Size reach = (axis.out - Size(1)) * Size(axis.stride) + Size((axis.taps - 1) * axis.dilation + 1);
      copy->axes.push_back({axis.in, axis.before, reach});
    }
  }

  Size pixels() const {
    Size all = batch;
    for (const Axis &axis : axes) {
      all = all * axis.out;
    }
    return all;
  }
  Size plane() const {
    Size all = 1;
    for (const Axis &axis : axes) {
      all = all * axis.in;
    }
    return all;
  }
  /// Whether pixel i of an output channel reads pixel i of the inputs alone.
  bool isPointwise() const {
    return !transposed && taps == 1 && llvm::all_of(axes, [](const Axis &axis) {
      return axis.stride == 1 && axis.before.is(0) && axis.in == axis.out;
    });
  }
  int64_t depth() const { return inGroup * taps; }
  /// Returns how many bytes are an element of the factors; 1 where those are numbers.
  int64_t together() const { return !isInt8 ? 1 : tensor ? 2 : 4; }
  /// Returns the elements from the weights of an output channel to those of the next one.
  int64_t pitch() const { return lines ? lines->pitch() : depth(); }
  /// Returns how many numbers of the depth a block brings at a time.
  int64_t step() const {
    return (byWarpgroups ? WarpgroupProduct::step : tensor ? tensor.step() : TileProduct::step) * together();
  }
  /// Whether tiles of 64 channels by 64 pixels would not mostly be empty.
  bool isTiled() const { return !transposed && outGroup >= 16 && inGroup * taps >= 16; }
  int64_t tileRows() const { return tensor ? side : outGroup >= 48 ? 64 : outGroup > 16 ? 32 : 16; }
  int64_t tileColumns() const { return tensor ? side : TensorProduct::small; }
  int64_t tilesOfChannels() const { return (outGroup + tileRows() - 1) / tileRows(); }
  Size tiles() const { return Size(groups * tilesOfChannels()) * ceilDiv(pixels(), tileColumns()); }
  /// Takes large tiles on tensor cores where channels fill them, and all multiprocessors have one.
  void chooseSide(const target::MachineModel &machine) {
    constexpr int64_t large = TensorProduct::large;
    Size tiles = Size(groups * static_cast<int64_t>(llvm::divideCeil(outGroup, large))) * ceilDiv(pixels(), large);
    if (outGroup % large == 0 && tiles.isNumber() && tiles.number() >= architectureOf(machine).multiprocessors) {
      side = large;
    }
  }
};

/// Returns how the depth of tiles is shared.
SplitDepth splitOf(const Problem &p, const target::MachineModel &machine) {
  return p.isTiled() && !p.byWarpgroups ? SplitDepth::of(p.tiles(), p.depth(), p.step(), machine, /*mayBeWhole=*/true)
                                        : SplitDepth();
}

/// Builds the loops of one kernel.
class Builder {
public:
  /// `isAhead`: what is computed is sums of a shared depth, for the kernel behind this launch.
  Builder(lower::Build &build, const Problem &p, bool isAhead = false)
      : build(build), w(build.w), op(build.group.root), p(p), space(build.group.space(build.group.resultType())),
        split(splitOf(p, build.w.machine)), isPart(isAhead && split) {
    x = build.group.buffer(op->getOperand(0)), weights = build.group.buffer(op->getOperand(1));
    bias = onnx::present(op->getOperand(2)) ? build.group.buffer(op->getOperand(2)) : lower::Buffer();
    element = p.isInt8 ? w.b.getI32Type() : x.element;
  }

  /// A block for each tile of a group.
  void tile() {
    part = isPart ? floorDiv(build.begin, sharedTiles()) : Ix(0);
    auto [group, row, column] = placeOfTile(isPart ? remainder(build.begin, sharedTiles()) + split.whole : build.begin);
    Ix before = isPart ? split.begin(part) : Ix(0), inPart = isPart ? split.lengthOf(part, p.depth()) : Ix(p.depth());
    Factor left{[=, this](Ix channel) {
                  Ix line = (group * p.outGroup + channel) * p.pitch();
                  return [=, this](Ix from, Ix k) {
                    return elementOf(before, from, k,
                                     [&](Ix at, Ix each, int64_t i) { return w.load(weights, line + at + each + i); });
                  };
                },
                p.outGroup, true};
    if (p.tensor && !p.isInt8) {
      x = TensorProduct::raw(w, x), weights = TensorProduct::raw(w, weights);
    }
    Factor right{[=, this](Ix pixel) {
                   auto [image, at] = pixelOf(pixel);
                   return [=, this](Ix from, Ix k) {
                     return elementOf(before, from, k, [&](Ix start, Ix each, int64_t i) {
                       auto [channel, tap] = inputAt(start, each, i);
                       return input(image, group * p.inGroup + channel, at, tap);
                     });
                   };
                 },
                 p.pixels(), false};
    left.isCostly = right.isCostly = !p.lines && p.taps > 1;
    Ix depth = floorDiv(inPart + (p.together() - 1), p.together());
    bool isWhole = p.depth() % p.step() == 0;
    auto first = [&](Ix channel) {
      Value v = begin(group * p.outGroup + channel);
      if (!isPart) {
        return v;
      }
      Value isFirst = w.compare(arith::CmpIPredicate::eq, part, 0);
      return arith::SelectOp::create(w.b, w.loc, isFirst, v, w.constant(0, element)).getResult();
    };
    auto put = [&, group = group, row = row, column = column](Ix channel, Ix pixel, Value sum) {
      if (isPart && split.whole) {
        Ix shared = build.begin * (p.tileRows() * p.tileColumns());
        w.store(sum, build.ahead.back(), shared + (channel - row) * p.tileColumns() + (pixel - column));
        return;
      }
      auto [image, at] = pixelOf(pixel);
      finish(image, group * p.outGroup + channel, at, sum);
    };
    if (p.tensor) {
      int64_t bytes = p.tensor.bytes() / p.together(), lanes = p.tensor.lanes() * p.together();
      lower::Buffer image = p.copy ? TensorProduct::raw(w, build.ahead.front()) : x;
      left.address = [&](Ix channel, Ix k) {
        Ix line = (group * p.outGroup + channel) * p.pitch();
        return TensorProduct::addressIn(w, weights, line + before + k * p.together(), bytes);
      };
      right.address = [&](Ix pixel, Ix k) {
        Ix at = p.copy ? placeInCopy(pixel, group, before, k * p.together()) : placeInPlane(pixel, group, before + k);
        return TensorProduct::addressIn(w, image, at, bytes);
      };
      right.alongDepth = p.copy || (p.byWarpgroups && p.isInt8); // which take bytes in this order alone
      Wide vectors(w, p.copy || (p.isPointwise() && !p.isInt8) ? lanes : 1), pairs(w, 2);
      vectors.requireBegin(image), vectors.requireBegin(weights), vectors.require(p.pitch());
      vectors.require(p.copy ? Ix(p.inGroup) : Ix(p.plane()));
      if (p.byWarpgroups) { // whose elements lie as vectors do
        pairs.require(space, accessesOf(space));
        WarpgroupProduct(w, p.tensor.element, isWhole)
            .write(left, right, depth, row, column, {vectors.condition(), pairs.condition()}, first, put);
        return;
      }
      if (isPart) {
        pairs.require(split.whole ? Ix(p.tileColumns()) : space.sizes.back());
      } else {
        pairs.require(space, accessesOf(space));
      }
      TensorProduct::writeAsMemoryIs(w, vectors, pairs, [&](TensorProduct::Accesses by) {
        right.alongDepth = p.copy && by.inVectors; // elements are the image's
        TensorProduct(w, p.tensor, p.side, by, isWhole).write(left, right, depth, row, column, first, put);
      });
    } else {
      Type leftBytes = p.isInt8 ? onnx::elementOf(op->getOperand(1)) : Type();
      TileProduct(w, element, p.tileRows(), p.tileColumns(), isWhole, leftBytes)
          .write(left, right, depth, row, column, first, put);
    }
  }

  /// Adds up the sums of a tile whose depth was shared, behind those that are whole.
  void addUp(int64_t threads) {
    auto [group, row, column] = placeOfTile(build.begin);
    Ix thread = lower::threadNumber(w), shared = build.begin - split.whole;
    int64_t elements = p.tileRows() * p.tileColumns();
    w.loop(0, elements / threads, 1, [&, group = group, row = row, column = column](Ix turn) {
      Ix i = turn * threads + thread, channel = row + floorDiv(i, p.tileColumns());
      Ix pixel = column + remainder(i, p.tileColumns());
      Value isThere = arith::AndIOp::create(w.b, w.loc, w.compare(arith::CmpIPredicate::slt, channel, p.outGroup),
                                            w.compare(arith::CmpIPredicate::slt, pixel, p.pixels()));
      w.ifThen(isThere, [&] {
        auto [image, at] = pixelOf(pixel);
        finish(image, group * p.outGroup + channel, at,
               split.sumOf(build, (shared * elements) + i, sharedTiles() * elements));
      });
    });
  }

  /// The launch that copies the image.
  void copyImage() { p.copy->write(build, p.isInt8 ? x : TensorProduct::raw(w, x)); }

  /// A thread for each pixel of a channel.
  void pixel() {
    Ix number = build.begin * threads + lower::threadNumber(w);
    w.ifThen(w.compare(arith::CmpIPredicate::slt, number, elementsOf(space)), [&] {
      SmallVector<Ix> place = placeOf(space, number);
      Ix channel = place[1], group = floorDiv(channel, p.outGroup), own = remainder(channel, p.outGroup);
      Ixs at(place.begin() + 2, place.end());
      // Weights are [out][in of a group][kernel], or [in][out of a group][kernel].
      Ix line = p.transposed ? (group * (p.inGroup * p.outGroup) + own) * p.taps : channel * p.pitch();
      Ix step = p.transposed ? p.outGroup * p.taps : p.taps;
      auto sums = w.loop(0, p.inGroup, 1, begin(channel), [&](Ix c, ValueRange before) {
        return w.loop(0, p.taps, 1, before, [&](Ix tap, ValueRange carried) {
          Value v = input(place[0], group * p.inGroup + c, at, tap);
          Value weight = w.load(weights, line + c * step + tap);
          return SmallVector<Value>{p.isInt8 ? dotOfOne(w, v, weight, carried[0]) : w.fma(v, weight, carried[0])};
        });
      });
      finish(place[0], channel, at, sums[0]);
    });
  }

private:
  lower::Build &build;
  lower::Writer &w;
  Operation *op;
  Problem p;
  lower::Space space;
  lower::Buffer x, weights, bias;
  Type element;
  SplitDepth split;
  bool isPart;
  Ix part = 0; ///< of the depth

  /// Returns how many tiles have a depth that blocks share.
  Ix sharedTiles() const { return Ix(p.tiles()) - split.whole; }

  struct Tile {
    Ix group, row, column; ///< its group, and its first channel there and pixel
  };
  Tile placeOfTile(Ix tile) const {
    Ix tilesOfPixels = ceilDiv(p.pixels(), p.tileColumns()), tilesOfChannels = p.tilesOfChannels();
    Ix rest = floorDiv(tile, tilesOfChannels);
    Ix column = (p.groups == 1 ? rest : remainder(rest, tilesOfPixels)) * p.tileColumns();
    return {floorDiv(rest, tilesOfPixels), remainder(tile, tilesOfChannels) * p.tileRows(), column};
  }

  /// Returns where number `k` of the depth of an output pixel is in the image itself, which has one tap.
  Ix placeInPlane(Ix pixel, Ix group, Ix k) {
    Ix image = floorDiv(pixel, p.plane()), plane = image * (p.groups * p.inGroup) + group * p.inGroup + k;
    return plane * Ix(p.plane()) + remainder(pixel, p.plane());
  }

  /// Returns where number `before + k` of the depth of an output pixel is in the copy of the image.
  Ix placeInCopy(Ix pixel, Ix group, Ix before, Ix k) {
    auto [image, at] = pixelOf(pixel);
    Ix number = before + k, tap = floorDiv(number, p.inGroup);
    Ixs taps(p.axes.size(), 0);
    for (size_t d = p.axes.size(); d-- > 0;) {
      const Axis &axis = p.axes[d];
      at[d] = at[d] * axis.stride, taps[d] = remainder(tap, axis.taps) * axis.dilation;
      tap = floorDiv(tap, axis.taps);
    }
    // The same tap for all pixels: what changes from step to step is one number.
    Ix offset = p.copy->placeOf(0, taps) + group * p.inGroup + remainder(number, p.inGroup);
    return p.copy->placeOf(image, at) + offset;
  }

  Value begin(Ix channel) { return bias ? w.load(bias, channel) : w.constant(0, element); }

  /// Returns element `from + k` of a factor, of one number or several bytes, in the part of the depth that begins at
  /// number `before`. `load` gives number `from + k + i` of the depth; i counts the bytes of an element.
  Value elementOf(Ix before, Ix from, Ix k, llvm::function_ref<Value(Ix from, Ix k, int64_t i)> load) {
    int64_t count = p.together();
    return count == 1 ? load(before + from, k, 0)
                      : joinBytes(w, count, [&](int64_t i) { return load(before + from * count, k * count, i); });
  }

  /// Returns the channel of its group and the tap of number `from + k + i` of the depth.
  std::pair<Ix, Ix> inputAt(Ix from, Ix k, int64_t i) const {
    bool areTapsFirst = p.lines && p.lines->taps == p.taps;
    if (areTapsFirst && p.inGroup % p.step() == 0) { // a step has one tap
      return {remainder(from, p.inGroup) + k + i, floorDiv(from, p.inGroup)};
    }
    if (areTapsFirst && p.inGroup % p.together() == 0) { // an element has one tap
      Ix all = from + k;
      return {remainder(all, p.inGroup) + i, floorDiv(all, p.inGroup)};
    }
    Ix all = from + k + i;
    if (p.isInt8) {
      all = min(all, p.depth() - 1); // weights are zeros behind the last number
    }
    if (areTapsFirst) {
      return {remainder(all, p.inGroup), floorDiv(all, p.inGroup)};
    }
    return {floorDiv(all, p.taps), p.taps == 1 ? Ix(0) : remainder(all, p.taps)};
  }

  /// Returns the image of a pixel, and where the pixel is there.
  std::pair<Ix, Ixs> pixelOf(Ix number) {
    Ixs at(p.axes.size(), 0);
    for (size_t d = at.size(); d-- > 0;) {
      at[d] = remainder(number, p.axes[d].out);
      number = floorDiv(number, p.axes[d].out);
    }
    return {number, at};
  }

  /// Returns what tap `tap` of output pixel `at` reads of a channel; the padding where that is outside of the image.
  Value input(Ix image, Ix channel, Ixs at, Ix tap) {
    Ix place = image * (p.groups * p.inGroup) + channel;
    Value isThere;
    auto require = [&](arith::CmpIPredicate how, Ix a, Ix b) {
      Value holds = w.compare(how, a, b);
      isThere = isThere ? arith::AndIOp::create(w.b, w.loc, isThere, holds).getResult() : holds;
    };
    int64_t inner = p.taps;
    for (auto [d, axis] : llvm::enumerate(p.axes)) {
      inner /= axis.taps;
      Ix t = axis.taps == 1 ? Ix(0) : remainder(floorDiv(tap, inner), axis.taps);
      Ix i = at[d] * (p.transposed ? 1 : axis.stride) +
             (p.transposed ? Ix(axis.before) - t * axis.dilation : t * axis.dilation - Ix(axis.before));
      bool mayBeOutside =
          p.transposed || axis.taps > 1 || !axis.before.is(0) || axis.stride > 1 || !(axis.in == axis.out);
      if (mayBeOutside) {
        require(arith::CmpIPredicate::sge, i, 0);
        i = max(i, 0);
        if (p.transposed && axis.stride > 1) {
          require(arith::CmpIPredicate::eq, remainder(i, axis.stride), 0);
          i = floorDiv(i, axis.stride);
        }
        require(arith::CmpIPredicate::slt, i, axis.in);
        i = min(i, Ix(axis.in) - 1);
      }
      place = place * Ix(axis.in) + i;
    }
    auto isEmpty = [](const Axis &axis) { return !axis.in.atLeast(1); };
    if (isThere && llvm::any_of(p.axes, isEmpty)) { // nothing of the image may be read then
      auto padding = [&] { return SmallVector<Value>{w.constant(p.padding, lower::valueType(x.element))}; };
      return w.chooseValues(isThere, [&] { return SmallVector<Value>{w.load(x, place)}; }, padding)[0];
    }
    Value v = w.load(x, place);
    return isThere ? arith::SelectOp::create(w.b, w.loc, isThere, v, w.constant(p.padding, v.getType())).getResult()
                   : v;
  }

  void finish(Ix image, Ix channel, const Ixs &at, Value sum) {
    auto vector = dyn_cast<VectorType>(sum.getType());
    lower::Point point;
    point.lanes = vector ? vector.getNumElements() : 1;
    point.at = {image, channel};
    point.at.append(at.begin(), at.end());
    isPart ? SplitDepth::store(build, space, part, point, sum) : build.group.finish(sum, space, point);
  }
};

lower::KernelShape shapeOf(const Problem &p, plan::KernelOp kernel, const target::MachineModel &machine) {
  lower::KernelShape shape;
  if (p.lines) {
    shape.packed[lower::operandNumber(kernel.root()->getOperand(1))] = p.lines->recipe();
  }
  if (!p.isTiled()) {
    shape.items = ceilDiv(p.pixels() * Size(p.groups * p.outGroup), threads);
    shape.grid = lower::Grid{{threads, 1, 1}, 0};
    return shape;
  }
  shape.items = p.tiles();
  if (p.copy) {
    shape.ahead.push_back(p.copy->launch());
  }
  Type element = lower::valueType(onnx::elementOf(kernel.root()->getOperand(0)));
  int64_t bytes = p.isInt8 ? p.together() : onnx::elementBytes(element);
  shape.grid = p.byWarpgroups ? WarpgroupProduct::grid()
               : p.tensor     ? TensorProduct::grid(p.side)
                              : TileProduct::grid(bytes, p.tileRows(), p.tileColumns());
  if (SplitDepth split = splitOf(p, machine)) {
    Type sums = p.isInt8 ? IntegerType::get(kernel.getContext(), 32) : element;
    if (split.whole) {
      split.shareLast(shape, p.tiles().number(), p.tileRows() * p.tileColumns(), sums);
      return shape;
    }
    split.share(shape, (p.pixels() * Size(p.groups * p.outGroup)).number(), sums);
  }
  return shape;
}

double cyclesOf(const Problem &p, const target::MachineModel &machine) {
  return cyclesOfTiles(p.tiles(), p.depth(), {p.tensor, p.tileRows(), p.tileColumns(), p.byWarpgroups}, machine);
}

/// What needs no other instructions than the oldest architecture has, or those that can be made of them.
class Tiles final : public lower::Algorithm {
public:
  Tiles() : Algorithm("tiles", /*rank=*/0) {}
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::ConvOp, formats::Int8ConvOp>(); }

  lower::Offer offer(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    Problem p(kernel.root(), machine);
    lower::Candidate candidate{name, cyclesOf(p, machine)};
    candidate.shape = [p, kernel, &machine] { return shapeOf(p, kernel, machine); };
    return candidate;
  }
};

class Warpgroups final : public lower::Algorithm {
public:
  Warpgroups() : Algorithm("wgmma", /*rank=*/1, /*key=*/"wgmma") {}
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::ConvOp, formats::Int8ConvOp>(); }

  lower::Offer offer(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    Problem p(kernel.root(), machine);
    if (!p.tensor || p.tensor.areFloats()) {
      return "for convolutions of float16, of bfloat16, or of uint8 and int8, with enough channels";
    }
    p.side = WarpgroupProduct::side, p.byWarpgroups = true;
    // The emulator gets all that is possible.
    lower::Candidate candidate{name, cyclesOf(p, machine), {}, /*isWanted=*/requestOf(machine).emulated};
    candidate.shape = [p, kernel, &machine] {
      lower::KernelShape shape = shapeOf(p, kernel, machine);
      shape.build = [p](lower::Build &build) { Builder(build, p).tile(); };
      return shape;
    };
    return candidate;
  }
};

class Convolutions final : public lower::KernelFamily {
public:
  Convolutions() { stem = "Conv"; }

  SmallVector<TypeID> roots() const override {
    return rootsOf<onnx::ConvOp, onnx::ConvTransposeOp, formats::Int8ConvOp>();
  }
  std::string unsupported(Operation *root, const target::MachineModel &machine) const override {
    return lower::compilersFamily(root)->unsupported(root, machine);
  }

  lower::KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    Problem p(kernel.root(), machine);
    if (!requestOf(machine).wgmma || !p.isTiled()) { // there is no choice
      return shapeOf(p, kernel, machine);
    }
    static const Tiles tiles;
    static const Warpgroups warpgroups;
    return lower::chosenShape(kernel, machine, {&tiles, &warpgroups});
  }

  LogicalResult build(lower::Build &build, const lower::KernelShape &shape) const override {
    if (shape.build) {
      return KernelFamily::build(build, shape);
    }
    Problem p(build.group.root, build.w.machine);
    SplitDepth split = splitOf(p, build.w.machine);
    if (split.whole) {
      Value isWhole = build.w.compare(arith::CmpIPredicate::slt, build.begin, split.whole);
      build.w.ifElse(
          isWhole, [&] { Builder(build, p).tile(); }, [&] { Builder(build, p).addUp(shape.grid->threads[0]); });
    } else if (split) {
      split.addUp(build);
    } else {
      p.isTiled() ? Builder(build, p).tile() : Builder(build, p).pixel();
    }
    return success();
  }

  LogicalResult buildAhead(lower::Build &build, const lower::KernelShape &) const override {
    Problem p(build.group.root, build.w.machine);
    bool isCopy = p.copy && build.ahead.size() == 1;
    isCopy ? Builder(build, p).copyImage() : Builder(build, p, /*isAhead=*/true).tile();
    return success();
  }
};

} // namespace

std::unique_ptr<lower::KernelFamily> createConvolutions() { return std::make_unique<Convolutions>(); }

} // namespace ingot::targets::cuda
