#include "targets/cuda/TensorProduct.h"
#include "compiler/lower/core/Threads.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "targets/cuda/Architectures.h"

using namespace mlir;

namespace ingot::targets::cuda {

using lower::Ix;

Type TensorProduct::elementFor(Value left, Value right, const target::MachineModel &machine) {
  Type a = onnx::elementOf(left), b = onnx::elementOf(right);
  bool isHalf = a == b && (a.isF16() || a.isBF16());
  return isHalf && machine.cpu != architectures().front().name ? a : Type(); // all but the oldest have it
}

lower::Buffer TensorProduct::raw(lower::Writer &w, const lower::Buffer &buffer) {
  return {buffer.memref, w.b.getI16Type()};
}

/// Neighbouring threads load what is contiguous in memory; a line behind the last one is the last one.
void TensorProduct::bring(const Factor &factor, Ix from, Ix depth, Ix line, lower::Buffer to) {
  Ix thread = lower::threadNumber(w), last = factor.lines - 1;
  bool isWhole = depth.known() && depth.number() % step == 0;
  int64_t inRow = factor.alongDepth ? step : side, rows = factor.alongDepth ? side : step;
  Ix inner = remainder(thread, inRow), outer = floorDiv(thread, inRow);
  SmallVector<Value> loaded;
  SmallVector<Ix> places;
  for (int64_t i = 0; i < rows; i += threads / inRow) {
    Ix k = factor.alongDepth ? inner : outer + i, own = factor.alongDepth ? outer + i : inner;
    Value v = factor.line(min(line + own, last))(isWhole ? from + k : min(from + k, depth - 1));
    if (!isWhole) {
      Value isThere = w.compare(arith::CmpIPredicate::slt, from + k, depth);
      v = arith::SelectOp::create(w.b, w.loc, isThere, v, w.constant(0, v.getType()));
    }
    loaded.push_back(v), places.push_back(own * pitch + k);
  }
  for (auto [v, at] : llvm::zip_equal(loaded, places)) {
    w.store(v, to, at);
  }
}

Value TensorProduct::pairOf(lower::Buffer words, Ix line, Ix pair) {
  Value word = w.load(words, line * (pitch / 2) + pair);
  return element.isBF16() ? word : LLVM::BitcastOp::create(w.b, w.loc, VectorType::get({2}, element), word).getResult();
}

SmallVector<Value> TensorProduct::multiply(ArrayRef<Value> a, ArrayRef<Value> b, ValueRange sums) {
  Type f32 = w.b.getF32Type();
  auto type = LLVM::LLVMStructType::getLiteral(w.b.getContext(), {f32, f32, f32, f32});
  auto name = w.b.getStringAttr(element.isBF16() ? "llvm.nvvm.mma.m16n8k16.row.col.bf16"
                                                 : "llvm.nvvm.mma.m16n8k16.row.col.f32.f32");
  SmallVector<Value> operands(a);
  operands.append(b.begin(), b.end());
  operands.append(sums.begin(), sums.end());
  Value all = LLVM::CallIntrinsicOp::create(w.b, w.loc, type, name, operands)->getResult(0);
  SmallVector<Value> next;
  for (int64_t i = 0; i < 4; ++i) {
    next.push_back(LLVM::ExtractValueOp::create(w.b, w.loc, all, i));
  }
  return next;
}

void TensorProduct::write(const Factor &left, const Factor &right, Ix depth, Ix row, Ix column,
                          llvm::function_ref<Value(Ix row)> first,
                          llvm::function_ref<void(Ix row, Ix column, Value sum)> finish) {
  Ix thread = lower::threadNumber(w), warp = floorDiv(thread, 32), lane = remainder(thread, 32);
  Ix group = floorDiv(lane, 4), within = remainder(lane, 4);
  Ix ownRow = floorDiv(warp, 2) * share, ownColumn = remainder(warp, 2) * share;
  lower::Buffer shared = lower::sharedMemory(w);
  Type i16 = w.b.getI16Type(), i32 = w.b.getI32Type();
  constexpr int64_t bytes = side * pitch * 2;
  lower::Buffer a = w.scratch(shared, 0, i16, side * pitch), b = w.scratch(shared, bytes, i16, side * pitch);
  lower::Buffer wordsA = w.scratch(shared, 0, i32, side * pitch / 2),
                wordsB = w.scratch(shared, bytes, i32, side * pitch / 2);
  constexpr int64_t down = share / 16, across = share / 8;
  // Sums 0 and 1 of a tile of 16 by 8 are neighbours in row `group`, 2 and 3 in the row eight below.
  auto rowOf = [&](int64_t i, int64_t e) { return row + ownRow + (i * 16 + e / 2 * 8) + group; };
  auto columnOf = [&](int64_t j, int64_t e) { return column + ownColumn + (j * 8 + e % 2) + within * 2; };
  SmallVector<Value> sums;
  for (int64_t i = 0; i < down; ++i) {
    for (int64_t n = 0; n < across * 4; ++n) {
      sums.push_back(first(min(rowOf(i, n % 4), left.lines - 1)));
    }
  }
  sums = w.loop(0, depth, step, sums, [&](Ix from, ValueRange carried) {
    bring(left, from, depth, row, a);
    bring(right, from, depth, column, b);
    lower::barrier(w);
    SmallVector<Value> next(carried);
    for (int64_t k = 0; k < step / 2; k += 8) { // in pairs
      SmallVector<SmallVector<Value>> columns;
      for (int64_t j = 0; j < across; ++j) {
        Ix line = ownColumn + j * 8 + group;
        columns.push_back({pairOf(wordsB, line, within + k), pairOf(wordsB, line, within + (k + 4))});
      }
      for (int64_t i = 0; i < down; ++i) {
        Ix line = ownRow + i * 16 + group;
        Value lines[] = {pairOf(wordsA, line, within + k), pairOf(wordsA, line + 8, within + k),
                         pairOf(wordsA, line, within + (k + 4)), pairOf(wordsA, line + 8, within + (k + 4))};
        for (int64_t j = 0; j < across; ++j) {
          auto own = MutableArrayRef(next).slice((i * across + j) * 4, 4);
          llvm::copy(multiply(lines, columns[j], ValueRange(own)), own.begin());
        }
      }
    }
    lower::barrier(w);
    return next;
  });
  for (auto [n, sum] : llvm::enumerate(sums)) {
    auto tile = static_cast<int64_t>(n) / 4, e = static_cast<int64_t>(n) % 4;
    Ix r = rowOf(tile / across, e), c = columnOf(tile % across, e);
    Value isThere = arith::AndIOp::create(w.b, w.loc, w.compare(arith::CmpIPredicate::slt, r, left.lines),
                                          w.compare(arith::CmpIPredicate::slt, c, right.lines));
    w.ifThen(isThere, [&, sum = sum] { finish(r, c, sum); });
  }
}

} // namespace ingot::targets::cuda
