#include "targets/cuda/WarpgroupProduct.h"
#include "compiler/lower/core/Threads.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cuda/Instructions.h"
#include "targets/cuda/TensorProduct.h"
#include "targets/cuda/Wide.h"

using namespace mlir;

namespace ingot::targets::cuda {

using lower::Ix;

constexpr int64_t barrierBytes = 8, elementBytes = 2;

/// The barriers are behind the stages. All of it is a multiple of what tiles have to begin at.
lower::Grid WarpgroupProduct::grid() {
  constexpr int64_t tileAlignment = 1024;
  return {{(groups + 1) * group, 1, 1}, stages * stageBytes + tileAlignment};
}

Value WarpgroupProduct::addressOf(Ix byte) {
  return TensorProduct::addressIn(w, lower::sharedMemory(w), byte, /*bytes=*/1);
}

Value WarpgroupProduct::full(Ix number) {
  return addressOf(remainder(number, stages) * barrierBytes + stages * stageBytes);
}

Value WarpgroupProduct::empty(Ix number) {
  return addressOf(remainder(number, stages) * barrierBytes + stages * (stageBytes + barrierBytes));
}

Value WarpgroupProduct::parityOf(Ix number, int64_t plus) {
  Value parity = w.value(remainder(floorDiv(number, stages) + plus, 2));
  return arith::IndexCastOp::create(w.b, w.loc, w.b.getI32Type(), parity);
}

void WarpgroupProduct::makeBarriers() {
  Value isFirst = w.compare(arith::CmpIPredicate::eq, lower::threadNumber(w), 0);
  w.ifThen(isFirst, [&] {
    for (int64_t stage = 0; stage < stages; ++stage) {
      makeBarrier(w, full(stage), group);
      makeBarrier(w, empty(stage), groups * group / warp);
    }
  });
  lower::barrier(w);
}

Ix WarpgroupProduct::placeOf(bool alongDepth, Ix line, Ix k) {
  auto swizzled = [&](Ix row, Ix number) { // of a vector in rows of 128 bytes
    Value turn = w.value(remainder(row, 8));
    return row * step + w.ix(arith::XOrIOp::create(w.b, w.loc, w.value(number), turn)) * lanes;
  };
  if (alongDepth) {
    return swizzled(line, floorDiv(k, lanes)) + remainder(k, lanes);
  }
  Ix within = remainder(line, step);
  return floorDiv(line, step) * (WarpgroupFactor::blockBytes / elementBytes) + swizzled(k, floorDiv(within, lanes)) +
         remainder(line, lanes);
}

/// A line behind the last one, and what is behind the depth, are as TensorProduct::copyVectors has them.
void WarpgroupProduct::copyVectors(const Factor &factor, Ix from, Ix depth, Ix line, Ix to) {
  Ix thread = lower::threadNumber(w) - groups * group;
  bool along = factor.alongDepth;
  int64_t inRow = (along ? step : side) / lanes, rows = along ? side : step;
  Ix inner = remainder(thread, inRow) * lanes, outer = floorDiv(thread, inRow);
  Ix first = placeOf(along, along ? outer : inner, along ? inner : outer);
  for (int64_t i = 0; i < rows; i += group / inRow) { // rows that are multiples of 8 apart are swizzled alike
    Ix k = from + (along ? inner : outer + i), own = line + (along ? outer + i : inner);
    Value isThere = w.compare(arith::CmpIPredicate::slt, isWhole ? from : k, depth);
    k = isWhole ? k : min(k, depth - (along ? lanes : 1));
    Value source = factor.address(min(own, factor.lines - (along ? 1 : lanes)), k);
    copyVector(w, addressOf(to + (first + i * step) * elementBytes), source, isThere);
  }
}

/// Threads load what TensorProduct::bring does.
void WarpgroupProduct::copyElements(const Factor &factor, Ix from, Ix depth, Ix line, Ix to) {
  lower::Buffer tile = w.scratch(lower::sharedMemory(w), to, w.b.getI16Type(), side * step);
  Ix thread = lower::threadNumber(w) - groups * group, last = factor.lines - 1;
  bool along = factor.alongDepth;
  int64_t inRow = along ? step : side, rows = along ? side : step;
  Ix inner = remainder(thread, inRow), outer = floorDiv(thread, inRow);
  constexpr int64_t few = 8; // loads at once
  auto bringSome = [&](Ix begin, ValueRange) {
    SmallVector<Value> loaded;
    SmallVector<Ix> places;
    for (int64_t i = 0; i < few; ++i) {
      Ix row = outer + begin + i * (group / inRow), k = along ? inner : row, own = along ? row : inner;
      Factor::Load load = factor.line(min(line + own, last));
      Value v = isWhole ? load(from, k) : load(0, min(from + k, depth - 1));
      if (!isWhole) {
        Value isThere = w.compare(arith::CmpIPredicate::slt, from + k, depth);
        v = arith::SelectOp::create(w.b, w.loc, isThere, v, w.constant(0, v.getType()));
      }
      loaded.push_back(v);
      places.push_back(placeOf(along, own, k));
    }
    for (auto [v, at] : llvm::zip_equal(loaded, places)) {
      w.store(v, tile, at);
    }
    return SmallVector<Value>();
  };
  w.loop(0, rows, few * (group / inRow), ValueRange(), bringSome, /*unroll=*/false);
}

void WarpgroupProduct::bringVectors(const Factor &left, const Factor &right, Ix depth, Ix row, Ix column) {
  Ix all = steps(depth);
  w.loop(0, all + ahead, 1, [&](Ix number) {
    w.ifThen(w.compare(arith::CmpIPredicate::slt, number, all), [&] {
      waitForPhase(w, empty(number), parityOf(number, 1));
      Ix stage = remainder(number, stages) * stageBytes;
      copyVectors(left, number * step, depth, row, stage);
      copyVectors(right, number * step, depth, column, stage + tileBytes);
    });
    endCopies(w);
    w.ifThen(w.compare(arith::CmpIPredicate::sge, number, ahead), [&] {
      waitForCopies(w, ahead);
      fenceForTensorCores(w);
      arrive(w, full(number - ahead));
    });
  });
}

void WarpgroupProduct::bringElements(const Factor &left, const Factor &right, Ix depth, Ix row, Ix column) {
  w.loop(0, steps(depth), 1, [&](Ix number) {
    waitForPhase(w, empty(number), parityOf(number, 1));
    Ix stage = remainder(number, stages) * stageBytes;
    copyElements(left, number * step, depth, row, stage);
    copyElements(right, number * step, depth, column, stage + tileBytes);
    fenceForTensorCores(w);
    arrive(w, full(number));
  });
}

SmallVector<Value> WarpgroupProduct::multiplyStep(const Factor &left, const Factor &right, Ix number, ValueRange sums) {
  Ix stage = remainder(number, stages) * stageBytes, own = floorDiv(lower::threadNumber(w), group);
  auto a = WarpgroupFactor::at(w, addressOf(stage + own * WarpgroupFactor::blockBytes), left.alongDepth);
  auto b = WarpgroupFactor::at(w, addressOf(stage + tileBytes), right.alongDepth);
  SmallVector<Value> next(sums);
  constexpr int64_t together = 16; // steps of an instruction
  beginProducts(w);
  for (int64_t k = 0; k < step; k += together) {
    next = multiplyByWarpgroup(w, element, a.from(w, k), b.from(w, k), next);
  }
  endProducts(w);
  return next;
}

SmallVector<Value> WarpgroupProduct::multiply(const Factor &left, const Factor &right, Ix depth, ValueRange begin) {
  Value isFirst = w.compare(arith::CmpIPredicate::eq, remainder(lower::threadNumber(w), warp), 0);
  SmallVector<Value> sums = w.loop(0, steps(depth), 1, begin, [&](Ix number, ValueRange carried) {
    waitForPhase(w, full(number), parityOf(number, 0));
    SmallVector<Value> next = waitForProducts(w, 1, multiplyStep(left, right, number, carried));
    Value wasOne = w.compare(arith::CmpIPredicate::sgt, number, 0);
    w.ifThen(arith::AndIOp::create(w.b, w.loc, isFirst, wasOne), [&] { arrive(w, empty(number + (stages - 1))); });
    return next;
  });
  return waitForProducts(w, 0, sums);
}

void WarpgroupProduct::write(const Factor &left, const Factor &right, Ix depth, Ix row, Ix column,
                             const Conditions &conditions, llvm::function_ref<Value(Ix row)> first,
                             llvm::function_ref<void(Ix row, Ix column, Value sum)> finish) {
  makeBarriers();
  Ix thread = lower::threadNumber(w), lane = remainder(thread, warp);
  auto bring = [&] {
    writeWhereWide(
        w, conditions.vectors, [&] { bringVectors(left, right, depth, row, column); },
        [&] { bringElements(left, right, depth, row, column); });
  };
  auto compute = [&] {
    constexpr int64_t sumsOfThread = side * step / group;
    Ix r = row + floorDiv(thread, warp) * 16 + floorDiv(lane, 4), c = column + remainder(lane, 4) * 2;
    Value ofRows[] = {first(min(r, left.lines - 1)), first(min(r + 8, left.lines - 1))};
    SmallVector<Value> sums;
    for (int64_t n = 0; n < sumsOfThread; ++n) {
      sums.push_back(ofRows[n % 4 / 2]);
    }
    sums = multiply(left, right, depth, sums);
    auto writeSums = [&](size_t together) {
      for (size_t n = 0; n < sums.size(); n += together) {
        auto i = static_cast<int64_t>(n);
        Ix m = r + i % 4 / 2 * 8, at = c + (i / 4 * 8 + i % 2);
        Value isThere = arith::AndIOp::create(w.b, w.loc, w.compare(arith::CmpIPredicate::slt, m, left.lines),
                                              w.compare(arith::CmpIPredicate::slt, at, right.lines));
        w.ifThen(isThere, [&] {
          Value sum = sums[n];
          if (together > 1) {
            auto pair = VectorType::get({2}, sumType());
            sum = vector::FromElementsOp::create(w.b, w.loc, pair, ValueRange{sums[n], sums[n + 1]});
          }
          finish(m, at, sum);
        });
      }
    };
    writeWhereWide(w, conditions.pairs, [&] { writeSums(2); }, [&] { writeSums(1); });
  };
  w.ifElse(w.compare(arith::CmpIPredicate::sge, thread, groups * group), bring, compute);
}

} // namespace ingot::targets::cuda
