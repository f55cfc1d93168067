// Writes the steps of an LSTM, GRU or RNN. A step multiplies the last state with R and adds the input's part, which is
// there for all steps; from the accumulators the gates are computed and the new state is stored, so nothing but states
// goes through memory.
//
// Tiles are a few rows of the batch times a group of hidden blocks with all of their gates
// (lower/product/StateProduct.h). A GRU whose reset gate acts before the product has two stages in a step. States lie
// in scratch, padded to whole vectors: h twice, since a step reads the old one while it writes the new one.
#include "compiler/lower/product/RecurrentCell.h"
#include "compiler/lower/product/StateProduct.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ingot::lower {
namespace {

using onnx::Num;
using support::Size;

using GateStage = RecurrentPlan::GateStage;

class Network {
public:
  Network(Build &build, const RecurrentPlan &plan)
      : build(build), w(build.w), group(build.group), op(cast<onnx::RecurrenceOp>(group.root)), plan(plan),
        element(w.b.getF32Type()), vector(w.vectorOf(element, plan.lanes)),
        product(build, plan, Size(20) * plan.stateElements()), sequences(build, op) {
    Size state = plan.stateElements();
    auto piece = [&](int64_t at, int64_t states) {
      return w.scratch(build.scratch, Size(at * 4) * state, element, memoryExtent(Size(states) * state));
    };
    h = piece(0, 2), c = piece(2, 1), update = piece(3, 1), reset = piece(4, 1);
    p = group.buffer(op.getP()), peephole = group.buffer(op.getPeephole()), bias = group.buffer(op.getBias());
    if (plan.rest && !w.machine.maskedAccess) {
      part = w.local(element, plan.lanes);
    }
    y = resultFor(group, op.getY());
  }

  void run() {
    if (!plan.constantR) {
      product.pack(w.scratch(build.scratch, plan.stateElements() * Size(20), element, plan.packedElements()));
    }
    if (sequences.haveLengths()) {
      w.loop(0, plan.batch, 1, [&](Ix row) { sequences.check(row); });
    }
    start(op.getInitialH(), h), start(op.getInitialC(), c);
    w.loop(0, plan.steps, 1, [&](Ix step) { oneStep(step); });
    end(op.getYH(), h, remainder(Ix(plan.steps), 2) * plan.stateElements());
    end(op.getYC(), c, 0);
  }

private:
  Build &build;
  Writer &w;
  Group &group;
  onnx::RecurrenceOp op;
  const RecurrentPlan &plan;
  Type element, vector;
  StateProduct product;
  RecurrentSequences sequences;
  Buffer h, c, update, reset, p, peephole, bias, part, y;

  // Vectors of hidden units, of which the last may not be whole.

  Value load(Buffer from, Ix at, bool partial) {
    if (!partial) {
      return w.load(from, at, plan.lanes);
    }
    if (w.machine.maskedAccess) {
      return w.load(from, at, plan.lanes, w.maskFor(plan.rest, plan.lanes));
    }
    w.loop(0, plan.rest, 1, [&](Ix i) { w.store(w.load(from, at + i), part, i); });
    return w.load(part, 0, plan.lanes);
  }
  void store(Value v, Buffer to, Ix at, bool partial) {
    if (!partial) {
      w.store(v, to, at);
    } else if (w.machine.maskedAccess) {
      w.store(v, to, at, w.maskFor(plan.rest, plan.lanes));
    } else {
      w.store(v, part, 0);
      w.loop(0, plan.rest, 1, [&](Ix i) { w.store(w.load(part, i), to, at + i); });
    }
  }
  void eachBlock(llvm::function_ref<void(Ix unit, bool partial)> body) {
    w.loop(0, plan.hidden - plan.rest, plan.lanes, [&](Ix unit) { body(unit, false); });
    if (plan.rest) {
      body(plan.hidden - plan.rest, true);
    }
  }

  void start(Value initial, Buffer state) {
    Buffer from = onnx::present(initial) ? group.buffer(initial) : Buffer();
    w.loop(0, plan.batch, 1, [&](Ix row) {
      eachBlock([&](Ix unit, bool partial) {
        Value v = from ? load(from, row * plan.hidden + unit, partial) : w.constant(0, vector);
        w.store(v, state, row * plan.padded + unit);
      });
    });
  }
  void end(Value result, Buffer state, Ix at) {
    if (Buffer to = resultFor(group, result)) {
      w.loop(0, plan.batch, 1, [&](Ix row) {
        Value empty = sequences.isEmpty(row);
        eachBlock([&](Ix unit, bool partial) {
          Value v = w.load(state, at + row * plan.padded + unit, plan.lanes);
          if (empty) {
            v = arith::SelectOp::create(w.b, w.loc, empty, w.constant(0, vector), v);
          }
          store(v, to, row * plan.hidden + unit, partial);
        });
      });
    }
  }

  // A step.

  void oneStep(Ix step) {
    Ix parity = remainder(step, 2), state = plan.stateElements();
    Ix from = parity * state, to = (Ix(1) - parity) * state;
    for (size_t i = 0; i < plan.stages.size(); ++i) {
      const GateStage &stage = plan.stages[i];
      product.read(i ? reset : h, i ? Ix(0) : from);
      // R is read once in a step, since all rows take a group of blocks before the next one.
      auto allRows = [&](Ix unit, int64_t blocks, bool partial) {
        w.balanced(plan.batch, plan.rows, [&](Ix first, int64_t count) {
          tile({first, count, step}, stage, i, unit, blocks, from, to, partial);
        });
      };
      int64_t size = stage.group * plan.lanes, whole = plan.hidden / size;
      w.loop(0, whole, 1, [&](Ix g) { allRows(g * size, stage.group, false); });
      if (plan.hidden % size) {
        allRows(whole * size, plan.blocks - whole * stage.group, plan.rest != 0);
      }
    }
  }

  /// Rows of the batch, from `first` on, in a step.
  struct Rows {
    Ix first;
    int64_t count;
    Ix step;
  };

  static constexpr int64_t mostWrittenOut = 2; ///< rows whose gates are written one behind the other

  /// Computes `blocks` blocks of units of some rows. The gates of more rows are written in a loop over a small array:
  /// written out, their functions would be more code than is fast to run, and have no registers beside the sums.
  void tile(const Rows &rows, const GateStage &stage, size_t stageIndex, Ix unit, int64_t blocks, Ix from, Ix to,
            bool partial) {
    int64_t g = stage.gates.size(), width = blocks * g;
    Ixs numbers;
    for (int64_t n = 0; n < rows.count; ++n) {
      numbers.push_back(rows.first + Ix(n));
    }
    SmallVector<Value> sums = product.sums(stage, numbers, unit, blocks);
    auto finishRow = [&](Ix n, llvm::function_ref<Value(int64_t)> sumOf) {
      RecurrentSequences::Row row = sequences.at(rows.first + n, rows.step);
      for (int64_t u = 0; u < blocks; ++u) {
        SmallVector<Value> mine;
        for (int64_t i = 0; i < g; ++i) {
          mine.push_back(sumOf(u * g + i));
        }
        unitBlock({row, unit + Ix(u * plan.lanes), from, to, partial && u + 1 == blocks}, stage, stageIndex, mine);
      }
    };
    if (rows.count <= mostWrittenOut) {
      for (int64_t n = 0; n < rows.count; ++n) {
        finishRow(n, [&](int64_t i) { return sums[n * width + i]; });
      }
      return;
    }
    Buffer kept = w.local(element, rows.count * width * plan.lanes);
    for (auto [i, sum] : llvm::enumerate(sums)) {
      w.store(sum, kept, static_cast<int64_t>(i) * plan.lanes);
    }
    w.loop(0, rows.count, 1, [&](Ix n) {
      finishRow(n, [&](int64_t i) { return w.load(kept, (n * width + Ix(i)) * plan.lanes, plan.lanes); });
    });
  }

  /// A vector of hidden units of one row.
  struct Units {
    RecurrentSequences::Row row;
    Ix unit, from, to;
    bool partial;
  };

  RecurrentCell cellOf(const Units &at) {
    RecurrentCell::Source source;
    source.input = [&](int64_t gate) {
      Ix base = ((at.row.time * Ix(plan.batch) + at.row.row) * plan.gates + Ix(gate)) * plan.hidden;
      return load(p, base + at.unit, at.partial);
    };
    if (peephole) {
      source.peephole = [&](int64_t gate) { return load(peephole, Ix(gate * plan.hidden) + at.unit, at.partial); };
    }
    if (bias) {
      source.bias = [&] { return load(bias, at.unit, at.partial); };
    }
    return RecurrentCell(w, op, source);
  }

  void unitBlock(const Units &at, const GateStage &stage, size_t stageIndex, ArrayRef<Value> sums) {
    Ix place = at.row.row * plan.padded + at.unit;
    RecurrentCell cell = cellOf(at);
    Num old = cell.num(w.load(h, at.from + place, plan.lanes));
    RecurrentCell::Nums x = cell.gates(stage.gates, sums);
    if (plan.kind == "LSTM") {
      Num before = cell.num(w.load(c, place, plan.lanes));
      RecurrentCell::Lstm next = cell.lstm(x, before);
      w.store(at.row.goesOn(w, next.cell, before), c, place);
      finish(at, place, next.state, old);
    } else if (plan.kind == "RNN") {
      finish(at, place, cell.rnn(x[0]), old);
    } else if (op.getLinearBeforeReset()) {
      finish(at, place, cell.gruLate(x, old), old);
    } else if (stageIndex == 0) {
      RecurrentCell::Gates gates = cell.gruGates(x, old);
      w.store(gates.update, update, place);
      w.store(gates.reset, reset, place);
    } else {
      finish(at, place, cell.gru(x[0], cell.num(w.load(update, place, plan.lanes)), old), old);
    }
  }

  void finish(const Units &at, Ix place, Num state, Num old) {
    w.store(at.row.goesOn(w, state, old), h, at.to + place);
    if (y) {
      Ix to = (at.row.time * Ix(plan.batch) + at.row.row) * plan.hidden + at.unit;
      store(at.row.goesOn(w, state, state.constant(0)), y, to, at.partial);
    }
  }
};

} // namespace

KernelShape recurrenceShape(plan::KernelOp kernel, const RecurrentPlan &plan) {
  KernelShape shape;
  shape.checked = onnx::present(cast<onnx::RecurrenceOp>(kernel.root()).getSequenceLens());
  Size floats = Size(5) * plan.stateElements() + Size(plan.constantR ? 0 : plan.packedElements());
  shape.scratchBytes = max(Size(64), Size(4) * floats + plan.scratchBytes());
  plan.pack(kernel, shape);
  shape.build = [plan](Build &build) {
    if (!plan.batch.is(0) && plan.hidden > 0) {
      Network(build, plan).run();
    }
  };
  return shape;
}

} // namespace ingot::lower
