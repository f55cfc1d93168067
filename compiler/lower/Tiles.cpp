#include "compiler/lower/Tiles.h"
#include "compiler/lower/LlvmAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace ingot::lower {

int64_t TileShape::stepBytes(int64_t rowBytes, bool ofHalves, const target::MachineModel &machine) {
  constexpr int64_t word = 4;
  int64_t most = std::min(machine.tiles.rowBytes, rowBytes / word * word);
  while (ofHalves && most > 0 && rowBytes % most) {
    most -= word;
  }
  if (most == 0 || ofHalves) {
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

// A product takes a cycle for each row of its left factor, and a load one for two rows, two at a time (MEASURED.md: 5.0
// of 5.8 TOP/s with all four loads of a step from the first cache). Sums are stored, and loaded again.

double tileStepCycles(const TileShape &shape, int64_t height, int64_t wide) {
  constexpr double leastProduct = 8, notHidden = 1.15;
  auto tall = static_cast<double>(height > 16 ? 2 : 1), rows = static_cast<double>(height) / tall;
  double products = tall * static_cast<double>(wide) * std::max(rows, leastProduct);
  double loads = 0.5 * (static_cast<double>(height) + static_cast<double>(wide * shape.depth) / 4);
  return notHidden * std::max(products, loads);
}

double tileBlockCycles(int64_t height, int64_t wide) { return 2.0 * static_cast<double>(height * wide) + 20; }

TileBlock::TileBlock(Writer &w, const TileShape &shape, bool ofHalves)
    : w(w), shape(shape), ofHalves(ofHalves), lanes(w.machine.lanes), rows(w.machine.tiles.rows),
      rowBytes(w.machine.tiles.rowBytes) {
  Type element = ofHalves ? Type(w.b.getF32Type()) : w.b.getI32Type();
  block = w.local(element, shape.tall * rows * shape.wide * lanes);
  config = w.local(w.b.getI8Type(), rowBytes);
}

/// The right factor's registers, of which a few serve all columns: the processor renames them.
int64_t TileBlock::right(int64_t n) const {
  int64_t before = shape.tall * shape.wide + shape.tall;
  return before + n % (w.machine.tiles.count - before);
}

void TileBlock::configure(Ix height) {
  w.b.getInsertionBlock()->getParentOp()->setAttr(tilesName, w.b.getUnitAttr());
  firstHeight = shape.tall == 1 ? height : floorDiv(height + 1, 2);
  Ix secondHeight = max(height - firstHeight, 1);
  secondStart = height - secondHeight;
  Type i8 = w.b.getI8Type();
  w.store(w.constant(0, w.vectorOf(i8, rowBytes)), config, 0);
  w.store(w.constant(1, i8), config, 0); // the palette
  auto set = [&](int64_t tile, Ix tileRows, int64_t bytes) {
    constexpr int64_t columnsAt = 16, rowsAt = 48;
    w.store(w.constant(static_cast<double>(bytes), i8), config, columnsAt + 2 * tile);
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
  call(w.machine.tiles.configure, pointer(config, 0));
}

void TileBlock::release() { call(w.machine.tiles.release, {}); }

void TileBlock::clear(int64_t wide) {
  for (int64_t m = 0; m < shape.tall; ++m) {
    for (int64_t n = 0; n < wide; ++n) {
      call(w.machine.tiles.zero, number(sum(m, n, shape.wide)));
    }
  }
}

void TileBlock::step(const Rows &from, Buffer packed, Ix packedAt, int64_t wide) {
  StringRef product = ofHalves ? w.machine.tiles.halfDot : w.machine.tiles.byteDot;
  for (int64_t n = 0; n < wide; ++n) {
    move(w.machine.tiles.load, right(n), packed, packedAt + n * shape.rightBytes(), rowBytes);
    for (int64_t m = 0; m < shape.tall; ++m) {
      if (n == 0) {
        move(w.machine.tiles.load, left(m), from.buffer, from.at[m], from.stride);
      }
      call(product, {number(sum(m, n, shape.wide)), number(left(m)), number(right(n))});
    }
  }
}

void TileBlock::stayAwake(Ix step, int64_t steps) {
  constexpr int64_t period = 8, asleep = 12; // a step takes 64 cycles, and up to twice that where weights are far
  if (steps <= asleep) {
    return;
  }
  Value due = w.compare(arith::CmpIPredicate::eq, remainder(step, period), period - 1);
  // What is stored is overwritten by leave().
  w.ifThen(due, [&] { move(w.machine.tiles.store, right(0), block, 0, rowBytes); });
}

void TileBlock::fetchAhead(const Next &next, Ix group, Ix step, int64_t wide) {
  constexpr int64_t least = 4; // lines at a time
  int64_t line = w.machine.lineBytes, lines = llvm::divideCeil(wide * shape.rightBytes(), line);
  int64_t sharing = std::max<int64_t>(1, std::min(next.groups, lines / least));
  int64_t each = llvm::divideCeil(lines, sharing);
  Ix at = next.at + (min(group, sharing - 1) * next.steps + step) * (each * line);
  for (int64_t i = 0; next.groups > 1 && i < each; ++i) {
    w.prefetch(next.buffer, floorDiv(at + i * line, next.unit));
  }
}

void TileBlock::leave(int64_t wide) {
  int64_t stride = wide * rowBytes;
  for (int64_t m = 0; m < shape.tall; ++m) {
    for (int64_t n = 0; n < wide; ++n) {
      Ix start = m ? secondStart : Ix(0);
      move(w.machine.tiles.store, sum(m, n, shape.wide), block, start * stride + n * rowBytes, stride);
    }
  }
}

Value TileBlock::sums(Ix row, int64_t v, int64_t wide) { return w.load(block, (row * wide + v) * lanes, lanes); }

Value TileBlock::number(int64_t tile) { return w.constant(static_cast<double>(tile), w.b.getI8Type()); }

Value TileBlock::pointer(Buffer buffer, Ix byte) {
  Type i64 = w.b.getI64Type(), type = LLVM::LLVMPointerType::get(w.b.getContext());
  Value base = arith::IndexCastOp::create(w.b, w.loc, i64, w.address(buffer));
  base = LLVM::IntToPtrOp::create(w.b, w.loc, type, base);
  return LLVM::GEPOp::create(w.b, w.loc, type, w.b.getI8Type(), base, ValueRange{w.integer(byte, i64)});
}

void TileBlock::call(StringRef name, ValueRange operands) {
  LLVM::CallIntrinsicOp::create(w.b, w.loc, w.b.getStringAttr(name), operands);
}

void TileBlock::move(StringRef name, int64_t tile, Buffer buffer, Ix byte, Ix stride) {
  call(name, {number(tile), pointer(buffer, byte), w.integer(stride, w.b.getI64Type())});
}

} // namespace ingot::lower
