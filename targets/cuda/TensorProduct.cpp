#include "targets/cuda/TensorProduct.h"
#include "compiler/lower/core/Threads.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cuda/Architectures.h"
#include "targets/cuda/ByteDots.h"

using namespace mlir;

namespace ingot::targets::cuda {

using lower::Ix;

Type TensorProduct::elementFor(Value left, Value right, const target::MachineModel &machine) {
  if (machine.cpu == architectures().front().name) { // all but the oldest have the instruction
    return Type();
  }
  Type a = onnx::elementOf(left), b = onnx::elementOf(right);
  return areInt8(left, right) || (a == b && (a.isF16() || a.isBF16())) ? a : Type();
}

lower::Buffer TensorProduct::raw(lower::Writer &w, const lower::Buffer &buffer) {
  return {buffer.memref, w.b.getI16Type()};
}

void TensorProduct::writeAsMemoryIs(lower::Writer &w, Wide &vectors, Wide &pairs,
                                    llvm::function_ref<void(Accesses)> write) {
  std::optional<Value> isWide = vectors.condition(), arePairs = isWide ? pairs.condition() : std::nullopt;
  if (arePairs) {
    isWide = arith::AndIOp::create(w.b, w.loc, *isWide, *arePairs);
  }
  writeWhereWide(w, isWide, [&] { write({true, arePairs.has_value()}); }, [&] { write({}); });
}

/// The memories of PTX, by the numbers that LLVM gives them.
enum Memory : unsigned char { Global = 1, SharedByBlock = 3 };

TensorProduct::Shared TensorProduct::sharedAt(Ix byte, bool alongDepth) {
  int64_t elements = factorBytes(side) / 2;
  lower::Buffer shared = lower::sharedMemory(w);
  return {w.scratch(shared, byte, w.b.getI16Type(), elements), w.scratch(shared, byte, w.b.getI32Type(), elements / 2),
          alongDepth};
}

Value TensorProduct::pointer(Value address, unsigned memory) {
  MLIRContext *context = w.b.getContext();
  Value generic = LLVM::IntToPtrOp::create(w.b, w.loc, LLVM::LLVMPointerType::get(context), address);
  return LLVM::AddrSpaceCastOp::create(w.b, w.loc, LLVM::LLVMPointerType::get(context, memory), generic);
}

Value TensorProduct::addressIn(lower::Writer &w, const lower::Buffer &buffer, Ix element, int64_t bytes) {
  Value address = w.value(w.ix(w.address(buffer)) + element * bytes);
  return arith::IndexCastOp::create(w.b, w.loc, w.b.getI64Type(), address);
}

/// Neighbouring threads load what is contiguous in memory; a line behind the last one is the last one.
void TensorProduct::bring(const Factor &factor, Ix from, Ix depth, Ix line, const Shared &to) {
  Ix thread = lower::threadNumber(w), last = factor.lines - 1;
  bool isWhole = depth.known() && depth.number() % step == 0;
  int64_t inRow = factor.alongDepth ? step : side, rows = factor.alongDepth ? side : step;
  Ix inner = remainder(thread, inRow), outer = floorDiv(thread, inRow);
  SmallVector<Value> loaded;
  SmallVector<Ix> places;
  for (int64_t i = 0; i < rows; i += threads() / inRow) {
    Ix k = factor.alongDepth ? inner : outer + i, own = factor.alongDepth ? outer + i : inner;
    Factor::Load load = factor.line(min(line + own, last));
    Value v = isWhole ? load(from, k) : load(0, min(from + k, depth - 1));
    if (!isWhole) {
      Value isThere = w.compare(arith::CmpIPredicate::slt, from + k, depth);
      v = arith::SelectOp::create(w.b, w.loc, isThere, v, w.constant(0, v.getType()));
    }
    loaded.push_back(v), places.push_back(pairAt(own, floorDiv(k, 2)) * 2 + remainder(k, 2));
  }
  for (auto [v, at] : llvm::zip_equal(loaded, places)) {
    w.store(v, to.bits, at);
  }
}

Ix TensorProduct::swizzled(bool alongDepth, Ix row, Ix number) {
  // A row of steps is half of all banks, so that two rows are side by side.
  Ix turn = alongDepth ? remainder(floorDiv(row, 2), step / lanes) : remainder(row, lanes);
  return row * (alongDepth ? step : side) +
         w.ix(arith::XOrIOp::create(w.b, w.loc, w.value(number), w.value(turn))) * lanes;
}

/// Sizes are multiples of a vector: for one behind the last, the last is given, of which nothing is copied if that is
/// along the depth, so that it counts as zeros.
void TensorProduct::copyVectors(const Factor &factor, Ix from, Ix depth, Ix line, const Shared &to) {
  Ix thread = lower::threadNumber(w);
  bool along = factor.alongDepth;
  int64_t inRow = (along ? step : side) / lanes, rows = along ? side : step;
  Ix inner = remainder(thread, inRow), outer = floorDiv(thread, inRow);
  Value all = w.integer(lanes * 2, w.b.getI32Type()), none = w.integer(0, w.b.getI32Type());
  for (int64_t i = 0; i < rows; i += threads() / inRow) {
    Ix row = outer + i, k = from + (along ? inner * lanes : row), own = line + (along ? row : inner * lanes);
    Value source = factor.address(min(own, factor.lines - (along ? 1 : lanes)), min(k, depth - (along ? lanes : 1)));
    Value isThere = w.compare(arith::CmpIPredicate::slt, k, depth);
    Value operands[] = {pointer(addressIn(w, to.bits, swizzled(along, row, inner)), SharedByBlock),
                        pointer(source, Global), arith::SelectOp::create(w.b, w.loc, isThere, all, none)};
    LLVM::CallIntrinsicOp::create(w.b, w.loc, w.b.getStringAttr("llvm.nvvm.cp.async.cg.shared.global.16.s"), operands);
  }
}

void TensorProduct::endCopies() {
  LLVM::CallIntrinsicOp::create(w.b, w.loc, w.b.getStringAttr("llvm.nvvm.cp.async.commit.group"), ValueRange());
}

void TensorProduct::waitForCopies(int32_t left) {
  Value number = LLVM::ConstantOp::create(w.b, w.loc, w.b.getI32Type(), w.b.getI32IntegerAttr(left));
  LLVM::CallIntrinsicOp::create(w.b, w.loc, w.b.getStringAttr("llvm.nvvm.cp.async.wait.group"), number);
}

SmallVector<Value> TensorProduct::matrices(const Shared &from, bool isLeft, Ix line, int64_t k) {
  Ix lane = remainder(lower::threadNumber(w), 32), within = remainder(lane, lanes);
  Ix second = remainder(floorDiv(lane, lanes), 2), third = floorDiv(lane, 2 * lanes);
  Ix lineBit = isLeft ? second : third, depthBit = isLeft ? third : second;
  Ix at = from.alongDepth ? swizzled(true, line + within + lineBit * lanes, depthBit + k / lanes)
                          : swizzled(false, within + depthBit * lanes + k, floorDiv(line, lanes) + lineBit);
  auto type = LLVM::LLVMStructType::getLiteral(w.b.getContext(), SmallVector<Type>(4, w.b.getI32Type()));
  auto name = w.b.getStringAttr(from.alongDepth ? "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16"
                                                : "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16");
  Value all = LLVM::CallIntrinsicOp::create(w.b, w.loc, type, name, pointer(addressIn(w, from.bits, at), SharedByBlock))
                  ->getResult(0);
  SmallVector<Value> words;
  for (int64_t i = 0; i < 4; ++i) {
    words.push_back(numbersOf(LLVM::ExtractValueOp::create(w.b, w.loc, all, i)));
  }
  return words;
}

Value TensorProduct::numbersOf(Value word) {
  return !element.isF16() ? word : LLVM::BitcastOp::create(w.b, w.loc, VectorType::get({2}, element), word).getResult();
}

/// A warp stores one step of 32 lines, and reads 4 pairs of 8 lines. Two lines go through all banks; so 16 pairs of
/// lines have a step at different places, and 4 of them 4 neighbours in different fours.
Ix TensorProduct::pairAt(Ix line, Ix number) {
  constexpr int64_t pairs = step / 2;
  Ix two = floorDiv(line, 2), turn = remainder(two, 4) * 4 + remainder(floorDiv(two, 4), 4);
  return line * pairs + w.ix(arith::XOrIOp::create(w.b, w.loc, w.value(number), w.value(turn)));
}

Value TensorProduct::pairOf(lower::Buffer words, Ix line, Ix pair) {
  return numbersOf(w.load(words, pairAt(line, pair)));
}

SmallVector<Value> TensorProduct::multiply(ArrayRef<Value> a, ArrayRef<Value> b, ValueRange sums) {
  auto type = LLVM::LLVMStructType::getLiteral(w.b.getContext(), SmallVector<Type>(4, sumType()));
  StringRef name = element.isF16()               ? "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"
                   : element.isBF16()            ? "llvm.nvvm.mma.m16n8k16.row.col.bf16"
                   : element.isUnsignedInteger() ? "llvm.nvvm.mma.m16n8k32.row.col.u8.s8"
                                                 : "llvm.nvvm.mma.m16n8k32.row.col.s8.u8";
  SmallVector<Value> operands(a);
  operands.append(b.begin(), b.end());
  operands.append(sums.begin(), sums.end());
  Value all = LLVM::CallIntrinsicOp::create(w.b, w.loc, type, w.b.getStringAttr(name), operands)->getResult(0);
  SmallVector<Value> next;
  for (int64_t i = 0; i < 4; ++i) {
    next.push_back(LLVM::ExtractValueOp::create(w.b, w.loc, all, i));
  }
  return next;
}

SmallVector<Value> TensorProduct::multiplyStep(const Shared &a, const Shared &b, Place own, ValueRange sums) {
  constexpr int64_t across = warpColumns / 8;
  int64_t down = warpRows() / 16;
  Ix lane = remainder(lower::threadNumber(w), 32), group = floorDiv(lane, 4), within = remainder(lane, 4);
  SmallVector<Value> next(sums);
  for (int64_t k = 0; k < step; k += 16) {
    SmallVector<SmallVector<Value>> columns;
    for (int64_t j = 0; j < across; ++j) {
      if (by.inVectors && j % 2 == 0) {
        SmallVector<Value> two = matrices(b, false, own.column + j * 8, k);
        columns.push_back({two[0], two[1]}), columns.push_back({two[2], two[3]});
      } else if (!by.inVectors) {
        Ix line = own.column + j * 8 + group, pair = within + k / 2;
        columns.push_back({pairOf(b.words, line, pair), pairOf(b.words, line, pair + 4)});
      }
    }
    for (int64_t i = 0; i < down; ++i) {
      Ix line = own.row + i * 16 + group, pair = within + k / 2;
      SmallVector<Value> lines =
          by.inVectors ? matrices(a, true, own.row + i * 16, k)
                       : SmallVector<Value>{pairOf(a.words, line, pair), pairOf(a.words, line + 8, pair),
                                            pairOf(a.words, line, pair + 4), pairOf(a.words, line + 8, pair + 4)};
      for (int64_t j = 0; j < across; ++j) {
        auto own = MutableArrayRef(next).slice((i * across + j) * 4, 4);
        llvm::copy(multiply(lines, columns[j], ValueRange(own)), own.begin());
      }
    }
  }
  return next;
}

std::pair<TensorProduct::Shared, TensorProduct::Shared> TensorProduct::factorsAt(const Factor &left,
                                                                                 const Factor &right, Ix stage) {
  return {sharedAt(stage * stageBytes(side), left.alongDepth),
          sharedAt(stage * stageBytes(side) + factorBytes(side), right.alongDepth)};
}

SmallVector<Value> TensorProduct::sumsOfElements(const Factor &left, const Factor &right, Ix depth, Place tile,
                                                 Place own, ValueRange sums) {
  return w.loop(0, depth, step, sums, [&](Ix from, ValueRange carried) {
    auto [a, b] = factorsAt(left, right, 0);
    bring(left, from, depth, tile.row, a);
    bring(right, from, depth, tile.column, b);
    lower::barrier(w);
    SmallVector<Value> next = multiplyStep(a, b, own, carried);
    lower::barrier(w);
    return next;
  });
}

/// One barrier for each step is enough: when a warp has passed it, all warps have read the stage of the step before, so
/// that the next copies may overwrite that one.
SmallVector<Value> TensorProduct::sumsOfVectors(const Factor &left, const Factor &right, Ix depth, Place tile,
                                                Place own, ValueRange sums) {
  auto stageAt = [&](Ix from) { return factorsAt(left, right, remainder(floorDiv(from, step), stages)); };
  auto copy = [&](Ix from) {
    auto [a, b] = stageAt(from);
    copyVectors(left, from, depth, tile.row, a);
    copyVectors(right, from, depth, tile.column, b);
    endCopies();
  };
  for (int64_t ahead = 0; ahead < stages - 1; ++ahead) {
    copy(ahead * step);
  }
  SmallVector<Value> all = w.loop(0, depth, step, sums, [&](Ix from, ValueRange carried) {
    waitForCopies(stages - 2); // those of this step are there
    lower::barrier(w);
    copy(from + (stages - 1) * step);
    auto [a, b] = stageAt(from);
    return multiplyStep(a, b, own, carried);
  });
  waitForCopies(0); // nothing may be under way when the block ends
  return all;
}

void TensorProduct::write(const Factor &left, const Factor &right, Ix depth, Ix row, Ix column,
                          llvm::function_ref<Value(Ix row)> first,
                          llvm::function_ref<void(Ix row, Ix column, Value sum)> finish) {
  Ix thread = lower::threadNumber(w), warp = floorDiv(thread, 32), lane = remainder(thread, 32);
  Ix group = floorDiv(lane, 4), within = remainder(lane, 4);
  int64_t warpsInRow = side / warpColumns, down = warpRows() / 16;
  constexpr int64_t across = warpColumns / 8;
  Ix ownRow = floorDiv(warp, warpsInRow) * warpRows(), ownColumn = remainder(warp, warpsInRow) * warpColumns;
  // Sums 0 and 1 of a tile of 16 by 8 are neighbours in row `group`, 2 and 3 in the row eight below.
  auto rowOf = [&](int64_t i, int64_t e) { return row + ownRow + (i * 16 + e / 2 * 8) + group; };
  auto columnOf = [&](int64_t j, int64_t e) { return column + ownColumn + (j * 8 + e % 2) + within * 2; };
  SmallVector<Value> sums;
  for (int64_t i = 0; i < down; ++i) {
    for (int64_t n = 0; n < across * 4; ++n) {
      sums.push_back(first(min(rowOf(i, n % 4), left.lines - 1)));
    }
  }
  sums = by.inVectors ? sumsOfVectors(left, right, depth, {row, column}, {ownRow, ownColumn}, sums)
                      : sumsOfElements(left, right, depth, {row, column}, {ownRow, ownColumn}, sums);
  for (size_t n = 0; n < sums.size(); n += by.inPairs ? 2 : 1) {
    auto tile = static_cast<int64_t>(n) / 4, e = static_cast<int64_t>(n) % 4;
    Ix r = rowOf(tile / across, e), c = columnOf(tile % across, e);
    Value isThere = arith::AndIOp::create(w.b, w.loc, w.compare(arith::CmpIPredicate::slt, r, left.lines),
                                          w.compare(arith::CmpIPredicate::slt, c, right.lines));
    w.ifThen(isThere, [&] {
      finish(r, c,
             by.inPairs ? vector::FromElementsOp::create(w.b, w.loc, VectorType::get({2}, sumType()),
                                                         ValueRange{sums[n], sums[n + 1]})
                              .getResult()
                        : sums[n]);
    });
  }
}

} // namespace ingot::targets::cuda
