// Attention by online softmax (lower/families/Attention.cpp describes it), a block of 128 threads for each row of
// scores. Eight neighbouring threads are a group; each of the block's 16 groups walks along every 16th key, and a
// thread of it has every 8th element of the row, of a key and of the sums of values, so that a group reads 32
// contiguous bytes at a time. Where the memory of a run allows it, a thread has every 8th piece of 16 bytes, and a
// group reads 128 bytes:
//
//   for each key of the group: product = sum over the group of q * K / score / new maximum
//     sums = sums * what they are worth now + weight * V
//
// In the end the groups' maxima, sums of weights and sums of values are combined, first within warps, then through
// shared memory. So the keys of one row, as a decoder has it, are shared by 16 groups.
#include "compiler/lower/attention/AttentionParts.h"
#include "compiler/lower/core/Threads.h"
#include "compiler/lower/core/Vectors.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cuda/Families.h"
#include "targets/cuda/FewRows.h"
#include "targets/cuda/Wide.h"

using namespace mlir;

namespace ingot::targets::cuda {
namespace {

using lower::AttentionOther;
using lower::Ix;
using lower::Ixs;
using Values = SmallVector<Value>;

constexpr int64_t threads = 128, warp = 32, warps = threads / warp, group = 8, groups = threads / group;

/// The state of a softmax: the largest score so far, the sum of weights, and sums of weighed values.
struct State {
  Value best, total;
  Values sums;

  explicit State(ValueRange all) : best(all[0]), total(all[1]), sums(all.drop_front(2)) {}
  Values values() const {
    Values all = {best, total};
    all.append(sums.begin(), sums.end());
    return all;
  }
};

/// Builds the loops of one kernel.
class Builder {
public:
  Builder(lower::Build &build, const lower::AttentionPlan &plan)
      : build(build), w(build.w), op(cast<onnx::AttendOp>(build.group.root)), p(plan.problem), others(plan.others),
        scores(build.group.space(lower::Group::typeOf(op.product()))),
        result(build.group.space(lower::Group::typeOf(op.getY()))), element(w.b.getF32Type()) {
    q = build.group.buffer(op.getQ()), k = build.group.buffer(op.getK()), v = build.group.buffer(op.getV());
    lane = remainder(lower::threadNumber(w), group);
  }

  /// Writes the row with vectors of Q, K and V where a run finds them so.
  void run() {
    place();
    int64_t neighbours = wideLanes(ValueRange{op.getQ(), op.getK(), op.getV()}.getTypes());
    Wide wide(w, neighbours);
    for (auto [buffer, operand, width] :
         {std::tuple(q, &p.q, p.width), std::tuple(k, &p.k, p.width), std::tuple(v, &p.v, p.valueWidth)}) {
      wide.requireBegin(buffer);
      wide.require(operand->column().is(1) ? Ix(width) : Ix(1));
      wide.require(operand->offset);
      for (const support::Size &stride : ArrayRef(operand->strides).drop_back()) {
        wide.require(stride);
      }
    }
    auto write = [&](int64_t with) {
      lanes = with;
      oneRow();
    };
    writeWhereWide(w, wide.condition(), [&] { write(neighbours); }, [&] { write(1); });
  }

private:
  lower::Build &build;
  lower::Writer &w;
  onnx::AttendOp op;
  const lower::AttentionProblem &p;
  ArrayRef<AttentionOther> others;
  lower::Space scores, result;
  Type element;
  lower::Buffer q, k, v;
  Ix lane;
  int64_t lanes = 1; ///< neighbours that a thread loads at once
  // The row: its coordinates, and where its operands begin.
  Ixs at;
  Ix baseQ, baseK, baseV;

  void oneRow() {
    Values row = query();
    Values none = {lowest(), w.constant(0, element)};
    none.append(elementsOfThread(p.valueWidth), w.constant(0, element));
    Ix first = floorDiv(lower::threadNumber(w), group);
    // All threads of a warp take part in each step, since they exchange what they have.
    Values all = w.loop(0, ceilDiv(p.keys, groups), 1, none, [&](Ix step, ValueRange carried) {
      Ix key = step * groups + first;
      return addKey(row, key, State(carried)).values();
    });
    finish(withinWarps(State(all)));
  }

  Value lowest() { return neutral(w, lower::Combine::Larger, element); }
  Value mul(Value a, Value b) { return arith::MulFOp::create(w.b, w.loc, a, b); }
  Value subtract(Value a, Value b) { return arith::SubFOp::create(w.b, w.loc, a, b); }
  Value larger(Value a, Value b) { return combine(w, lower::Combine::Larger, a, b); }
  /// Returns what is subtracted from scores: the largest one, or 0 while there is none.
  Value baseOf(Value best) {
    Value isNone = arith::CmpFOp::create(w.b, w.loc, arith::CmpFPredicate::OEQ, best, lowest());
    return arith::SelectOp::create(w.b, w.loc, isNone, w.constant(0, element), best);
  }

  void place() {
    Ix index = floorDiv(build.begin, p.rows);
    at.assign(p.own, 0);
    for (size_t d = p.own; d-- > 0;) {
      at[d] = d == 0 ? index : remainder(index, p.batch[d]), index = floorDiv(index, p.batch[d]);
    }
    baseQ = p.q.offset, baseK = p.k.offset, baseV = p.v.offset;
    for (size_t d = 0; d < p.own; ++d) {
      baseK = baseK + at[d] * Ix(p.k.strides[d]), baseV = baseV + at[d] * Ix(p.v.strides[d]);
    }
    at.append(attentionRowAt(p, remainder(build.begin, p.rows)));
    for (auto [d, x] : llvm::enumerate(at)) {
      baseQ = baseQ + x * Ix(p.q.strides[d]);
    }
  }

  /// Returns how many elements of a row of `width` a thread has, counting those behind the last one.
  int64_t elementsOfThread(int64_t width) const {
    return static_cast<int64_t>(llvm::divideCeil(width, group * lanes)) * lanes;
  }
  /// Returns which element of a row is the thread's element `i`.
  Ix elementAt(int64_t i) const { return lane * lanes + (i / lanes * group * lanes + i % lanes); }

  /// Returns this thread's elements of a row of one of the operands; for those behind the last one, others.
  Values elementsOf(const lower::Buffer &buffer, Ix base, const lower::AttentionOperand &operand, int64_t width) {
    Values all;
    for (int64_t i = 0; i < elementsOfThread(width); i += lanes) {
      Value x = w.load(buffer, base + min(elementAt(i), width - lanes) * Ix(operand.column()), lanes);
      for (int64_t j = 0; j < lanes; ++j) {
        all.push_back(lanes == 1 ? x : vector::ExtractOp::create(w.b, w.loc, x, j).getResult());
      }
    }
    return all;
  }

  /// Returns this thread's elements of the query; 0 behind the last one, so that others there do not count.
  Values query() {
    Values all = elementsOf(q, baseQ, p.q, p.width);
    for (auto [i, x] : llvm::enumerate(all)) {
      Value isThere = w.compare(arith::CmpIPredicate::slt, elementAt(static_cast<int64_t>(i)), p.width);
      x = arith::SelectOp::create(w.b, w.loc, isThere, x, w.constant(0, x.getType()));
    }
    return all;
  }

  lower::Point pointAt(Ix last) const {
    lower::Point point{{at.begin(), at.end()}, 1, {}};
    point.at.push_back(last);
    return point;
  }

  State addKey(const Values &row, Ix key, const State &before) {
    Ix there = min(key, Ix(p.keys) - 1);
    Value product = w.constant(0, element);
    for (auto [x, y] : llvm::zip_equal(row, elementsOf(k, baseK + there * Ix(p.k.row()), p.k, p.width))) {
      product = w.fma(x, y, product);
    }
    product = FewRows::sumOver(w, product, 1, group);
    Value score = attentionScore(w, op, others, product, 1, [&](const AttentionOther &other) {
      return build.group.read(other.inRegion, scores, pointAt(there));
    });
    Value isThere = w.compare(arith::CmpIPredicate::slt, key, p.keys);
    score = arith::SelectOp::create(w.b, w.loc, isThere, score, lowest());
    State after = before;
    after.best = larger(before.best, score);
    Value base = baseOf(after.best);
    Value worth = w.expOfNegative(subtract(before.best, base)), weight = w.expOfNegative(subtract(score, base));
    after.total = w.fma(before.total, worth, weight);
    Values values = elementsOf(v, baseV + there * Ix(p.v.row()), p.v, p.valueWidth);
    for (auto [sum, y] : llvm::zip_equal(after.sums, values)) {
      sum = w.fma(weight, y, mul(sum, worth));
    }
    return after;
  }

  /// Combines the states of the groups of a warp: each of them has that of all.
  State withinWarps(State state) {
    for (int64_t distance = group; distance < warp; distance *= 2) {
      Value other = lower::exchange(w, state.best, distance);
      Value best = larger(state.best, other), base = baseOf(best);
      Value own = w.expOfNegative(subtract(state.best, base)), its = w.expOfNegative(subtract(other, base));
      auto joined = [&](Value x) { return w.fma(x, own, mul(lower::exchange(w, x, distance), its)); };
      state.best = best, state.total = joined(state.total);
      llvm::transform(state.sums, state.sums.begin(), joined);
    }
    return state;
  }

  /// Combines the states of the warps, and ends the row: a thread has every so many columns.
  void finish(const State &state) {
    Ix thread = lower::threadNumber(w), number = floorDiv(thread, warp);
    int64_t stride = p.valueWidth + 2; // the maximum and the total come first
    lower::Buffer shared = w.scratch(lower::sharedMemory(w), 0, element, warps * stride);
    w.ifThen(w.compare(arith::CmpIPredicate::eq, remainder(thread, warp), 0), [&] {
      w.store(state.best, shared, number * stride);
      w.store(state.total, shared, number * stride + 1);
    });
    w.ifThen(w.compare(arith::CmpIPredicate::slt, remainder(thread, warp), group), [&] {
      for (auto [i, sum] : llvm::enumerate(state.sums)) {
        Ix column = elementAt(static_cast<int64_t>(i));
        w.ifThen(w.compare(arith::CmpIPredicate::slt, column, p.valueWidth),
                 [&] { w.store(sum, shared, number * stride + 2 + column); });
      }
    });
    lower::barrier(w);
    auto partsAt = [&](Ix offset) {
      return llvm::map_to_vector(llvm::seq(warps), [&](int64_t i) { return w.load(shared, offset + i * stride); });
    };
    Values best = partsAt(0), totals = partsAt(1), worth;
    Value base = baseOf(tree(w, lower::Combine::Larger, best));
    for (Value each : best) {
      worth.push_back(w.expOfNegative(subtract(each, base)));
    }
    auto sumOf = [&](const Values &parts) {
      Value sum = mul(parts[0], worth[0]);
      for (int64_t i = 1; i < warps; ++i) {
        sum = w.fma(parts[i], worth[i], sum);
      }
      return sum;
    };
    Value total = sumOf(totals), isEmpty = isEmptyRow(w, op, p, total);
    w.loop(thread, p.valueWidth, threads, [&](Ix column) {
      Value y = arith::DivFOp::create(w.b, w.loc, sumOf(partsAt(column + 2)), total);
      if (isEmpty) {
        y = arith::SelectOp::create(w.b, w.loc, isEmpty, w.constant(0, y.getType()), y);
      }
      build.group.finish(y, result, attentionResultAt(op, pointAt(column)));
    });
  }
};

class Attention final : public lower::KernelFamily {
public:
  Attention() { stem = "Attention"; }

  SmallVector<TypeID> roots() const override { return rootsOf<onnx::AttendOp>(); }
  bool readsThrough(Operation *root, unsigned operand) const override {
    return lower::compilersFamily(root)->readsThrough(root, operand);
  }
  std::string unsupported(Operation *root, const target::MachineModel &machine) const override {
    return lower::compilersFamily(root)->unsupported(root, machine);
  }
  /// Each thread has an eighth of a row and of the sums in registers.
  bool isFor(Operation *root) const override {
    constexpr int64_t most = 512;
    auto op = cast<onnx::AttendOp>(root);
    return static_cast<int64_t>(op.getWidth()) + static_cast<int64_t>(op.getValueWidth()) <= most;
  }

  lower::KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    lower::AttentionProblem p = lower::planAttention(kernel, machine).problem;
    lower::KernelShape shape;
    shape.items = p.outer * p.rows;
    shape.grid = lower::Grid{{threads, 1, 1}, warps * (p.valueWidth + 2) * static_cast<int64_t>(sizeof(float))};
    return shape;
  }

  LogicalResult build(lower::Build &build, const lower::KernelShape &) const override {
    lower::AttentionPlan plan = lower::planAttention(build.group.kernel, build.w.machine);
    Builder(build, plan).run();
    return success();
  }
};

} // namespace

std::unique_ptr<lower::KernelFamily> createAttention() { return std::make_unique<Attention>(); }

} // namespace ingot::targets::cuda
