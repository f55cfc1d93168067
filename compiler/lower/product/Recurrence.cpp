// Writes the steps of an LSTM, GRU or RNN. A step multiplies the last state with R and adds the input's part, which is
// there for all steps; from the accumulators the gates are computed and the new state is stored, so nothing but states
// goes through memory.
//
// Tiles are a few rows of the batch times a group of hidden blocks with all of their gates
// (lower/product/StateProduct.h). A GRU whose reset gate acts before the product has two stages in a step. States lie
// in scratch, padded to whole vectors: h twice, since a step reads the old one while it writes the new one.
#include "compiler/lower/product/StateProduct.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/ScalarMath.h"
#include "compiler/onnx/ops/Recurrent.h"
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
        product(build, plan, Size(20) * plan.stateElements()) {
    Size state = plan.stateElements();
    auto piece = [&](int64_t at, int64_t states) {
      return w.scratch(build.scratch, Size(at * 4) * state, element, memoryExtent(Size(states) * state));
    };
    h = piece(0, 2), c = piece(2, 1), update = piece(3, 1), reset = piece(4, 1);
    p = group.buffer(op.getP()), peephole = group.buffer(op.getPeephole()), bias = group.buffer(op.getBias()),
    lengths = group.buffer(op.getSequenceLens());
    if (plan.rest && !w.machine.maskedAccess) {
      part = w.local(element, plan.lanes);
    }
    y = resultFor(op.getY());
  }

  void run() {
    if (!plan.constantR) {
      product.pack(w.scratch(build.scratch, plan.stateElements() * Size(20), element, plan.packedElements()));
    }
    checkLengths();
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
  Buffer h, c, update, reset, p, peephole, bias, lengths, part, y;

  /// The kernel's result for a root result; null when nobody uses it.
  Buffer resultFor(Value v) {
    auto yield = cast<plan::YieldOp>(group.kernel.getBody().front().getTerminator());
    for (auto [i, yielded] : llvm::enumerate(yield.getValues())) {
      if (yielded == v) {
        return group.result(i);
      }
    }
    return {};
  }

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
    if (Buffer to = resultFor(result)) {
      w.loop(0, plan.batch, 1, [&](Ix row) {
        Value empty = isEmpty(row);
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

  /// Whether a sequence has no steps (i1); null: it has some. The standard does not say what its last state is. It is
  /// zero, not the initial one, as ONNX Runtime has it.
  Value isEmpty(Ix row) {
    if (lengths) {
      return w.compare(arith::CmpIPredicate::eq, w.ix(w.load(lengths, row)), 0);
    }
    return plan.steps.atLeast(1, support::Facts()) ? Value() : w.compare(arith::CmpIPredicate::eq, plan.steps, 0);
  }

  void checkLengths() {
    if (!lengths) {
      return;
    }
    w.loop(0, plan.batch, 1, [&](Ix row) {
      Value length = w.load(lengths, row), most = w.integer(plan.steps, length.getType());
      build.failIf(w.compare(arith::CmpIPredicate::ugt, length, most)); // or negative
    });
  }

  // A step.

  /// A row of the batch in this step.
  struct Row {
    Ix row, time;
    Value active; ///< i1, whether its sequence goes on; null: always
  };

  Row rowAt(Ix row, Ix step) {
    if (!lengths) {
      return {row, op.getReverse() ? Ix(plan.steps - Size(1)) - step : step, {}};
    }
    Ix length = min(max(w.ix(w.load(lengths, row)), 0), plan.steps);
    Value active = w.compare(arith::CmpIPredicate::slt, step, length);
    if (!op.getReverse()) {
      return {row, step, active};
    }
    Value back = w.value(length - Ix(1) - step);
    return {row, w.ix(arith::SelectOp::create(w.b, w.loc, active, back, w.value(step))), active};
  }

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
      Row row = rowAt(rows.first + n, rows.step);
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
    Row row;
    Ix unit, from, to;
    bool partial;
  };

  Num num(Value v) { return Num(w.b, w.loc, v, element); }
  Num activate(unsigned i, Num x) {
    StringRef name = cast<StringAttr>(op.getActivations()[i]).getValue();
    double alpha = op.getAlphas()[i], beta = op.getBetas()[i];
    if (name == "sigmoid") {
      return sigmoid(x);
    }
    if (name == "tanh") {
      return tanh(x);
    }
    if (name == "relu") {
      return atLeast(x, 0.0);
    }
    if (name == "affine") {
      return x * alpha + beta;
    }
    if (name == "leakyrelu") {
      return select(x < 0.0, x * alpha, x);
    }
    if (name == "thresholdedrelu") {
      return select(x > alpha, x, x.constant(0));
    }
    if (name == "scaledtanh") {
      return tanh(x * beta) * alpha;
    }
    if (name == "hardsigmoid") {
      return atMost(atLeast(x * alpha + beta, 0.0), 1.0);
    }
    if (name == "elu") {
      return select(x < 0.0, (exp(x) - 1.0) * alpha, x);
    }
    return name == "softsign" ? x / (abs(x) + 1.0) : softplus(x);
  }
  Num clipped(Num x) {
    auto clip = op.getClip();
    return clip ? atMost(atLeast(x, -clip->convertToDouble()), clip->convertToDouble()) : x;
  }
  Num input(const Units &at, int64_t gate) {
    Ix base = ((at.row.time * Ix(plan.batch) + at.row.row) * plan.gates + Ix(gate)) * plan.hidden;
    return num(load(p, base + at.unit, at.partial));
  }
  /// The peephole's weights for a gate (0: input, 1: output, 2: forget) times the cell; zero times nothing where there
  /// are none.
  Num peeped(const Units &at, Num x, int64_t gate, Num cell) {
    return peephole ? x + num(load(peephole, Ix(gate * plan.hidden) + at.unit, at.partial)) * cell : x;
  }

  void unitBlock(const Units &at, const GateStage &stage, size_t stageIndex, ArrayRef<Value> sums) {
    Ix place = at.row.row * plan.padded + at.unit;
    Num old = num(w.load(h, at.from + place, plan.lanes));
    SmallVector<Num> x;
    for (auto [gate, sum] : llvm::zip_equal(stage.gates, sums)) {
      bool late = op.getLinearBeforeReset() && gate == 2; // the input's part comes after the reset
      x.push_back(late ? num(sum) : num(sum) + input(at, gate));
    }
    if (plan.kind == "LSTM") {
      lstm(at, x, place, old);
    } else if (plan.kind == "RNN") {
      finish(at, place, activate(0, clipped(x[0])), old);
    } else if (op.getLinearBeforeReset()) {
      Num z = activate(0, clipped(x[0])), reset = activate(0, clipped(x[1]));
      Num inner = bias ? x[2] + num(load(bias, at.unit, at.partial)) : x[2];
      Num candidate = activate(1, clipped(reset * inner + input(at, 2)));
      finish(at, place, candidate + z * (old - candidate), old);
    } else if (stageIndex == 0) {
      w.store(activate(0, clipped(x[0])), update, place);
      w.store(activate(0, clipped(x[1])) * old, reset, place);
    } else {
      Num z = num(w.load(update, place, plan.lanes)), candidate = activate(1, clipped(x[0]));
      finish(at, place, candidate + z * (old - candidate), old);
    }
  }

  void lstm(const Units &at, ArrayRef<Num> x, Ix place, Num old) {
    Num cell = num(w.load(c, place, plan.lanes));
    Num in = activate(0, clipped(peeped(at, x[0], 0, cell)));
    Num forget = op.getInputForget() ? 1.0 - in : activate(0, clipped(peeped(at, x[2], 2, cell)));
    Num next = forget * cell + in * activate(1, clipped(x[3]));
    Num out = activate(0, clipped(peeped(at, x[1], 1, next)));
    Num state = out * activate(2, next);
    w.store(goesOn(at, next, cell), c, place);
    finish(at, place, state, old);
  }

  /// The new value where the row's sequence goes on, else the old one.
  Value goesOn(const Units &at, Num next, Num old) {
    return at.row.active ? arith::SelectOp::create(w.b, w.loc, at.row.active, next, old).getResult() : Value(next);
  }

  void finish(const Units &at, Ix place, Num state, Num old) {
    w.store(goesOn(at, state, old), h, at.to + place);
    if (y) {
      Ix to = (at.row.time * Ix(plan.batch) + at.row.row) * plan.hidden + at.unit;
      store(goesOn(at, state, state.constant(0)), y, to, at.partial);
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
