// Convolution of each channel by itself, a block of channels in the lanes of a vector; zeros around the image are the
// buffer's halo.
//
// Small kernels on machines with many registers: all weights of a block and a tile of two rows of outputs stay in
// registers; each input vector is loaded once and multiplied into every output that it feeds. Others: one row of
// outputs, a loop over the kernel's rows. Row-major tensors go to RowMajorConv.
//
// Of bytes an instruction multiplies two or four numbers in each lane and adds them up. These are neighbouring rows of
// the input, "stacked" in a register that all outputs of the tile use which read some of the rows, each with the words
// of weights that have its taps, and zeros for the other rows. Three rows of taps for two rows of outputs are in one
// stack of four rows, so that three instructions do nine products. Where all that the columns of a stack add up fits
// int16 (integer/Int16Sums.h) it is added up in int32 once.
#include "compiler/lower/Algorithm.h"
#include "compiler/lower/bytes/ByteProducts.h"
#include "compiler/lower/conv/Convolution.h"
#include "compiler/lower/conv/RowMajorConv.h"
#include "compiler/lower/conv/WordDepthwise.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/formats/Convolutions.h"
#include "compiler/onnx/ops/Conv.h"
#include "compiler/onnx/quantization/Quantization.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ingot::lower {
namespace {

/// Rows of a tile's inputs.
struct Stack {
  SmallVector<int64_t, 4> rows;
  SmallVector<int64_t, 2> words; ///< for each row of outputs, the word of weights of a kernel's column; -1: none
};
/// All that a tile of some height reads.
using Stacks = SmallVector<Stack, 2>;
/// For each row of a stack, the kernel's row by which it is multiplied; -1: by none.
using StackTaps = SmallVector<int64_t, 4>;

struct DepthwiseSchedule {
  ConvGeometry g;
  int64_t lanes, blocks;
  bool ofBytes;                      ///< unsigned by signed, with sums of int32
  bool resident;                     ///< all weights in registers
  int64_t height, width;             ///< of a tile of outputs
  int64_t units;                     ///< pieces of an image, where there are few channel blocks
  SmallVector<StackTaps> words = {}; ///< where inputs are stacked; of each column of the kernel, in each of its slices
  Stacks whole = {}, single = {};    ///< of tiles of `height` rows of outputs, and of one row
  int64_t int16Dots = 0;             ///< of ByteProducts

  const ConvAxis &axis(size_t i) const { return g.subConvs[0].axes[i]; }
  int64_t taps() const { return g.subConvs[0].taps.size(); }
  bool isStacked() const { return !words.empty(); }
  ByteProducts bytes(const target::MachineModel &machine) const { return ByteProducts(machine, false, int16Dots); }
  int64_t slices() const { return axis(0).taps; }
  int64_t weightWords() const { return slices() * static_cast<int64_t>(words.size()) * axis(2).taps; } ///< of a lane
  support::Size wholeTiles() const { return floorDiv(axis(1).out, height); } ///< rows of tiles of the full height
};

constexpr int64_t tileRowsOfUnit = 4;
/// Rows of tiles of an image whose height the run determines, for what may be shared out.
constexpr int64_t typicalRows = 16;

/// The tap of `axis` by which output `o` of a tile reads input coordinate `i` of it; -1 if none.
int64_t tapOf(const ConvAxis &axis, int64_t i, int64_t o) {
  int64_t distance = i - o * axis.inStep;
  return distance >= 0 && distance % axis.tapStep == 0 && distance / axis.tapStep < axis.taps ? distance / axis.tapStep
                                                                                              : -1;
}

/// The rows that a tile reads, `depth` at a time. Adds to `words` what they need and is not there.
Stacks stacksOf(const ConvAxis &axis, int64_t height, int64_t depth, SmallVector<StackTaps> &words) {
  SmallVector<int64_t> rows;
  for (int64_t row = 0; row <= (height - 1) * axis.inStep + (axis.taps - 1) * axis.tapStep; ++row) {
    if (llvm::any_of(llvm::seq(height), [&](int64_t o) { return tapOf(axis, row, o) >= 0; })) {
      rows.push_back(row);
    }
  }
  Stacks stacks;
  for (ArrayRef<int64_t> left = rows; !left.empty(); left = left.drop_front(stacks.back().rows.size())) {
    Stack stack{llvm::to_vector<4>(left.take_front(depth)), {}};
    for (int64_t o = 0; o < height; ++o) {
      auto taps = llvm::map_to_vector<4>(stack.rows, [&](int64_t row) { return tapOf(axis, row, o); });
      taps.resize(depth, -1);
      bool none = llvm::all_of(taps, [](int64_t tap) { return tap < 0; });
      auto *at = llvm::find(words, taps);
      stack.words.push_back(none ? -1 : at - words.begin());
      if (!none && at == words.end()) {
        words.push_back(taps);
      }
    }
    stacks.push_back(std::move(stack));
  }
  return stacks;
}

/// Kernels that are written out where their inputs are stacked.
constexpr int64_t stackedTaps = 25;
/// Registers for a stack, what it is made of, and products.
constexpr int64_t stackRegisters = 4;

/// The tile of stacked inputs. Rows that two rows of outputs have in common are stacked once.
void stack(DepthwiseSchedule &s, int64_t registers, int64_t depth) {
  const ConvAxis &rows = s.axis(1);
  s.height = rows.inStep == 1 && rows.tapStep == 1 && !rows.out.is(1) ? 2 : 1;
  s.whole = stacksOf(rows, s.height, depth, s.words), s.single = stacksOf(rows, 1, depth, s.words);
  s.resident = registers >= 32 && s.weightWords() <= registers / 2 - stackRegisters;
  int64_t left = registers - stackRegisters - (s.resident ? s.weightWords() : 0);
  s.width = std::max<int64_t>(1, std::min<int64_t>(14, left) / s.height);
}

/// Where rows of outputs are shorter than half of a tile, a tile has several of them: a single one of four pixels would
/// wait for its own sums.
void takeShortRows(DepthwiseSchedule &s) {
  const support::Size &rows = s.axis(1).out, &row = s.axis(2).out;
  if (!rows.isNumber() || !row.isNumber() || row.number() < 1 || 2 * row.number() > s.width) {
    return;
  }
  int64_t most = std::min(s.width / row.number(), std::max<int64_t>(1, rows.number()));
  s.width = row.number(), s.height = most;
  for (int64_t height = most; height > 1; --height) {
    if (rows.number() % height == 0) {
      s.height = height;
      return;
    }
  }
}

/// Returns the share of an axis's taps that read the image, whose size is known, where others are left out.
double shareOfTaps(const ConvAxis &axis) {
  int64_t reached = 0, out = axis.out.number();
  for (int64_t at = 0; at < out; ++at) {
    auto [first, last] = axis.tapsOf(at);
    reached += std::max<int64_t>(0, last.number() - first.number());
  }
  return static_cast<double>(reached) / static_cast<double>(std::max<int64_t>(1, out * axis.taps));
}

/// Leaves out the kernel's slices and rows that read nothing but zeros around the image, where these are many. Around
/// bytes there is a zero point, whose products the bias makes up for.
void leaveOutPadding(DepthwiseSchedule &s) {
  constexpr double shareToLeaveOut = 0.9;
  for (size_t i : {0, 1}) {
    ConvAxis &axis = s.g.subConvs[0].axes[i];
    if (axis.dim < 0 || !s.g.spatial[axis.dim - 2].isNumber()) {
      continue;
    }
    ConvAxis bounded = axis;
    bounded.image = s.g.spatial[axis.dim - 2].number();
    axis.image = shareOfTaps(bounded) <= shareToLeaveOut ? bounded.image : 0;
  }
}

DepthwiseSchedule scheduleOf(plan::KernelOp kernel, const target::MachineModel &machine, bool maySwapAxes = true) {
  DepthwiseSchedule s{geometryOf(kernel.root(), maySwapAxes),
                      plan::blockedOf(kernel.getResult(0).getType()).getLanes(),
                      0,
                      isa<formats::Int8ConvOp>(kernel.root()),
                      false,
                      1,
                      1,
                      1};
  s.blocks = llvm::divideCeil(s.g.outChannels, s.lanes);
  int64_t registers = machine.registersOf(s.lanes);
  s.resident = registers >= 32 && s.taps() <= 9;
  s.height = s.resident && !s.axis(1).out.is(1) ? 2 : 1;
  int64_t left = registers - 2 - (s.resident ? s.taps() + 1 : std::min<int64_t>(s.axis(2).taps, registers / 3));
  left /= machine.memoryOperands ? 1 : 2; // beside each accumulator an input, which waits for its other taps
  s.width = std::max<int64_t>(1, std::min<int64_t>(14, left) / s.height);
  if (!s.resident) {
    takeShortRows(s);
  }
  s.int16Dots = onnx::int16DotsOf(kernel.root());
  int64_t depth = s.bytes(machine).perWord();
  if (s.ofBytes && depth > 1 && s.axis(1).taps > 1 && s.taps() <= stackedTaps) {
    stack(s, registers, depth);
  } else if (!s.resident && !s.ofBytes && maySwapAxes) { // else rows are in a ring
    leaveOutPadding(s);
  }
  int64_t images = s.g.batch.isNumber() ? s.g.batch.number() : 1;
  s.units = std::clamp<int64_t>(machine.tuning.heavyItems / std::max<int64_t>(1, images * s.blocks), 1,
                                std::max<int64_t>(1, typical(s.wholeTiles(), typicalRows) / tileRowsOfUnit));
  return s;
}

/// [block][tap][lane]
plan::WeightTable::Recipe packed(const DepthwiseSchedule &s) {
  std::string key = "depthwise lanes " + std::to_string(s.lanes) + " taps";
  for (int64_t t : s.g.subConvs[0].taps) {
    key += " " + std::to_string(t);
  }
  auto pack = [lanes = s.lanes, taps = s.g.subConvs[0].taps, channels = s.g.outChannels,
               bytes = s.g.weightBytes](ArrayRef<char> from, MutableArrayRef<char> to) {
    int64_t count = taps.size();
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t t = 0; t < count; ++t) {
        int64_t at = (c / lanes * count + t) * lanes + c % lanes;
        std::copy_n(from.data() + (c * count + taps[t]) * bytes, bytes, to.data() + at * bytes);
      }
    }
  };
  return {key, s.g.weightBytes * s.blocks * s.lanes * s.taps(), pack};
}

/// [block][slice][word][column][lane]
plan::WeightTable::Recipe packedStacks(const DepthwiseSchedule &s, const ByteProducts &bytes) {
  std::string key = "depthwise " + bytes.key() + " lanes " + std::to_string(s.lanes) + " columns " +
                    std::to_string(s.axis(2).taps) + " rows";
  for (const StackTaps &word : s.words) {
    for (int64_t row : word) {
      key += " " + std::to_string(row);
    }
  }
  for (int64_t t : s.g.subConvs[0].taps) {
    key += " " + std::to_string(t);
  }
  auto pack = [s, bytes](ArrayRef<char> from, MutableArrayRef<char> to) {
    auto *words = reinterpret_cast<uint32_t *>(to.data());
    int64_t count = s.taps(), columns = s.axis(2).taps;
    for (int64_t c = 0; c < s.g.outChannels; ++c) {
      for (int64_t i = 0; i < s.weightWords(); ++i) {
        int64_t column = i % columns, word = i / columns % s.words.size(), slice = i / columns / s.words.size();
        auto weights = llvm::map_to_vector<4>(s.words[word], [&](int64_t row) {
          int64_t tap = (slice * s.axis(1).taps + row) * columns + column;
          return row < 0 ? int8_t(0) : static_cast<int8_t>(from[c * count + s.g.subConvs[0].taps[tap]]);
        });
        words[(c / s.lanes * s.weightWords() + i) * s.lanes + c % s.lanes] = bytes.stackedWord(weights);
      }
    }
  };
  return {key, 4 * s.blocks * s.lanes * s.weightWords(), pack};
}

void packOperands(plan::KernelOp kernel, const DepthwiseSchedule &s, const target::MachineModel &machine,
                  std::map<unsigned, plan::WeightTable::Recipe> &recipes) {
  Value weights = kernel.root()->getOperand(1), bias = kernel.root()->getOperand(2);
  recipes[operandNumber(weights)] = s.isStacked() ? packedStacks(s, s.bytes(machine)) : packed(s);
  if (onnx::present(bias)) {
    recipes[operandNumber(bias)] = paddedRecipe(s.blocks * s.lanes, s.g.weightBytes);
  }
}

/// Of an image of known size: two loads a cycle, of which each column of a tile is one for each row of taps, and two
/// multiply-adds.
double cyclesOf(const DepthwiseSchedule &s, const target::MachineModel &machine) {
  const ConvAxis &rows = s.axis(1), &columns = s.axis(2);
  int64_t pixels = rows.out.number() * columns.out.number(), registers = std::max<int64_t>(1, s.lanes / machine.lanes);
  auto extent = [](const ConvAxis &a, int64_t outs) { return (outs - 1) * a.inStep + (a.taps - 1) * a.tapStep + 1; };
  int64_t rowsOfTile = s.resident ? extent(rows, s.height) : s.height * rows.taps;
  double loads = static_cast<double>(rowsOfTile * extent(columns, s.width)) / static_cast<double>(s.height * s.width);
  return 0.5 * static_cast<double>(pixels * s.blocks * registers) * std::max(loads, static_cast<double>(s.taps()));
}

class Depthwise {
public:
  Depthwise(Build &build, const DepthwiseSchedule &s)
      : build(build), w(build.w), s(s), bytes(s.bytes(build.w.machine)), in(inputOf(build)),
        space(build.group.space(build.group.resultType())), beginsSums(s.ofBytes && build.group.beginSums(space)) {
    Operation *root = build.group.root;
    weights = build.group.buffer(root->getOperand(1));
    weights = s.isStacked() ? ByteProducts::words(w, weights) : weights;
    bias = onnx::present(root->getOperand(2)) ? build.group.buffer(root->getOperand(2)) : Buffer();
    for (size_t i = 0; i < 3; ++i) {
      strides[i] = s.axis(i).dim < 0 ? 0 : in.strides[s.axis(i).dim];
    }
  }

  void item(Ix item) {
    Ix u = remainder(item, s.units), rest = floorDiv(item, s.units), block = remainder(rest, s.blocks),
       n = floorDiv(rest, s.blocks);
    Channel c = channel(n, block);
    support::Size whole = s.wholeTiles(), left = s.axis(1).out - whole * s.height;
    Ix piece = ceilDiv(whole, s.units);
    w.loop(0, s.axis(0).out, 1, [&](Ix d) {
      Ix from = u * piece;
      w.loop(from, min(from + piece, whole), 1, [&](Ix t) { tileRow(c, d, t * s.height, s.height); });
      // The rows that are left belong to the last unit.
      auto rest = [&] { w.loop(0, left, 1, [&](Ix i) { tileRow(c, d, whole * s.height + i, 1); }); };
      if (s.units == 1) {
        return rest();
      }
      w.ifThen(w.compare(arith::CmpIPredicate::eq, u, s.units - 1), rest);
    });
  }

  void rows(const Rows &rows) {
    w.loop(0, s.blocks, 1, [&](Ix block) {
      Channel c = channel(rows.image, block);
      w.balanced(rows.from, rows.to, s.height, [&](Ix h, int64_t height) { tileRow(c, 0, h, height); });
    });
  }

private:
  struct Channel {
    Ix n, block, base; ///< base: of the input's first interior pixel
    Value bias;
    SmallVector<Value> weights;
  };
  using Vectors = SmallVector<Value>;

  Build &build;
  Writer &w;
  const DepthwiseSchedule &s;
  ByteProducts bytes;
  Access in; ///< over its iteration dimensions
  Space space;
  Buffer weights, bias;
  bool beginsSums; ///< of bytes, with what is added to them
  std::array<Ix, 3> strides{};
  Ix firstRow = 0; ///< of the input, that the tile's first output reads, where rows are in a ring

  static Access inputOf(const Build &build) {
    Value x = build.group.root->getOperand(0);
    return {Group::placeIn(build.group.buffer(x), Group::typeOf(x)), build.group.buffer(x)};
  }
  bool inRing() const { return in.buffer.ring.rows; }
  /// Returns the distance from the tile's first input to the row `y` rows behind it.
  Ix rowOffset(Ix y) const { return inRing() ? in.row(firstRow + y) * strides[1] : y * strides[1]; }

  Channel channel(Ix n, Ix block) {
    Channel c{n, block, in.offset + n * in.strides[0] + block * in.strides[1], {}, {}};
    Type element = s.ofBytes ? Type(w.b.getI32Type()) : Type(w.b.getF32Type());
    c.bias = bias         ? w.load(bias, block * s.lanes, s.lanes)
             : beginsSums ? build.group.firstSums(space, point(c, 0, 0, 0))
                          : w.constant(0, w.vectorOf(element, s.lanes));
    for (int64_t t = 0; s.resident && t < (s.isStacked() ? s.weightWords() : s.taps()); ++t) {
      c.weights.push_back(s.isStacked() ? word(c, t) : weight(c, t));
    }
    return c;
  }

  Value weight(const Channel &c, Ix tap) {
    Value v = w.load(weights, (c.block * s.taps() + tap) * s.lanes, s.lanes);
    return s.ofBytes ? arith::ExtSIOp::create(w.b, w.loc, w.vectorOf(w.b.getI32Type(), s.lanes), v).getResult() : v;
  }
  /// Of stacked inputs.
  Value word(const Channel &c, int64_t i) {
    return w.load(weights, (c.block * s.weightWords() + i) * s.lanes, s.lanes);
  }
  Value pixel(Ix at) {
    Value v = w.load(in.buffer, at, s.lanes);
    return s.ofBytes ? arith::ExtUIOp::create(w.b, w.loc, w.vectorOf(w.b.getI32Type(), s.lanes), v).getResult() : v;
  }
  Value multiplyAdd(Value v, Value weight, Value sum) {
    return s.ofBytes ? ByteProducts::addProducts(w, sum, v, weight) : w.fma(v, weight, sum);
  }

  void tileRow(const Channel &c, Ix d, Ix h, int64_t height) {
    auto first = [&] { return h * s.axis(1).inStep + s.axis(1).inStart; };
    firstRow = inRing() ? first() : Ix(0);
    Ix row = c.base + (d * s.axis(0).inStep + s.axis(0).inStart) * strides[0] +
             (inRing() ? Ix(0) : first() * strides[1]) + s.axis(2).inStart * strides[2];
    w.balanced(s.axis(2).out, s.width, [&](Ix column, int64_t width) {
      Ix at = row + column * (s.axis(2).inStep * strides[2]);
      Vectors acc(height * width, c.bias);
      acc = s.isStacked() ? stacked(c, at, height, width, acc)
            : s.resident  ? resident(c, at, height, width, acc)
                          : looped(c, {tapsOf(0, d, 1), tapsOf(1, h, height)}, at, height, acc);
      build.group.finishTile(acc, 1, space, [&](Ix i, int64_t) {
        return point(c, d, h + floorDiv(i, width), column + remainder(i, width));
      });
    });
  }

  Point point(const Channel &c, Ix d, Ix h, Ix column) const {
    Point p;
    p.at.assign(space.sizes.size(), 0);
    p.at[0] = c.n, p.at[1] = c.block, p.lanes = s.lanes;
    std::array<Ix, 3> at{d, h, column};
    for (size_t i = 0; i < 3; ++i) {
      if (s.axis(i).dim >= 0) {
        p.at[s.axis(i).dim] = at[i];
      }
    }
    return p;
  }

  Vectors stacked(const Channel &c, Ix at, int64_t height, int64_t width, Vectors acc) {
    const ConvAxis &a = s.axis(2);
    const Stacks &stacks = height == s.height ? s.whole : s.single;
    int64_t columns = (width - 1) * a.inStep + (a.taps - 1) * a.tapStep + 1, words = s.words.size();
    Vectors pairs(acc.size());
    for (int64_t z = 0; z < s.slices(); ++z) {
      for (int64_t column = 0; column < columns; ++column) {
        for (const Stack &stack : stacks) {
          Value v;
          for (int64_t i = 0; i < height * width; ++i) {
            int64_t word = stack.words[i / width], kx = tapOf(a, column, i % width);
            if (word < 0 || kx < 0) {
              continue;
            }
            v = v ? v : rowsAt(stack, at + (z * s.axis(0).tapStep * strides[0] + column * strides[2]));
            int64_t weight = (z * words + word) * a.taps + kx;
            Value factor = s.resident ? c.weights[weight] : this->word(c, weight);
            if (bytes.sumsInt16()) {
              pairs[i] = ByteProducts::addInt16(w, pairs[i], v, factor);
            } else {
              acc[i] = bytes.add(w, acc[i], v, factor);
            }
          }
        }
      }
    }
    for (auto [sum, own] : llvm::zip_equal(acc, pairs)) {
      sum = own ? ByteProducts::addUp(w, sum, own) : sum;
    }
    return acc;
  }

  /// Returns a pixel of each row of a stack. Where there are fewer rows than a word has numbers, any row stands for
  /// those that are missing: its weights are zero.
  Value rowsAt(const Stack &stack, Ix at) {
    auto rows = llvm::map_to_vector<4>(stack.rows,
                                       [&](int64_t row) { return w.load(in.buffer, at + row * strides[1], s.lanes); });
    rows.resize(bytes.perWord(), rows.back());
    return bytes.stacked(w, rows);
  }

  Vectors resident(const Channel &c, Ix at, int64_t height, int64_t width, Vectors acc) {
    const ConvAxis &a0 = s.axis(0), &a1 = s.axis(1), &a2 = s.axis(2);
    int64_t rows = (height - 1) * a1.inStep + (a1.taps - 1) * a1.tapStep + 1,
            columns = (width - 1) * a2.inStep + (a2.taps - 1) * a2.tapStep + 1;
    for (int64_t z = 0; z < a0.taps; ++z) {
      for (int64_t y = 0; y < rows; ++y) {
        Ix row = z * a0.tapStep * strides[0] + rowOffset(y);
        for (int64_t column = 0; column < columns; ++column) {
          Value v;
          for (int64_t i = 0; i < height * width; ++i) {
            int64_t ky = tapOf(a1, y, i / width), kx = tapOf(a2, column, i % width);
            if (ky < 0 || kx < 0) {
              continue;
            }
            v = v ? v : pixel(at + (row + column * strides[2]));
            acc[i] = multiplyAdd(v, c.weights[(z * a1.taps + ky) * a2.taps + kx], acc[i]);
          }
        }
      }
    }
    return acc;
  }

  /// Returns the taps [first, second) of an axis by which some of `count` outputs from `first` on read the image.
  std::pair<Ix, Ix> tapsOf(size_t axis, Ix first, int64_t count) const {
    const ConvAxis &a = s.axis(axis);
    return {a.tapsOf(first + (count - 1)).first, a.tapsOf(first).second};
  }

  /// Slices and rows of the kernel are loops; its columns are written out when they are few.
  Vectors looped(const Channel &c, std::array<std::pair<Ix, Ix>, 2> taps, Ix at, int64_t height, Vectors acc) {
    const ConvAxis &a0 = s.axis(0), &a1 = s.axis(1), &a2 = s.axis(2);
    return w.loop(taps[0].first, taps[0].second, 1, acc, [&](Ix z, ValueRange c0) {
      return w.loop(taps[1].first, taps[1].second, 1, c0, [&](Ix y, ValueRange c1) {
        Ixs rows;
        for (int64_t i = 0; i < height; ++i) {
          rows.push_back(at + z * (a0.tapStep * strides[0]) + rowOffset(y * a1.tapStep + i * a1.inStep));
        }
        Ix tap = (z * a1.taps + y) * a2.taps;
        constexpr int64_t writtenOut = 7;
        return a2.taps > writtenOut ? loopedColumns(c, rows, tap, c1) : columns(c, rows, tap, c1);
      });
    });
  }

  Vectors loopedColumns(const Channel &c, ArrayRef<Ix> rows, Ix tap, ValueRange acc) {
    const ConvAxis &a = s.axis(2);
    int64_t width = acc.size() / rows.size();
    return w.loop(0, a.taps, 1, acc, [&](Ix k, ValueRange sums) {
      Vectors next(sums);
      Value weighing = weight(c, tap + k);
      for (auto [i, sum] : llvm::enumerate(next)) {
        int64_t column = static_cast<int64_t>(i) % width;
        sum = multiplyAdd(pixel(rows[i / width] + k * (a.tapStep * strides[2]) + column * a.inStep * strides[2]),
                          weighing, sum);
      }
      return next;
    });
  }

  Vectors columns(const Channel &c, ArrayRef<Ix> rows, Ix tap, ValueRange acc) {
    const ConvAxis &a = s.axis(2);
    int64_t width = acc.size() / rows.size();
    Vectors next(acc), weights;
    for (int64_t k = 0; k < a.taps; ++k) {
      weights.push_back(weight(c, tap + k));
    }
    for (auto [r, row] : llvm::enumerate(rows)) {
      for (int64_t column = 0; column < (width - 1) * a.inStep + (a.taps - 1) * a.tapStep + 1; ++column) {
        Value v;
        for (int64_t i = 0; i < width; ++i) {
          int64_t k = tapOf(a, column, i);
          if (k >= 0) {
            v = v ? v : pixel(row + column * strides[2]);
            Value &sum = next[static_cast<int64_t>(r) * width + i];
            sum = multiplyAdd(v, weights[k], sum);
          }
        }
      }
    }
    return next;
  }
};

class DepthwiseConv : public ConvFamily {
  static bool blocked(plan::KernelOp kernel) {
    return static_cast<bool>(plan::blockedOf(kernel.getResult(0).getType()));
  }
  static bool isOfBytes(plan::KernelOp kernel) { return isa<formats::Int8ConvOp>(kernel.root()); }

public:
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::ConvOp, formats::Int8ConvOp>(); }
  bool isFor(Operation *root) const override { return isDepthwise(root); }

  /// If floats have fewer channels than half a block, most lanes of a block would be empty. Their kernel is row-major,
  /// where lanes are neighbouring outputs of a row.
  LayoutRule layoutRule(Operation *root, const target::MachineModel &machine) const override {
    bool isFew = 2 * onnx::ranked(root->getResult(0)).getDimSize(1) < machine.blockLanes();
    return isFew && isa<onnx::ConvOp>(root) ? LayoutRule::RowMajor : ConvFamily::layoutRule(root, machine);
  }

  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    KernelShape shape;
    if (!blocked(kernel) && hasWordDepthwise(kernel, machine)) {
      shape = wordDepthwiseShape(kernel, machine);
      shape.choice = onlyChoice("plane by plane", {});
      return shape;
    }
    if (!blocked(kernel)) {
      shape = isOfBytes(kernel) ? rowMajorInt8ConvShape(kernel) : rowMajorConvShape(kernel, machine);
      shape.choice = onlyChoice("row-major", {});
      return shape;
    }
    DepthwiseSchedule s = scheduleOf(kernel, machine);
    shape.choice = onlyChoice("by channel", {{"rows", s.height}, {"pixels", s.width}});
    shape.items = s.g.batch * support::Size(s.blocks * s.units);
    packOperands(kernel, s, machine, shape.packed);
    shape.build = [s](Build &build) {
      Depthwise depthwise(build, s);
      build.w.loop(build.begin, build.end, 1, [&](Ix i) { depthwise.item(i); });
    };
    return shape;
  }

  std::optional<RowShape> rowShape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    if (isOfBytes(kernel) || !hasRows(kernel)) {
      return std::nullopt;
    }
    DepthwiseSchedule s = scheduleOf(kernel, machine, /*maySwapAxes=*/false);
    RowShape shape = rowShapeOf(s.g);
    packOperands(kernel, s, machine, shape.packed);
    shape.weightBytes = 4 * s.blocks * s.lanes * s.taps();
    shape.cycles = shape.alone = cyclesOf(s, machine);
    shape.build = [s](Build &build, const Rows &rows) { Depthwise(build, s).rows(rows); };
    return shape;
  }
};

} // namespace

std::unique_ptr<KernelFamily> createDepthwiseConvFamily() { return std::make_unique<DepthwiseConv>(); }

} // namespace ingot::lower
