#include "targets/cuda/TileProduct.h"
#include "compiler/lower/core/Threads.h"
#include "compiler/lower/core/Vectors.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "targets/cuda/ByteDots.h"

using namespace mlir;

namespace ingot::targets::cuda {

using lower::Ix;

/// Threads are neighbours along what is contiguous in memory. A line behind the last one is the last one: its sums are
/// not wanted.
TileProduct::Part TileProduct::partOf(const Factor &factor, int64_t lines, Ix from, Ix thread) {
  Part part;
  Ix last = factor.lines - 1;
  auto lineAt = [&](Ix line) { return factor.line(min(from + line, last)); };
  if (factor.alongDepth) {
    Ix depth = remainder(thread, step), first = floorDiv(thread, step);
    for (int64_t i = 0; i < lines; i += threads / step) {
      part.load.push_back(lineAt(first + i));
      part.depth.push_back(depth);
      part.at.push_back(depth * pitchOf(lines) + first + i);
    }
    return part;
  }
  Ix line = remainder(thread, lines), first = floorDiv(thread, lines);
  auto load = lineAt(line);
  for (int64_t k = 0; k < step; k += threads / lines) {
    part.load.push_back(load);
    part.depth.push_back(first + k);
    part.at.push_back((first + k) * pitchOf(lines) + line);
  }
  return part;
}

Value TileProduct::multiplyAdd(Value a, Value b, Value sum) {
  if (leftBytes) {
    return dotOfFour(w, leftBytes, a, b, sum);
  }
  return isa<FloatType>(element)
             ? w.fma(a, b, sum)
             : arith::AddIOp::create(w.b, w.loc, sum, arith::MulIOp::create(w.b, w.loc, a, b)).getResult();
}

void TileProduct::write(const Factor &left, const Factor &right, Ix depth, Ix row, Ix column,
                        llvm::function_ref<Value(Ix row)> first,
                        llvm::function_ref<void(Ix row, Ix column, Value sum)> finish) {
  Ix thread = lower::threadNumber(w), tx = remainder(thread, side), ty = floorDiv(thread, side);
  int64_t bytes = std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
  lower::Buffer shared = lower::sharedMemory(w);
  lower::Buffer a = w.scratch(shared, 0, element, step * pitchOf(rows));
  lower::Buffer b = w.scratch(shared, bytes * step * pitchOf(rows), element, step * pitchOf(columns));
  Part ofA = partOf(left, rows, row, thread), ofB = partOf(right, columns, column, thread);
  auto bring = [&](const Part &part, lower::Buffer to, Ix from) {
    SmallVector<Value> loaded;
    for (auto [load, offset] : llvm::zip_equal(part.load, part.depth)) {
      Ix k = from + offset;
      Value v = isWhole ? load(from, offset) : load(0, min(k, depth - 1));
      if (!isWhole) {
        Value isThere = w.compare(arith::CmpIPredicate::slt, k, depth);
        v = arith::SelectOp::create(w.b, w.loc, isThere, v, w.constant(0, element));
      }
      loaded.push_back(v);
    }
    for (auto [v, at] : llvm::zip_equal(loaded, part.at)) {
      w.store(v, to, at);
    }
  };
  int64_t across = columns / side;
  SmallVector<Value> sums;
  for (int64_t i = 0; i < rows / side; ++i) {
    sums.append(across, first(min(row + ty + i * side, left.lines - 1)));
  }
  sums = w.loop(0, depth, step, sums, [&](Ix from, ValueRange carried) {
    bring(ofA, a, from);
    bring(ofB, b, from);
    lower::barrier(w);
    constexpr int64_t together = 4;
    auto next = w.loop(0, step, together, carried, [&](Ix k0, ValueRange before) {
      SmallVector<Value> after(before);
      for (int64_t k = 0; k < together; ++k) {
        SmallVector<Value> x, y;
        for (int64_t i = 0; i < rows / side; ++i) {
          x.push_back(w.load(a, (k0 + k) * pitchOf(rows) + ty + i * side));
        }
        for (int64_t j = 0; j < across; ++j) {
          y.push_back(w.load(b, (k0 + k) * pitchOf(columns) + tx + j * side));
        }
        for (auto [n, sum] : llvm::enumerate(after)) {
          sum = multiplyAdd(x[n / across], y[n % across], sum);
        }
      }
      return after;
    });
    lower::barrier(w);
    return next;
  });
  for (int64_t i = 0; i < rows / side; ++i) {
    Ix r = row + ty + i * side;
    w.ifThen(w.compare(arith::CmpIPredicate::slt, r, left.lines), [&] {
      for (int64_t j = 0; j < across; ++j) {
        Ix c = column + tx + j * side;
        w.ifThen(w.compare(arith::CmpIPredicate::slt, c, right.lines), [&] { finish(r, c, sums[i * across + j]); });
      }
    });
  }
}

} // namespace ingot::targets::cuda
