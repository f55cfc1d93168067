// Builds the steps of an LSTM, GRU or RNN in one launch. Rows of the batch have nothing to do with each other, so that
// a block takes up to four of them through all steps; with two directions each is a kernel of its own, and both may run
// at once. States stay in the block's shared memory, if they fit, beside the sums of shares; gates are in registers:
//
//   for each step, for each product of it (two in a GRU whose reset gate acts before the product):
//     a thread has some hidden units and a share of the depth: all gates of the units, of all rows -> shared memory
//     barrier
//     a thread has some units of some rows: adds up the shares, computes the gates and the new state
//     barrier
//
// R is [depth / 4][gate][unit][4], so that neighbouring threads read neighbouring vectors, each once for all rows.
// Behind the last unit the depth has zeros. Where only the run knows R, a launch ahead brings it into this form. Sums
// are added up by shares, so that their last bits are not the host's.
//
// Blocks cannot wait for each other within a launch. So a block reads all of R in each step, from the caches: that is
// what a step of many units waits for.
#include "targets/cuda/Recurrences.h"
#include "compiler/lower/core/Threads.h"
#include "compiler/lower/product/RecurrentCell.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cuda/Architectures.h"
#include "targets/cuda/Wide.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;

namespace ingot::targets::cuda {
namespace {

using lower::Ix;
using onnx::Num;
using support::Size;

constexpr int64_t lanes = 4; ///< elements of the depth that are read together
constexpr int64_t warp = 32, mostThreads = 512, mostRows = 4, mostShares = 8;
constexpr int64_t leastVectors = 2; ///< of the depth, for a share
constexpr int64_t threadsAhead = 256;

struct Plan {
  Plan(onnx::RecurrenceOp op, const target::MachineModel &machine) : kind(op.getKind()) {
    RankedTensorType p = lower::Group::typeOf(op.getP());
    steps = onnx::sizeOf(p, 0), batch = onnx::sizeOf(p, 1);
    hidden = lower::Group::typeOf(op.getR()).getDimSize(1);
    gates = hidden ? p.getDimSize(2) / hidden : 0;
    stages = lower::recurrentStages(op, gates);
    for (const lower::RecurrentGates &stage : stages) {
      mostGates = std::max<int64_t>(mostGates, stage.size());
    }
    width = std::clamp(static_cast<int64_t>(llvm::alignTo(hidden, warp)), warp, mostThreads);
    int64_t vectors = llvm::divideCeil(hidden, lanes);
    shares = std::clamp(std::min(mostThreads / width, vectors / leastVectors), int64_t(1), mostShares);
    depth = static_cast<int64_t>(llvm::alignTo(hidden, lanes * shares));
    // To read an element of R takes longer than to multiply it, so that more rows cost little. A batch of few rows has
    // a multiprocessor for each.
    int64_t multiprocessors = architectureOf(machine).multiprocessors;
    int64_t inTurn = batch.isNumber() ? static_cast<int64_t>(llvm::divideCeil(batch.number(), multiprocessors)) : 0;
    rows = batch.isNumber() ? inTurn <= 1 ? 1 : inTurn <= 2 ? 2 : mostRows : mostRows;
    while (rows > 1 && bytes() > sharedBytesOfAll) {
      rows /= 2;
    }
  }

  StringRef kind;
  Size steps, batch;
  int64_t hidden, gates, mostGates = 0;
  SmallVector<lower::RecurrentGates, 2> stages;
  int64_t width;  ///< threads that have the units of one share
  int64_t shares; ///< of the depth
  int64_t depth;  ///< with the zeros behind it
  int64_t rows;   ///< of a block

  int64_t threads() const { return width * shares; }
  Size blocks() const { return hidden ? ceilDiv(batch, rows) : Size(1); }
  bool haveTwoStages() const { return stages.size() > 1; }

  // What the threads of a block share, in floats. All pieces are whole vectors.
  int64_t state() const { return rows * depth; }
  int64_t reset() const { return haveTwoStages() ? rows * depth : 0; }
  int64_t kept() const { ///< the cells of an LSTM, or what the update gate of a GRU has given
    return kind == "LSTM" || haveTwoStages() ? static_cast<int64_t>(llvm::alignTo(rows * hidden, lanes)) : 0;
  }
  int64_t parts() const { return shares * rows * mostGates * hidden; }
  int64_t bytes() const {
    return static_cast<int64_t>(sizeof(float)) *
           static_cast<int64_t>(llvm::alignTo(state() + reset() + kept() + parts(), lanes));
  }
  bool isShared() const { return bytes() <= sharedBytesOfAll; }

  // R as it is read.
  int64_t weights() const { return gates * hidden * depth; }
  int64_t offsetOf(size_t stage) const { return stage ? static_cast<int64_t>(stages[0].size()) * hidden * depth : 0; }

  /// Calls f(to, from) for each element of R.
  void eachWeight(llvm::function_ref<void(int64_t, int64_t)> f) const {
    for (auto [number, stage] : llvm::enumerate(stages)) {
      auto count = static_cast<int64_t>(stage.size());
      for (auto [i, gate] : llvm::enumerate(stage)) {
        for (int64_t unit = 0; unit < hidden; ++unit) {
          for (int64_t k = 0; k < hidden; ++k) {
            int64_t vector = (k / lanes * count + static_cast<int64_t>(i)) * hidden + unit;
            f(offsetOf(number) + vector * lanes + k % lanes, (gate * hidden + unit) * hidden + k);
          }
        }
      }
    }
  }
};

/// Whether R is a constant, which is packed when the model is compiled.
bool isConstant(plan::KernelOp kernel, onnx::RecurrenceOp op) {
  return static_cast<bool>(lower::constantOperand(kernel, op.getR()));
}

class Network {
public:
  Network(lower::Build &build, const Plan &plan)
      : w(build.w), group(build.group), op(cast<onnx::RecurrenceOp>(group.root)), plan(plan), element(w.b.getF32Type()),
        sequences(build, op), thread(lower::threadNumber(w)) {
    lower::Buffer memory = plan.isShared() ? lower::sharedMemory(w) : build.scratch;
    Ix at = plan.isShared() ? Ix(0) : build.begin * plan.bytes();
    auto piece = [&](int64_t floats) {
      lower::Buffer made = floats ? w.scratch(memory, at, element, floats) : lower::Buffer();
      at = at + Ix(floats * static_cast<int64_t>(sizeof(float)));
      return made;
    };
    h = piece(plan.state()), reset = piece(plan.reset()), kept = piece(plan.kept()), parts = piece(plan.parts());
    r = isConstant(group.kernel, op) ? group.buffer(op.getR()) : build.ahead.front();
    p = group.buffer(op.getP()), peephole = group.buffer(op.getPeephole()), bias = group.buffer(op.getBias());
    scale = group.buffer(op.getScale()), zero = group.buffer(op.getZero());
    y = lower::resultFor(group, op.getY());
    firstRow = build.begin * plan.rows;
  }

  void run() {
    start();
    lower::barrier(w);
    w.loop(0, plan.steps, 1, [&](Ix step) {
      for (size_t stage = 0; stage < plan.stages.size(); ++stage) {
        loadInputs(stage, step);
        multiply(stage);
        lower::barrier(w);
        eachUnit([&](Ix row, Ix unit) { finish(stage, row, unit, step); });
        lower::barrier(w);
      }
    });
    end(op.getYH(), h, plan.depth);
    if (plan.kind == "LSTM") {
      end(op.getYC(), kept, plan.hidden);
    }
  }

private:
  lower::Writer &w;
  lower::Group &group;
  onnx::RecurrenceOp op;
  const Plan &plan;
  Type element;
  lower::RecurrentSequences sequences;
  Ix thread, firstRow;
  lower::Buffer h, reset, kept, parts, r, p, peephole, bias, scale, zero, y;
  SmallVector<Value> inputs; ///< of the gates of a stage, where they are loaded ahead of the product

  /// Spreads numbers below a bound over the block's threads.
  void spread(int64_t count, llvm::function_ref<void(Ix)> body) {
    w.loop(0, static_cast<int64_t>(llvm::divideCeil(count, plan.threads())), 1, [&](Ix turn) {
      Ix own = turn * plan.threads() + thread;
      count % plan.threads() ? w.ifThen(w.compare(arith::CmpIPredicate::slt, own, count), [&] { body(own); })
                             : body(own);
    });
  }
  void ifRow(Ix row, llvm::function_ref<void()> body) {
    plan.rows == 1 ? body() : w.ifThen(w.compare(arith::CmpIPredicate::slt, firstRow + row, Ix(plan.batch)), body);
  }
  /// Spreads the units of all rows that there are over the threads, neighbouring units to neighbouring threads.
  void eachUnit(llvm::function_ref<void(Ix row, Ix unit)> body) {
    spread(plan.rows * plan.hidden, [&](Ix own) {
      Ix row = plan.rows == 1 ? Ix(0) : floorDiv(own, plan.hidden);
      ifRow(row, [&] { body(row, plan.rows == 1 ? own : remainder(own, plan.hidden)); });
    });
  }

  void start() {
    if (sequences.haveLengths()) {
      spread(plan.rows, [&](Ix row) { ifRow(row, [&] { sequences.check(firstRow + row); }); });
    }
    Value nothing = w.constant(0, element);
    if (plan.depth != plan.hidden || plan.rows > 1) { // there may be places that no unit of the batch has
      spread(plan.state(), [&](Ix place) {
        w.store(nothing, h, place);
        if (reset) {
          w.store(nothing, reset, place);
        }
      });
      lower::barrier(w);
    }
    auto given = [&](Value initial, Ix row, Ix unit) {
      return onnx::present(initial) ? w.load(group.buffer(initial), (firstRow + row) * plan.hidden + unit) : nothing;
    };
    eachUnit([&](Ix row, Ix unit) {
      w.store(given(op.getInitialH(), row, unit), h, row * plan.depth + unit);
      if (plan.kind == "LSTM") {
        w.store(given(op.getInitialC(), row, unit), kept, row * plan.hidden + unit);
      }
    });
  }

  void end(Value result, lower::Buffer state, int64_t pitch) {
    if (lower::Buffer to = lower::resultFor(group, result)) {
      eachUnit([&](Ix row, Ix unit) {
        Value v = w.load(state, row * pitch + unit);
        if (Value empty = sequences.isEmpty(firstRow + row)) {
          v = arith::SelectOp::create(w.b, w.loc, empty, w.constant(0, element), v);
        }
        w.store(v, to, (firstRow + row) * plan.hidden + unit);
      });
    }
  }

  Value inputAt(const lower::RecurrentSequences::Row &at, int64_t gate, Ix unit) {
    return w.load(p, ((at.time * Ix(plan.batch) + at.row) * plan.gates + Ix(gate)) * plan.hidden + unit);
  }
  /// Loads the input's part of the gates, where a thread has but one unit of one row: it comes from far away while the
  /// thread multiplies. Threads without a unit load the last one's.
  void loadInputs(size_t number, Ix step) {
    inputs.clear();
    int64_t count = plan.rows * plan.hidden;
    if (count > plan.threads()) {
      return;
    }
    Ix own = count < plan.threads() ? min(thread, count - 1) : thread;
    Ix row = plan.rows == 1 ? firstRow : min(firstRow + floorDiv(own, plan.hidden), Ix(plan.batch) - 1);
    lower::RecurrentSequences::Row at = sequences.at(row, step);
    for (int64_t gate : plan.stages[number]) {
      inputs.push_back(inputAt(at, gate, plan.rows == 1 ? own : remainder(own, plan.hidden)));
    }
  }

  /// Returns the place of a gate's sum, or of its first unit's.
  Ix partAt(Ix share, Ix row, int64_t gate) {
    return ((share * plan.rows + row) * plan.mostGates + Ix(gate)) * plan.hidden;
  }

  /// Multiplies this thread's share of a state with its units' rows of R.
  void multiply(size_t number) {
    const lower::RecurrentGates &stage = plan.stages[number];
    lower::Buffer from = number ? reset : h;
    auto count = static_cast<int64_t>(stage.size());
    Ix share = plan.shares == 1 ? Ix(0) : floorDiv(thread, plan.width);
    Ix first = plan.shares == 1 ? thread : remainder(thread, plan.width);
    w.loop(0, static_cast<int64_t>(llvm::divideCeil(plan.hidden, plan.width)), 1, [&](Ix turn) {
      Ix unit = turn * plan.width + first;
      auto ofUnit = [&] {
        SmallVector<Value> zeros, sums(count * plan.rows, w.constant(0, element));
        for (int64_t gate : stage) {
          if (zero) {
            Value point = w.load(zero, Ix(gate * plan.hidden) + unit);
            zeros.push_back(w.splat(arith::SIToFPOp::create(w.b, w.loc, element, point), lanes));
          }
        }
        sums = w.loop(0, plan.depth / lanes / plan.shares, 1, sums, [&](Ix k, ValueRange carried) {
          Ix vector = k * plan.shares + share;
          SmallVector<Value> next(carried), weights, states;
          for (int64_t i = 0; i < count; ++i) {
            Ix at = Ix(plan.offsetOf(number)) + ((vector * count + Ix(i)) * plan.hidden + unit) * lanes;
            weights.push_back(widened(w.load(r, at, lanes), zero ? zeros[i] : Value()));
          }
          for (int64_t row = 0; row < plan.rows; ++row) {
            Value state = w.load(from, Ix(row * plan.depth) + vector * lanes, lanes);
            for (int64_t i = 0; i < count; ++i) {
              Value &sum = next[row * count + i];
              for (int64_t lane = 0; lane < lanes; ++lane) {
                sum = w.fma(vector::ExtractOp::create(w.b, w.loc, weights[i], lane),
                            vector::ExtractOp::create(w.b, w.loc, state, lane), sum);
              }
            }
          }
          return next;
        });
        for (auto [i, sum] : llvm::enumerate(sums)) {
          auto at = static_cast<int64_t>(i);
          w.store(sum, parts, partAt(share, at / count, at % count) + unit);
        }
      };
      plan.hidden % plan.width ? w.ifThen(w.compare(arith::CmpIPredicate::slt, unit, plan.hidden), ofUnit) : ofUnit();
    });
  }

  /// Returns weights as floats; those that are bytes less their zero point.
  Value widened(Value weights, Value zeros) {
    auto type = cast<VectorType>(weights.getType());
    if (!type.getElementType().isInteger()) {
      return weights;
    }
    Type floats = w.vectorOf(element, lanes);
    Value words = arith::ExtSIOp::create(w.b, w.loc, w.vectorOf(w.b.getI32Type(), lanes), weights);
    Value v = arith::SIToFPOp::create(w.b, w.loc, floats, words);
    return zeros ? arith::SubFOp::create(w.b, w.loc, v, zeros).getResult() : v;
  }

  /// Computes a unit of a row from the sums of a stage.
  void finish(size_t number, Ix row, Ix unit, Ix step) {
    const lower::RecurrentGates &stage = plan.stages[number];
    lower::RecurrentSequences::Row at = sequences.at(firstRow + row, step);
    lower::RecurrentCell::Source source;
    source.input = [&](int64_t gate) {
      return inputs.empty() ? inputAt(at, gate, unit) : inputs[llvm::find(stage, gate) - stage.begin()];
    };
    if (peephole) {
      source.peephole = [&](int64_t gate) { return w.load(peephole, Ix(gate * plan.hidden) + unit); };
    }
    if (bias) {
      source.bias = [&] { return w.load(bias, unit); };
    }
    lower::RecurrentCell cell(w, op, source);
    SmallVector<Value> sums;
    for (auto [i, gate] : llvm::enumerate(stage)) {
      Value sum;
      for (int64_t share = 0; share < plan.shares; ++share) {
        Value part = w.load(parts, partAt(share, row, static_cast<int64_t>(i)) + unit);
        sum = sum ? arith::AddFOp::create(w.b, w.loc, sum, part).getResult() : part;
      }
      if (scale) {
        sum = arith::MulFOp::create(w.b, w.loc, sum, w.load(scale, Ix(gate * plan.hidden) + unit));
      }
      sums.push_back(sum);
    }
    lower::RecurrentCell::Nums x = cell.gates(stage, sums);
    Ix place = row * plan.depth + unit, keptPlace = row * plan.hidden + unit;
    Num old = cell.num(w.load(h, place));
    if (number == 0 && plan.haveTwoStages()) {
      lower::RecurrentCell::Gates gates = cell.gruGates(x, old);
      w.store(gates.update, kept, keptPlace);
      w.store(gates.reset, reset, place);
      return;
    }
    std::optional<Num> state;
    if (plan.kind == "LSTM") {
      Num before = cell.num(w.load(kept, keptPlace));
      lower::RecurrentCell::Lstm next = cell.lstm(x, before);
      w.store(at.goesOn(w, next.cell, before), kept, keptPlace);
      state = next.state;
    } else if (plan.kind == "RNN") {
      state = cell.rnn(x[0]);
    } else {
      state = number ? cell.gru(x[0], cell.num(w.load(kept, keptPlace)), old) : cell.gruLate(x, old);
    }
    w.store(at.goesOn(w, *state, old), h, place);
    if (y) {
      Ix to = (at.time * Ix(plan.batch) + at.row) * plan.hidden + unit;
      w.store(at.goesOn(w, *state, w.constant(0, element)), y, to);
    }
  }
};

} // namespace

Recurrences::Recurrences(const lower::KernelFamily &family) : ByThreads(family, mostThreads) {}

lower::KernelShape Recurrences::shape(plan::KernelOp kernel, const target::MachineModel &machine) const {
  auto op = cast<onnx::RecurrenceOp>(kernel.root());
  Plan plan(op, machine);
  Type type = onnx::elementOf(op.getR());
  lower::KernelShape shape;
  shape.items = plan.blocks();
  shape.grid = lower::Grid{{plan.threads(), 1, 1}, plan.isShared() ? plan.bytes() : 0};
  shape.scratchBytes = plan.isShared() ? Size(0) : plan.blocks() * Size(plan.bytes());
  shape.checked = onnx::present(op.getSequenceLens());
  if (!isConstant(kernel, op)) {
    Size blocks = ceilDiv(Size(plan.weights()), threadsAhead);
    shape.ahead.push_back({"weights", blocks, lower::Grid{{threadsAhead, 1, 1}, 0}, Size(plan.weights()), type});
    return shape;
  }
  int64_t size = onnx::elementBytes(type);
  auto pack = [plan, size](ArrayRef<char> from, MutableArrayRef<char> to) {
    plan.eachWeight([&](int64_t target, int64_t source) {
      std::copy_n(from.data() + size * source, size, to.data() + size * target);
    });
  };
  std::string key =
      llvm::formatv("gates of blocks {0} {1} {2} {3}", plan.stages.size(), plan.gates, plan.hidden, plan.depth);
  shape.packed[lower::operandNumber(op.getR())] = {key, plan.weights() * size, pack};
  return shape;
}

LogicalResult Recurrences::build(lower::Build &build, const lower::KernelShape &) const {
  Plan plan(cast<onnx::RecurrenceOp>(build.group.root), build.w.machine);
  if (!plan.batch.is(0) && plan.hidden > 0) {
    Network(build, plan).run();
    alignVectors(*build.w.b.getInsertionBlock()->getParent());
  }
  return success();
}

/// Writes R as it is read, an element for each thread.
LogicalResult Recurrences::buildAhead(lower::Build &build, const lower::KernelShape &) const {
  lower::Writer &w = build.w;
  auto op = cast<onnx::RecurrenceOp>(build.group.root);
  Plan plan(op, w.machine);
  if (plan.hidden == 0) {
    return success();
  }
  Ix place = build.begin * threadsAhead + lower::threadNumber(w);
  for (auto [number, stage] : llvm::enumerate(plan.stages)) {
    auto count = static_cast<int64_t>(stage.size());
    Ix own = place - Ix(plan.offsetOf(number)), vector = floorDiv(own, lanes), rest = floorDiv(vector, plan.hidden);
    Ix k = floorDiv(rest, count) * lanes + remainder(own, lanes), unit = remainder(vector, plan.hidden);
    // A stage has neighbouring gates.
    Ix row = (Ix(stage.front()) + remainder(rest, count)) * plan.hidden + unit;
    Value isThere = arith::AndIOp::create(w.b, w.loc, w.compare(arith::CmpIPredicate::sge, own, 0),
                                          w.compare(arith::CmpIPredicate::slt, own, count * plan.hidden * plan.depth));
    w.ifThen(isThere, [&] {
      Value v = w.load(build.group.buffer(op.getR()), row * plan.hidden + min(k, plan.hidden - 1));
      v = arith::SelectOp::create(w.b, w.loc, w.compare(arith::CmpIPredicate::slt, k, plan.hidden), v,
                                  w.constant(0, v.getType()));
      w.store(v, build.ahead.back(), place);
    });
  }
  return success();
}

/// No figure here has been measured. A multiprocessor reads 64 bytes in a cycle from the second cache, and barriers and
/// the functions of the gates take a microsecond. Where the batch is open, `work` has its likely rows times the steps;
/// where the steps are open, too, they are taken to be as many as the rows.
double Recurrences::seconds(Operation *op, const target::Work &work, const target::MachineModel &machine) {
  constexpr double bytesPerSecond = 64 * 1.4e9, secondsOfStage = 1e-6;
  auto recurrence = cast<onnx::RecurrenceOp>(op);
  Plan plan(recurrence, machine);
  auto weights = static_cast<double>(plan.weights());
  if (weights == 0) {
    return 0;
  }
  auto numberOf = [](const Size &size) { return std::max(1.0, static_cast<double>(size.number())); };
  double rowsOfSteps = work.multiplyAdds / static_cast<double>(plan.gates * plan.hidden * plan.hidden);
  double batch = plan.batch.isNumber()   ? numberOf(plan.batch)
                 : plan.steps.isNumber() ? rowsOfSteps / numberOf(plan.steps)
                                         : std::sqrt(rowsOfSteps);
  double blocks = std::ceil(batch / static_cast<double>(plan.rows));
  double rounds = std::ceil(blocks / static_cast<double>(architectureOf(machine).multiprocessors));
  double steps = rowsOfSteps / std::max(1.0, batch);
  double bytes = weights * static_cast<double>(onnx::elementBytes(onnx::elementOf(recurrence.getR())));
  return steps * rounds * (bytes / bytesPerSecond + secondsOfStage * static_cast<double>(plan.stages.size()));
}

} // namespace ingot::targets::cuda
