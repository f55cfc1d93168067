#include "compiler/lower/product/Tiles.h"
#include "compiler/lower/LowerKernels.h"
#include "compiler/lower/core/LlvmAttributes.h"
#include "compiler/lower/product/WeightRate.h"
#include "compiler/plan/KernelAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;

namespace ingot::lower {

using support::Size;

int64_t TileShape::depthOf(int64_t rowBytes, bool mayOverlap, const target::MachineModel &machine) {
  constexpr int64_t word = 4;
  int64_t most = std::min(machine.tiles.rowBytes, rowBytes / word * word);
  while (!mayOverlap && most > 0 && rowBytes % most) {
    most -= word;
  }
  if (most == 0 || !mayOverlap) {
    return most;
  }
  int64_t alike = llvm::divideCeil(rowBytes, llvm::divideCeil(rowBytes, most));
  return std::min(most, static_cast<int64_t>(llvm::alignTo(alike, word)));
}

TileShape TileShape::of(int64_t rows, int64_t columnTiles, int64_t depth, const target::MachineModel &machine) {
  // Four sums hide the time from one product to the next that needs its result; two by two of them take the fewest
  // loads.
  constexpr int64_t sums = 4;
  TileShape shape;
  shape.depth = depth;
  shape.tall = rows > machine.tiles.rows ? 2 : 1;
  int64_t most = std::min(columnTiles, sums / shape.tall);
  shape.wide = llvm::divideCeil(columnTiles, llvm::divideCeil(columnTiles, most)); // panels alike
  return shape;
}

int64_t TileShape::stepsOfChunk(int64_t steps, int64_t blocks, const target::MachineModel &machine) const {
  constexpr int64_t enoughBlocks = 4, longest = 5;
  bool stays = 2 * steps * stepBytes(wide) <= machine.l2Bytes / 4;
  if (!splitsRight || (blocks >= enoughBlocks && stays)) {
    return steps;
  }
  for (int64_t chunk = 2; chunk <= longest; ++chunk) {
    if (steps % chunk == 0) {
      return chunk;
    }
  }
  return steps;
}

// A product takes a cycle for each row of its left factor, and a load one for two rows, two at a time
// (bench/notebook.md: 5.0 of 5.8 TOP/s with all four loads of a step from the first cache). Sums are
// stored, and loaded again.

double tileStepCycles(const TileShape &shape, int64_t height, int64_t wide, int64_t blocks) {
  constexpr double leastProduct = 8, latency = 52, splitPair = 10;
  // Of split factors so much is multiplied that the processor slows down (bench/tile_rate.c), and the next products,
  // of other parts, wait for the sums.
  bool splits = shape.parts > 1;
  const double notHidden = splits ? 1.65 : 1.15;
  auto tall = static_cast<double>(height > 16 ? 2 : 1), rows = static_cast<double>(height) / tall;
  double sums = tall * static_cast<double>(wide);
  double products = splits ? std::max(sums * rows, latency) : sums * std::max(rows, leastProduct);
  double loads = 0.5 * (static_cast<double>(height) + static_cast<double>(wide * shape.depth) / 4);
  double all = notHidden * static_cast<double>(shape.products()) * std::max(products, loads);
  auto pairs = static_cast<double>(shape.splitsRight ? shape.pairsOfStep() : 0);
  return std::max(all, splitPair * pairs / static_cast<double>(blocks));
}

/// A place in a strip that is `all` long: one of its ends where it is at most `near` from it.
static Ix drawnToEnds(Ix at, const Size &all, int64_t near) {
  bool isLong = near && (all - 2 * near - 1).atLeast(0);
  return isLong ? floorDiv(max(min(at - near, all - 2 * near), 0) * all, all - 2 * near) : at;
}

Ix StripWork::panelOf(Ix item) const {
  constexpr double mostShare = 0.25;
  int64_t each = blocks * panels, near = std::llround(static_cast<double>(each) * std::min(copyShare, mostShare));
  Size inFront = (strips - 1) * Size(each), blocksBehind = max(lastBlocks, 1), last = blocksBehind * Size(panels);
  Size all = inFront + last;
  Ix done = floorDiv(item * (images * all), items), ofImage = remainder(done, all), before = min(ofImage, inFront);
  return floorDiv(done, all) * (strips * Size(panels)) + floorDiv(before, each) * panels +
         floorDiv(drawnToEnds(remainder(before, each), each, near), blocks) +
         floorDiv(drawnToEnds(max(ofImage - inFront, 0), last, near), blocksBehind);
}

void StripWork::eachStrip(Writer &w, Ix begin, Ix end, llvm::function_ref<void(Ix, Ix, Ix)> body) const {
  Ix first = panelOf(begin), last = panelOf(end), all = panels;
  w.loop(floorDiv(first, all), floorDiv(last + (all - 1), all), 1,
         [&](Ix strip) { body(strip, max(first - strip * all, 0), min(last - strip * all, all)); });
}

int64_t sharesOfStrip(int64_t strips, int64_t panels) {
  constexpr int64_t enough = 8, most = 4;
  auto wanted = static_cast<int64_t>(llvm::divideCeil(enough, std::max<int64_t>(strips, 1)));
  return std::min({wanted, most, panels});
}

double shareOfCopy(double copies, double all) { return copyFromAfar * copies / (all - copies); }

Size evenItems(const Size &items) {
  constexpr int64_t even = 4;
  return items.isNumber() && items.number() > even ? Size(items.number() / even * even) : items;
}

double tileBlockCycles(int64_t height, int64_t wide) { return 2.0 * static_cast<double>(height * wide) + 20; }

Splitting splittingOf(plan::KernelOp kernel, const target::MachineModel &machine) {
  auto module = kernel->getParentOfType<ModuleOp>();
  if (!machine.tiles.count || machine.packing || module->hasAttr(plan::strictName)) {
    return {};
  }
  auto policy = policyOf<Use>(module, splitFloatsName);
  if (policy == Use::Off) {
    return {};
  }
  return {module->hasAttr(twoPartsName) ? 2 : 3, policy == Use::On};
}

bool splitsOnTheWay(plan::KernelOp kernel, int64_t parts, int64_t rows, const target::MachineModel &machine) {
  constexpr int64_t fewRows = 256; // more of them hide that memory is slow, but not the splitting
  bool areFar = weightRateOf(kernel, machine) <= machine.memoryRate;
  return parts == 3 && rows <= fewRows && (areFar || splittingOf(kernel, machine).always);
}

// Parts are rounded by adding half of what the last bit kept counts for, in integers: halfway cases go away from zero.
// (LLVM makes more of arith.truncf, so that NaN stays what it is. Here lower parts are NaN then, as those of an
// infinity.) The second of three parts is cut off: what is left has 8 bits all the same, and is at most 2^-16.
void storeSplit(Writer &w, ArrayRef<Value> vectors, int64_t parts, Buffer to, Ix at, Ix distance) {
  constexpr double halfOfLast = 0x8000, kept = 0xFFFF0000;
  int64_t lanes = cast<VectorType>(vectors[0].getType()).getNumElements();
  Type words = w.vectorOf(w.b.getI32Type(), lanes), i16 = w.b.getI16Type();
  Buffer raw{to.memref, i16};
  SmallVector<Value, 2> left(vectors);
  for (int64_t part = 0; part < parts; ++part) {
    bool rounds = part == 0 || parts == 2;
    SmallVector<Value, 2> upper; // bits in place, the others of any value
    for (Value &v : left) {
      Value bits = arith::BitcastOp::create(w.b, w.loc, words, v);
      upper.push_back(rounds ? arith::AddIOp::create(w.b, w.loc, bits, w.constant(halfOfLast, words)) : bits);
      if (part + 1 < parts) {
        Value whole = arith::AndIOp::create(w.b, w.loc, upper.back(), w.constant(kept, words));
        v = arith::SubFOp::create(w.b, w.loc, v, arith::BitcastOp::create(w.b, w.loc, v.getType(), whole));
      }
    }
    Value stored = arith::ShRUIOp::create(w.b, w.loc, upper[0], w.constant(16, words));
    if (upper.size() == 1) {
      stored = arith::TruncIOp::create(w.b, w.loc, w.vectorOf(i16, lanes), stored);
    } else {
      Value second = arith::AndIOp::create(w.b, w.loc, upper[1], w.constant(kept, words));
      stored = arith::OrIOp::create(w.b, w.loc, stored, second);
      stored = vector::BitCastOp::create(w.b, w.loc, VectorType::get({2 * lanes}, i16), stored);
    }
    w.store(stored, raw, at + part * distance);
  }
}

int64_t splitOrder(int64_t position, int64_t count) {
  constexpr int64_t lanes = 16, pair = 2 * lanes;
  int64_t group = position / pair * pair, place = position - group;
  return group + pair <= count ? group + place / 2 + place % 2 * lanes : position;
}

void storeSplit(MutableArrayRef<float> floats, int64_t parts, char *to, int64_t distance) {
  SmallVector<uint16_t, 512> stored(floats.size());
  for (int64_t part = 0; part < parts; ++part) {
    for (size_t i = 0; i < floats.size(); ++i) { // no branch, so that it is vectors
      constexpr uint32_t exponent = 0x7F800000;
      uint32_t bits = llvm::bit_cast<uint32_t>(floats[i]), toEven = 0x7FFF + (bits >> 16 & 1);
      bits += (bits & exponent) == exponent ? 0 : toEven; // a NaN that comes of it is one of infinities
      stored[i] = static_cast<uint16_t>(bits >> 16);
      floats[i] -= llvm::bit_cast<float>(bits & 0xFFFF0000);
    }
    std::memcpy(to + part * distance, stored.data(), sizeof(uint16_t) * stored.size());
  }
}

TileBlock::TileBlock(Writer &w, const TileShape &shape, bool ofBf16)
    : w(w), shape(shape), ofBf16(ofBf16), lanes(w.machine.lanes), rows(w.machine.tiles.rows),
      rowBytes(w.machine.tiles.rowBytes) {
  Type element = ofBf16 ? Type(w.b.getF32Type()) : w.b.getI32Type();
  block = w.local(element, shape.tall * rows * shape.wide * lanes);
  config = w.local(w.b.getI8Type(), rowBytes);
}

/// The right factor's registers, of which a few serve all columns: the processor renames them.
int64_t TileBlock::right(int64_t n) const {
  int64_t before = shape.tall * shape.wide + shape.tall;
  return before + n % (w.machine.tiles.count - before);
}

void TileBlock::configure(Ix height) {
  w.b.getInsertionBlock()->getParentOp()->setAttr(plan::tilesName, w.b.getUnitAttr());
  firstHeight = shape.tall == 1 ? height : floorDiv(height + 1, 2);
  Ix secondHeight = max(height - firstHeight, 1);
  secondStart = height - secondHeight;
  Type i8 = w.b.getI8Type();
  w.store(w.constant(0, w.vectorOf(i8, rowBytes)), config, 0);
  w.store(w.constant(1, i8), config, 0); // the palette
  auto set = [&](int64_t tile, Ix tileRows, int64_t bytes) {
    constexpr int64_t columnsAt = 16, rowsAt = 48;
    w.store(w.constant(bytes, i8), config, columnsAt + 2 * tile);
    w.store(w.integer(tileRows, i8), config, rowsAt + tile);
  };
  for (int64_t m = 0; m < shape.tall; ++m) {
    Ix own = m ? secondHeight : firstHeight;
    set(left(m), own, shape.depth);
    for (int64_t n = 0; n < shape.wide; ++n) {
      set(sum(m, n, shape.wide), own, rowBytes);
    }
  }
  for (int64_t n = 0; n < shape.wide; ++n) {
    set(right(n), shape.depth / 4, rowBytes);
  }
  instruction(w, Instruction::TileConfigure, pointer(config, 0));
}

void TileBlock::release() { instruction(w, Instruction::TileRelease, {}); }

void TileBlock::clear(int64_t wide) {
  for (int64_t m = 0; m < shape.tall; ++m) {
    for (int64_t n = 0; n < wide; ++n) {
      instruction(w, Instruction::TileZero, number(sum(m, n, shape.wide)));
    }
  }
}

int64_t TileBlock::splitPairs(int64_t blocks) const {
  int64_t pairs = llvm::divideCeil(shape.pairsOfStep(), blocks);
  while (shape.pairsOfStep() % pairs) {
    ++pairs;
  }
  return pairs;
}

TileBlock::RightSplit TileBlock::splitShare(const Panel &from, Buffer to, Ix toAt, Ix stepsBefore,
                                            int64_t pairs) const {
  const int64_t pairElements = 2 * lanes, bf16Bytes = 2, whole = 4, shares = shape.pairsOfStep() / pairs;
  Ix share = min(stepsBefore, from.steps * shares - 1); // behind the last one that again, which nobody reads yet
  RightSplit split{from, to, toAt, pairs};
  split.from.at = from.at + share * (pairs * pairElements * whole);
  split.toAt = toAt + floorDiv(share, shares) * (shape.stepBytes(shape.wide) / bf16Bytes) +
               remainder(share, shares) * (pairs * pairElements);
  return split;
}

void TileBlock::splitRest(const Panel &from, Buffer to, Ix toAt, Ix stepsBefore, int64_t pairs) {
  w.loop(min(stepsBefore * pairs, from.steps * shape.pairsOfStep()), from.steps * shape.pairsOfStep(), 1,
         [&](Ix pair) { splitPair(splitShare(from, to, toAt, pair, 1), 0); });
}

/// A float's row of the right factor and the next one: neighbours in a tile's words. Memory's own prefetch has begun
/// when the next lines are asked for.
void TileBlock::splitPair(const RightSplit &split, int64_t pair) {
  constexpr int64_t ahead = 512, whole = 4, bf16Bytes = 2;
  SmallVector<Value, 2> rows;
  for (int64_t row = 2 * pair; row < 2 * pair + 2; ++row) {
    Ix at = split.from.at + row * lanes * whole;
    w.prefetch(split.from.buffer, floorDiv(at + ahead, split.from.unit), /*locality=*/3);
    Type floats = w.vectorOf(w.b.getF32Type(), lanes);
    rows.push_back(LLVM::LoadOp::create(w.b, w.loc, floats, pointer(split.from.buffer, at), w.machine.lineBytes));
  }
  storeSplit(w, rows, shape.parts, split.to, split.toAt + 2 * pair * lanes,
             shape.wide * shape.rightBytes() / bf16Bytes);
}

void TileBlock::step(const Rows &from, Buffer packed, Ix packedAt, int64_t wide, const std::optional<Fetch> &fetch,
                     const std::optional<RightSplit> &split) {
  const int64_t line = w.machine.lineBytes, products = shape.parts == 1 ? 1 : shape.products() * wide;
  const int64_t pairs = split ? split->pairs : 0, sideBySide = shape.splitsRight ? shape.wide : wide;
  int64_t begun = 0, fetched = 0, done = 0;
  auto between = [&] {
    for (++begun; fetch && fetched < fetch->lines && fetched * products < fetch->lines * begun; ++fetched) {
      w.prefetch(fetch->buffer, floorDiv(fetch->at + fetched * line, fetch->unit));
    }
    for (; done * products < pairs * begun; ++done) {
      splitPair(*split, done);
    }
  };
  Instruction product = ofBf16 ? Instruction::TileBfloat16Dot : Instruction::TileByteDot;
  auto multiply = [&](int64_t leftPart, int64_t rightPart) {
    for (int64_t n = 0; n < wide; ++n) {
      move(Instruction::TileLoad, right(n), packed, packedAt + (rightPart * sideBySide + n) * shape.rightBytes(),
           rowBytes);
      for (int64_t m = 0; m < shape.tall; ++m) {
        if (n == 0 && rightPart == 0) {
          move(Instruction::TileLoad, left(m), from.buffer, from.at[m] + leftPart * from.part, from.stride);
        }
        instruction(w, product, {number(sum(m, n, shape.wide)), number(left(m)), number(right(n))});
      }
      between();
    }
  };
  if (shape.parts == 1) { // a step has few lines, all of them ahead
    between();
  }
  for (int64_t leftPart = 0; leftPart < shape.parts; ++leftPart) {
    for (int64_t rightPart = 0; leftPart + rightPart < shape.parts; ++rightPart) {
      multiply(leftPart, rightPart);
    }
  }
}

void TileBlock::stayAwake(Ix step, int64_t steps) {
  // A step takes 64 cycles, of split factors 200 or 400, and up to twice that where weights are far.
  const int64_t period = shape.parts == 1 ? 8 : 2, asleep = shape.parts == 1 ? 12 : 3;
  if (steps <= asleep) {
    return;
  }
  Value due = w.compare(arith::CmpIPredicate::eq, remainder(step, period), period - 1);
  // What is stored is overwritten by leave().
  w.ifThen(due, [&] { move(Instruction::TileStore, right(0), block, 0, rowBytes); });
}

TileBlock::Fetch TileBlock::share(const Panel &next, Ix group, int64_t groups, Ix step, int64_t wide) const {
  constexpr int64_t least = 4; // lines at a time
  int64_t line = w.machine.lineBytes, lines = llvm::divideCeil(shape.storedBytes(wide), line);
  int64_t sharing = std::max<int64_t>(1, std::min(groups, lines / least)), each = llvm::divideCeil(lines, sharing);
  return {next.buffer, next.at + (min(group, sharing - 1) * next.steps + step) * (each * line), next.unit, each};
}

TileBlock::Fetch TileBlock::ahead(const Panel &own, Ix step, int64_t wide) const {
  constexpr int64_t ahead = 16 << 10; // a few steps of memory's latency
  int64_t bytes = shape.storedBytes(wide), lines = llvm::divideCeil(bytes, w.machine.lineBytes);
  return {own.buffer, own.at + (step * bytes + ahead), own.unit, lines};
}

void TileBlock::leave(int64_t wide) {
  int64_t stride = wide * rowBytes;
  for (int64_t m = 0; m < shape.tall; ++m) {
    for (int64_t n = 0; n < wide; ++n) {
      Ix start = m ? secondStart : Ix(0);
      move(Instruction::TileStore, sum(m, n, shape.wide), block, start * stride + n * rowBytes, stride);
    }
  }
}

void TileBlock::moveSums(Instruction how, Buffer buffer, Ix at, int64_t wide) {
  for (int64_t m = 0; m < shape.tall; ++m) {
    for (int64_t n = 0; n < wide; ++n) {
      int64_t tile = sum(m, n, shape.wide);
      move(how, tile, buffer, at + tile * rows * rowBytes, rowBytes);
    }
  }
}

Value TileBlock::sums(Ix row, int64_t v, int64_t wide) { return w.load(block, (row * wide + v) * lanes, lanes); }

Value TileBlock::number(int64_t tile) { return w.constant(tile, w.b.getI8Type()); }

Value TileBlock::pointer(Buffer buffer, Ix byte) {
  Value base = pointerTo(w.b, w.loc, w.address(buffer));
  return LLVM::GEPOp::create(w.b, w.loc, base.getType(), w.b.getI8Type(), base,
                             ValueRange{w.integer(byte, w.b.getI64Type())});
}

void TileBlock::move(Instruction which, int64_t tile, Buffer buffer, Ix byte, Ix stride) {
  instruction(w, which, {number(tile), pointer(buffer, byte), w.integer(stride, w.b.getI64Type())});
}

} // namespace ingot::lower
