#include "compiler/lower/conv/PlanarPool.h"
#include "compiler/lower/core/Vectors.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/target/Platform.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ingot::lower {
namespace {

/// The most bytes of a line, and of all lines; the most vectors of columns that are folded in one loop; the most taps
/// of a line that are written out, while longer windows loop.
constexpr int64_t lineBytes = 4 << 10, bytesOfLines = 8 << 10, vectorsTogether = 4, staticTaps = 7;

/// The least lanes of a vector that is shorter than a machine's.
constexpr int64_t leastLanes = 4;

/// Calls `body` for vectors that cover [from, to), without masks: the last vector begins where it ends with them, and
/// does again what others have done. (What a masked store has written is loaded late.) Few elements have shorter
/// vectors.
void overlapping(Writer &w, Ix from, Ix to, int64_t lanes,
                 llvm::function_ref<void(ArrayRef<Ix> at, int64_t lanes)> body) {
  Ix extent = to - from;
  if (lanes < leastLanes) {
    return w.loop(from, to, 1, [&](Ix i) { body({i}, 1); });
  }
  auto vectors = [&] {
    w.balanced(0, floorDiv(extent, lanes), vectorsTogether, [&](Ix i, int64_t together) {
      SmallVector<Ix> at;
      for (int64_t v = 0; v < together; ++v) {
        at.push_back(from + (i + v) * lanes);
      }
      body(at, lanes);
    });
    if (!extent.known() || extent.number() % lanes) {
      body({to - lanes}, lanes);
    }
  };
  if (!extent.known()) {
    return w.ifElse(w.compare(arith::CmpIPredicate::sge, extent, lanes), vectors,
                    [&] { overlapping(w, from, to, lanes / 2, body); });
  }
  extent.number() >= lanes ? vectors() : overlapping(w, from, to, lanes / 2, body);
}

/// Calls `body` for vectors that cover [from, to) and do not overlap; the last ones are shorter.
void disjoint(Writer &w, Ix from, Ix to, int64_t lanes, llvm::function_ref<void(Ix at, int64_t lanes)> body) {
  Ix end = to - remainder(to - from, lanes);
  w.loop(from, end, lanes, [&](Ix i) { body(i, lanes); });
  if (lanes > 1) {
    disjoint(w, end, to, lanes > leastLanes ? lanes / 2 : 1, body);
  }
}

} // namespace

int64_t PlanarPool::spanOf(const PoolAxis &axis, int64_t outputs) {
  return (outputs - 1) * axis.step + (axis.taps - 1) * axis.tapStep + 1;
}

/// Returns whole vectors of outputs, unless a line has all outputs of a row; 0: a line does not even have a vector.
int64_t PlanarPool::outputsOfLine(const PoolAxis &axis, Type element, int64_t lanes) {
  int64_t most = lineBytes / onnx::elementBytes(element), vector = spanOf(axis, lanes);
  if (axis.out.known() && spanOf(axis, axis.out.number()) <= most) {
    return axis.out.number();
  }
  return vector > most ? 0 : lanes + (most - vector) / axis.step / lanes * lanes;
}

/// A window of one column, or of one row, is folded in one pass. So is one that shares no column with its neighbours
/// where masks do the last outputs of a row. Threads of a GPU have no stack to speak of, and where code is to be small,
/// so is the stack.
bool PlanarPool::fits(const Pool &pool, Type element, const target::MachineModel &machine) {
  const auto &[slices, rows, columns] = pool.axes;
  bool pays = columns.taps > 1 && slices.taps * rows.taps > 1 && (columns.taps > columns.step || !machine.maskedAccess);
  return pays && outputsOfLine(columns, element, machine.lanes) > 0 && !machine.itemsAreThreads &&
         !target::platformOf(machine).smallCode;
}

PlanarPool::PlanarPool(Build &build, const Pool &pool, Buffer x, const Space &space, Ix rowsOfItem)
    : w(build.w), group(build.group), pool(pool), x(x), space(space), axis(pool.axes[2]),
      most(outputsOfLine(axis, x.element, build.w.machine.lanes)), rowsOfItem(rowsOfItem) {
  int64_t lanes = w.machine.lanes;
  pitch = llvm::alignTo(spanOf(axis, most), lanes);
  together = bytesOfLines / (pitch * onnx::elementBytes(x.element));
  if (rowsOfItem.known()) {
    together = std::clamp<int64_t>(rowsOfItem.number(), 1, together);
  }
  lines = w.local(x.element, together * pitch);
  if (tapsDiffer()) {
    columnTaps = w.local(x.element, llvm::alignTo(most, lanes));
  }
  begin(0);
}

/// Fills all lines with padding, and counts the taps of a line's outputs.
void PlanarPool::begin(Ix first) {
  auto elements = [](const Buffer &of) { return cast<MemRefType>(of.memref.getType()).getNumElements(); };
  int64_t lanes = w.machine.lanes;
  Value start = poolStart(w, pool, w.vectorOf(x.element, lanes));
  w.loop(0, elements(lines), lanes, [&](Ix i) { w.store(start, lines, i); });
  if (columnTaps) {
    w.loop(0, elements(columnTaps), lanes, [&](Ix i) {
      w.store(arith::SIToFPOp::create(w.b, w.loc, start.getType(), tapsOf(first + i, lanes)), columnTaps, i);
    });
  }
}

/// A line that has a row of outputs keeps its padding. Several rows go through the first pass before any of them goes
/// through the second one: a processor waits where it loads what parts of several stores have just written.
void PlanarPool::rows(llvm::function_ref<PoolRow(Ix)> rowAt) {
  w.loop(0, axis.out, most, [&](Ix first) {
    Ix count = min(most, axis.out - first);
    if (!axis.out.known() || axis.out.number() > most) {
      w.ifThen(w.compare(arith::CmpIPredicate::sgt, axis.out, most), [&] { begin(first); });
    }
    w.loop(0, rowsOfItem, together, [&](Ix row) {
      Ix some = together == 1 ? Ix(1) : min(together, rowsOfItem - row);
      w.loop(0, some, 1, [&](Ix i) { foldColumns(rowAt(row + i), i * pitch, first, count); });
      w.loop(0, some, 1, [&](Ix i) { outputs(rowAt(row + i), i * pitch, first, count); });
    });
  });
}

/// Folds the columns of the input that `count` outputs from one on need, into the line at an element.
void PlanarPool::foldColumns(const PoolRow &row, Ix line, Ix first, Ix count) {
  Ix begin = first * axis.step, from = max(axis.before - begin, 0),
     span = (count - 1) * axis.step + ((axis.taps - 1) * axis.tapStep + 1),
     to = max(from, min(axis.before + axis.in - begin, span));
  overlapping(w, from, to, w.machine.lanes, [&](ArrayRef<Ix> columns, int64_t lanes) {
    Vectors sums(columns.size(), poolStart(w, pool, w.vectorOf(x.element, lanes)));
    sums = row.fold(w, row.base + begin, sums, [&](Ix at, ValueRange carried) {
      Vectors next(carried);
      for (auto [sum, column] : llvm::zip_equal(next, columns)) {
        sum = poolFold(w, pool, sum, w.load(x, at + column, lanes));
      }
      return next;
    });
    for (auto [sum, column] : llvm::zip_equal(sums, columns)) {
      w.store(sum, lines, line + column);
    }
  });
}

/// Writes `count` outputs from one on.
void PlanarPool::outputs(const PoolRow &row, Ix line, Ix first, Ix count) {
  // An operand of the epilogue may share memory with the result. Vectors may not overlap then: the second one would
  // read what the first one has stored.
  if (group.kernel.getIns().size() > 1) {
    return disjoint(w, 0, count, w.machine.lanes, [&](Ix i, int64_t lanes) { foldLine(row, line, first, i, lanes); });
  }
  overlapping(w, 0, count, w.machine.lanes, [&](ArrayRef<Ix> at, int64_t lanes) {
    for (Ix i : at) {
      foldLine(row, line, first, i, lanes);
    }
  });
}

/// Writes a vector of outputs from the one at an element of a line on.
void PlanarPool::foldLine(const PoolRow &row, Ix line, Ix first, Ix output, int64_t lanes) {
  auto tap = [&](Ix k) { return w.loadStrided(lines, line + output * axis.step + k * axis.tapStep, axis.step, lanes); };
  Value window = tap(0);
  if (axis.taps <= staticTaps) {
    for (int64_t k = 1; k < axis.taps; ++k) {
      window = poolJoin(w, pool, window, tap(k));
    }
  } else {
    window = w.loop(1, axis.taps, 1, window,
                    [&](Ix k, ValueRange c) { return Vectors{poolJoin(w, pool, c[0], tap(k))}; })[0];
  }
  if (columnTaps) {
    Value taps = arith::SIToFPOp::create(w.b, w.loc, x.element, w.integer(row.taps(pool), w.b.getI32Type()));
    taps = arith::MulFOp::create(w.b, w.loc, w.splat(taps, lanes), w.load(columnTaps, output, lanes));
    window = arith::DivFOp::create(w.b, w.loc, window, taps);
  } else {
    window = poolFinish(w, pool, window, row.taps(pool) * Ix(axis.taps));
  }
  group.finish(window, space, row.pointAt(pool, first + output, lanes));
}

/// Whether an average has outputs of different numbers of taps along the line.
bool PlanarPool::tapsDiffer() const {
  if (pool.kind != Pool::Average) {
    return false;
  }
  auto [low, high] = axis.interior();
  return pool.countPadding ? !axis.padded(axis.out - 1).is(axis.taps) : !low.is(0) || !same(high, axis.out);
}

/// Returns how many taps of each output are in the input or, where they count, in its padding, as int32.
Value PlanarPool::tapsOf(Ix output, int64_t lanes) {
  Type type = w.vectorOf(w.b.getI32Type(), lanes);
  auto number = [&](int64_t n) { return w.constant(n, type); };
  auto splat = [&](Ix i) { return w.splat(w.integer(i, w.b.getI32Type()), lanes); };
  Value zero = number(0), begin = splat(output * axis.step);
  if (lanes > 1) {
    begin = arith::AddIOp::create(w.b, w.loc, begin, counting(w, lanes, axis.step));
  }
  // The first tap at or behind an element of the padded line, which begins so many elements behind the window.
  auto tapAt = [&](Ix element) {
    Value distance = arith::MaxSIOp::create(
        w.b, w.loc, arith::SubIOp::create(w.b, w.loc, splat(element + (axis.tapStep - 1)), begin), zero);
    return axis.tapStep == 1 ? distance
                             : arith::DivUIOp::create(w.b, w.loc, distance, number(axis.tapStep)).getResult();
  };
  Ix end = axis.before + axis.in + (pool.countPadding ? axis.after : Ix(0));
  Value last = arith::MinSIOp::create(w.b, w.loc, tapAt(end), number(axis.taps));
  return pool.countPadding ? last : arith::SubIOp::create(w.b, w.loc, last, tapAt(axis.before)).getResult();
}

} // namespace ingot::lower
