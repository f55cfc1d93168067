#include "targets/cuda/TensorProduct.h"
#include "compiler/lower/LowerKernels.h"
#include "compiler/lower/Policies.h"
#include "compiler/lower/core/Threads.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "compiler/plan/KernelAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cuda/Architectures.h"
#include "targets/cuda/ByteDots.h"
#include "targets/cuda/Instructions.h"
#include "targets/cuda/SplitFloats.h"

using namespace mlir;

namespace ingot::targets::cuda {

using lower::Ix;

/// Returns how many products of tf32 may be one of float32, none where float32 are multiplied as they are.
static int64_t productsOfFloat(Operation *root, const Architecture &architecture) {
  constexpr int64_t exact = 3;
  auto module = root->getParentOfType<ModuleOp>();
  auto policy = lower::policyOf<lower::Use>(module, lower::splitFloatsName);
  if (module->hasAttr(plan::strictName) || policy == lower::Use::Off || architecture.tf32 == 0) {
    return 0;
  }
  if (module->hasAttr(lower::fastName) && architecture.tf32 > architecture.flops) {
    return 1;
  }
  return policy == lower::Use::On || architecture.tf32 > exact * architecture.flops ? exact : 0;
}

TensorProduct::Numbers TensorProduct::numbersFor(Operation *root, Value left, Value right,
                                                 const target::MachineModel &machine) {
  Type a = onnx::elementOf(left), b = onnx::elementOf(right);
  if (areInt8(left, right) || (a == b && a.isF16())) {
    return {a};
  }
  if (a != b || !(a.isBF16() || a.isF32())) {
    return {};
  }
  Numbers numbers = {{}, 0};
  for (const Architecture *each : requestOf(machine).architectures) {
    int64_t products = a.isF32() ? productsOfFloat(root, *each) : each->tf32 == 0 ? 0 : 1;
    if (products == 0) {
      numbers.without.push_back(each->number());
    } else {
      numbers.element = a, numbers.products = std::max(numbers.products, products);
    }
  }
  return numbers ? numbers : Numbers();
}

lower::Buffer TensorProduct::raw(lower::Writer &w, const lower::Buffer &buffer) {
  return buffer.narrow ? lower::Buffer{buffer.memref, w.b.getI16Type()} : buffer;
}

void TensorProduct::writeAsMemoryIs(lower::Writer &w, Wide &vectors, Wide &pairs,
                                    llvm::function_ref<void(Accesses)> write) {
  std::optional<Value> isWide = vectors.condition(), arePairs = isWide ? pairs.condition() : std::nullopt;
  if (arePairs) {
    isWide = arith::AndIOp::create(w.b, w.loc, *isWide, *arePairs);
  }
  writeWhereWide(w, isWide, [&] { write({true, arePairs.has_value()}); }, [&] { write({}); });
}

TensorProduct::Shared TensorProduct::sharedAt(Ix byte, bool alongDepth) {
  lower::Buffer shared = lower::sharedMemory(w);
  Type type = numbers.areFloats() ? element : Type(w.b.getI16Type());
  return {w.scratch(shared, byte, type, side * step), w.scratch(shared, byte, w.b.getI32Type(), factorBytes(side) / 4),
          alongDepth};
}

Value TensorProduct::addressIn(lower::Writer &w, const lower::Buffer &buffer, Ix element, int64_t bytes) {
  Value address = w.value(w.ix(w.address(buffer)) + element * bytes);
  return arith::IndexCastOp::create(w.b, w.loc, w.b.getI64Type(), address);
}

/// Neighbouring threads load what is contiguous in memory; a line behind the last one is the last one.
void TensorProduct::bring(const Factor &factor, Ix from, Ix depth, Ix line, const Shared &to) {
  Ix thread = threadNumber(), last = factor.lines - 1;
  int64_t inRow = factor.alongDepth ? step : side, rows = factor.alongDepth ? side : step;
  Ix inner = remainder(thread, inRow), outer = floorDiv(thread, inRow);
  // The loads are in a loop where all of them at once would take registers that the sums need.
  constexpr int64_t few = 8;
  int64_t perLoad = threads() / inRow, inWord = 4 / numbers.bytes();
  int64_t loads = factor.isCostly || !isWhole ? std::min(rows / perLoad, few) : rows / perLoad;
  auto bringSome = [&](Ix begin, ValueRange) {
    SmallVector<Value> loaded;
    SmallVector<Ix> places;
    for (int64_t i = 0; i < loads * perLoad; i += perLoad) {
      Ix k = factor.alongDepth ? inner : outer + begin + i, own = factor.alongDepth ? outer + begin + i : inner;
      Factor::Load load = factor.line(min(line + own, last));
      Value v = isWhole ? load(from, k) : load(0, min(from + k, depth - 1));
      if (!isWhole) {
        Value isThere = w.compare(arith::CmpIPredicate::slt, from + k, depth);
        v = arith::SelectOp::create(w.b, w.loc, isThere, v, w.constant(0, v.getType()));
      }
      loaded.push_back(v), places.push_back(wordAt(own, floorDiv(k, inWord)) * inWord + remainder(k, inWord));
    }
    for (auto [v, at] : llvm::zip_equal(loaded, places)) {
      w.store(v, to.numbers, at);
    }
    return SmallVector<Value>();
  };
  w.loop(0, rows, loads * perLoad, ValueRange(), bringSome, /*unroll=*/false);
}

Ix TensorProduct::swizzled(bool alongDepth, Ix row, Ix number) {
  // A row of steps is half of all banks, so that two rows are side by side. Four rows of float32 lines are read
  // together, two vectors of each.
  Ix turn = alongDepth            ? remainder(floorDiv(row, 2), step / lanes)
            : numbers.areFloats() ? remainder(row, 4) * 2
                                  : remainder(row, lanes);
  return row * (alongDepth ? step : side) +
         w.ix(arith::XOrIOp::create(w.b, w.loc, w.value(number), w.value(turn))) * lanes;
}

/// Sizes are multiples of a vector: for one behind the last line, the last is given; of one behind the depth nothing is
/// copied, so that it counts as zeros. Where the depth is whole steps, all of a step is there or nothing of it, and its
/// place goes on from step to step by one number.
void TensorProduct::copyVectors(const Factor &factor, Ix from, Ix depth, Ix line, const Shared &to) {
  Ix thread = threadNumber();
  bool along = factor.alongDepth;
  int64_t inRow = (along ? step : side) / lanes, rows = along ? side : step;
  Ix inner = remainder(thread, inRow), outer = floorDiv(thread, inRow);
  for (int64_t i = 0; i < rows; i += threads() / inRow) {
    Ix row = outer + i, k = from + (along ? inner * lanes : row), own = line + (along ? row : inner * lanes);
    Value isThere = w.compare(arith::CmpIPredicate::slt, isWhole ? from : k, depth);
    k = isWhole ? k : min(k, depth - (along ? lanes : 1));
    Value source = factor.address(min(own, factor.lines - (along ? 1 : lanes)), k);
    copyVector(w, addressIn(w, to.numbers, swizzled(along, row, inner), numbers.bytes()), source, isThere);
  }
}

SmallVector<Value> TensorProduct::matrices(const Shared &from, bool isLeft, Ix line, int64_t k) {
  constexpr int64_t rows = 8; // of a matrix, each 16 bytes
  Ix lane = remainder(threadNumber(), 32), within = remainder(lane, rows);
  Ix second = remainder(floorDiv(lane, rows), 2), third = floorDiv(lane, 2 * rows);
  Ix lineBit = isLeft ? second : third, depthBit = isLeft ? third : second;
  Ix at = from.alongDepth ? swizzled(true, line + within + lineBit * rows, depthBit + k / lanes)
                          : swizzled(false, within + depthBit * rows + k, floorDiv(line, rows) + lineBit);
  return loadMatrices(w, addressIn(w, from.numbers, at, numbers.bytes()), !from.alongDepth);
}

SmallVector<Value> TensorProduct::registersOf(const Shared &from, bool isLeft, Ix line, int64_t k) {
  if (by.inVectors && (from.alongDepth || !numbers.areFloats())) {
    return matrices(from, isLeft, line, k);
  }
  Ix lane = remainder(threadNumber(), 32), own = line + floorDiv(lane, 4);
  Ix word = remainder(lane, 4) + k * numbers.bytes() / 4;
  SmallVector<Value> all;
  for (int64_t i = 0; i < 4; ++i) {
    int64_t eightLines = isLeft ? i % 2 : i / 2, fourWords = isLeft ? i / 2 : i % 2;
    all.push_back(wordOf(from, own + eightLines * 8, word + fourWords * 4));
  }
  return all;
}

/// A warp stores one step of 32 lines, and reads 4 words of 8 lines. Two lines go through all banks; so 16 pairs of
/// lines have a word at different places, and 4 of them 4 neighbours in different fours.
Ix TensorProduct::wordAt(Ix line, Ix number) {
  constexpr int64_t words = 16; // of a step
  Ix two = floorDiv(line, 2), turn = remainder(two, 4) * 4 + remainder(floorDiv(two, 4), 4);
  return line * words + w.ix(arith::XOrIOp::create(w.b, w.loc, w.value(number), w.value(turn)));
}

Value TensorProduct::wordOf(const Shared &from, Ix line, Ix number) {
  bool inVectorsOfLines = by.inVectors && !from.alongDepth;
  return w.load(from.words, inVectorsOfLines ? swizzled(false, number, floorDiv(line, lanes)) + remainder(line, lanes)
                                             : wordAt(line, number));
}

TensorProduct::Registers TensorProduct::columnsOf(const Shared &b, Ix column, int64_t k) {
  Registers columns;
  for (int64_t j = 0; j < warpColumns; j += 16) {
    SmallVector<Value> two = registersOf(b, false, column + j, k);
    columns.push_back({two[0], two[1]}), columns.push_back({two[2], two[3]});
  }
  return columns;
}

SmallVector<Value> TensorProduct::multiplyStep(const Shared &a, const Shared &b, Place own, ValueRange sums) {
  constexpr int64_t across = warpColumns / 8;
  SmallVector<Value> next(sums);
  for (int64_t k = 0; k < step; k += step / 2) {
    Registers columns = columnsOf(b, own.column, k);
    for (int64_t i = 0; i < warpRows() / 16; ++i) {
      SmallVector<Value> lines = registersOf(a, true, own.row + i * 16, k);
      for (int64_t j = 0; j < across; ++j) {
        auto tile = MutableArrayRef(next).slice((i * across + j) * 4, 4);
        llvm::copy(multiplyMatrices(w, element, lines, columns[j], ValueRange(tile)), tile.begin());
      }
    }
  }
  return next;
}

SmallVector<Value> TensorProduct::multiplyFloats(const Shared &a, const Shared &b, Place own, ValueRange sums) {
  constexpr int64_t across = warpColumns / 8, halves = 2; // of a step
  std::array<SmallVector<SplitFloats, halves>, across> columns;
  for (int64_t half = 0; half < halves; ++half) {
    for (auto [words, parts] : llvm::zip_equal(columnsOf(b, own.column, half * step / halves), columns)) {
      parts.emplace_back(w, words, numbers.products);
    }
  }
  SmallVector<Value> next(sums);
  for (int64_t i = 0; i < warpRows() / 16; ++i) {
    SmallVector<SplitFloats, halves> lines;
    for (int64_t half = 0; half < halves; ++half) {
      lines.emplace_back(w, registersOf(a, true, own.row + i * 16, half * step / halves), numbers.products);
    }
    for (int64_t j = 0; j < across; ++j) {
      addSplitProducts(w, lines, columns[j], MutableArrayRef(next).slice((i * across + j) * 4, 4));
    }
  }
  return next;
}

Value TensorProduct::numberOf(const Shared &from, Ix line, Ix k) {
  int64_t inWord = 4 / numbers.bytes();
  Ix at = !by.inVectors     ? wordAt(line, floorDiv(k, inWord)) * inWord + remainder(k, inWord)
          : from.alongDepth ? swizzled(true, line, floorDiv(k, lanes)) + remainder(k, lanes)
                            : swizzled(false, k, floorDiv(line, lanes)) + remainder(line, lanes);
  Value v = w.load(from.numbers, at);
  if (numbers.areFloats()) {
    return v;
  }
  constexpr int64_t lacking = 16; // bits of a bfloat16, which are a float's upper ones
  Type word = w.b.getI32Type();
  v = arith::ExtUIOp::create(w.b, w.loc, word, v);
  v = arith::ShLIOp::create(w.b, w.loc, v, w.constant(lacking, word));
  return arith::BitcastOp::create(w.b, w.loc, w.b.getF32Type(), v);
}

SmallVector<Value> TensorProduct::multiplyByThreads(const Shared &a, const Shared &b, Place own, ValueRange sums) {
  constexpr int64_t across = warpColumns / 8;
  Ix lane = remainder(threadNumber(), 32), group = floorDiv(lane, 4), within = remainder(lane, 4) * 2;
  return w.loop(0, step, 1, sums, [&](Ix k, ValueRange carried) {
    SmallVector<Value> next(carried), columns;
    for (int64_t j = 0; j < 2 * across; ++j) {
      columns.push_back(numberOf(b, own.column + (j / 2 * 8 + j % 2) + within, k));
    }
    for (int64_t i = 0; i < warpRows() / 8; ++i) {
      Value x = numberOf(a, own.row + i * 8 + group, k);
      for (int64_t j = 0; j < 2 * across; ++j) {
        Value &sum = next[(i / 2 * across + j / 2) * 4 + i % 2 * 2 + j % 2];
        sum = w.fma(x, columns[j], sum);
      }
    }
    return next;
  });
}

SmallVector<Value> TensorProduct::multiply(const Shared &a, const Shared &b, Place own, ValueRange sums) {
  auto byInstructions = [&] {
    return numbers.areFloats() ? multiplyFloats(a, b, own, sums) : multiplyStep(a, b, own, sums);
  };
  if (byThreads || numbers.without.empty()) {
    return byThreads ? multiplyByThreads(a, b, own, sums) : byInstructions();
  }
  return w.chooseValues(
      isForAny(w, numbers.without), [&] { return multiplyByThreads(a, b, own, sums); }, byInstructions);
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
    SmallVector<Value> next = multiply(a, b, own, carried);
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
    endCopies(w);
  };
  for (int64_t ahead = 0; ahead < stages - 1; ++ahead) {
    copy(ahead * step);
  }
  SmallVector<Value> all = w.loop(0, depth, step, sums, [&](Ix from, ValueRange carried) {
    waitForCopies(w, stages - 2); // those of this step are there
    lower::barrier(w);
    copy(from + (stages - 1) * step);
    auto [a, b] = stageAt(from);
    return multiply(a, b, own, carried);
  });
  waitForCopies(w, 0); // nothing may be under way when the block ends
  return all;
}

Ix TensorProduct::threadNumber() { return lower::threadNumber(w) + none; }

TensorProduct::Thread TensorProduct::thisThread() {
  Ix thread = threadNumber(), warp = floorDiv(thread, 32), lane = remainder(thread, 32);
  Ix group = floorDiv(lane, 4), within = remainder(lane, 4);
  int64_t warpsInRow = side / warpColumns;
  Ix row = floorDiv(warp, warpsInRow) * warpRows(), column = remainder(warp, warpsInRow) * warpColumns;
  return {{row, column}, group, within};
}

Ix TensorProduct::rowOf(Ix tile, const Thread &thread, int64_t n) {
  constexpr int64_t across = warpColumns / 8;
  return tile + thread.warp.row + (n / 4 / across * 16 + n % 4 / 2 * 8) + thread.group;
}

Ix TensorProduct::columnOf(Ix tile, const Thread &thread, int64_t n) {
  constexpr int64_t across = warpColumns / 8;
  return tile + thread.warp.column + (n / 4 % across * 8 + n % 2) + thread.within * 2;
}

SmallVector<Value> TensorProduct::sumsOf(const Factor &left, const Factor &right, Ix depth, Place tile,
                                         const Thread &thread, llvm::function_ref<Value(Ix row)> first) {
  SmallVector<Value> sums;
  int64_t count = warpRows() / 16 * (warpColumns / 8) * 4;
  for (int64_t n = 0; n < count; ++n) {
    sums.push_back(first(min(rowOf(tile.row, thread, n), left.lines - 1)));
  }
  return by.inVectors ? sumsOfVectors(left, right, depth, tile, thread.warp, sums)
                      : sumsOfElements(left, right, depth, tile, thread.warp, sums);
}

void TensorProduct::write(const Factor &left, const Factor &right, Ix depth, Ix row, Ix column,
                          llvm::function_ref<Value(Ix row)> first,
                          llvm::function_ref<void(Ix row, Ix column, Value sum)> finish) {
  Thread thread = thisThread();
  SmallVector<Value> sums = sumsOf(left, right, depth, {row, column}, thread, first);
  if (numbers.areFloats()) {    // other products are exact
    auto again = [&](Ix zero) { // without stages and vectors, whose addresses would take registers
      bool inVectors = std::exchange(by.inVectors, false);
      byThreads = true, none = zero;
      SmallVector<Value> exact = sumsOf(left, right, depth, {row + none, column + none}, thisThread(), first);
      byThreads = false, none = 0, by.inVectors = inVectors;
      return exact;
    };
    sums = againIfNotFinite(w, zeroIfFinite(w, sums), numbers.without, sums, again);
  }
  for (size_t n = 0; n < sums.size(); n += by.inPairs ? 2 : 1) {
    auto number = static_cast<int64_t>(n);
    Ix r = rowOf(row, thread, number), c = columnOf(column, thread, number);
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
