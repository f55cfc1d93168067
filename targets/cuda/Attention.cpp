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
// shared memory. So the keys of one row, as a decoder has it, are shared by 16 groups. Where there are fewer rows than
// multiprocessors, several blocks share the keys of each: a launch ahead (lower::KernelShape::ahead) leaves the state
// of each part of the keys in memory, and the kernel combines those. If a mask says which key is the last one that
// a row looks at, the kernel reads no further, so that a step of a decoder reads the written part of a cache alone.
// Many rows of float16 and bfloat16 and, from 16 on, of float32 are another file's (AttentionTiles.h).
#include "compiler/lower/attention/AttentionParts.h"
#include "compiler/lower/core/Threads.h"
#include "compiler/lower/core/Vectors.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cuda/Architectures.h"
#include "targets/cuda/AttentionRows.h"
#include "targets/cuda/AttentionTiles.h"
#include "targets/cuda/Families.h"
#include "targets/cuda/FewRows.h"
#include "targets/cuda/SplitDepth.h"

using namespace mlir;

namespace ingot::targets::cuda {
namespace {

using lower::AttentionOther;
using lower::Ix;
using lower::Ixs;
using Values = SmallVector<Value>;

constexpr int64_t threads = 128, warp = 32, warps = threads / warp, group = 8, groups = threads / group;

/// How the keys of rows are shared by blocks.
struct Share {
  int64_t parts = 1;
  support::Size length; ///< keys of each part but the last ones: whole steps of a block

  Share(const lower::AttentionProblem &p, const target::MachineModel &machine) : length(p.keys) {
    constexpr int64_t mostOfOpen = 8; // where the number of keys is open, it may be small
    support::Size rows = p.outer * p.rows;
    if (p.keys.isNumber()) {
      if (SplitDepth split = SplitDepth::of(rows, p.keys, groups, machine)) {
        parts = split.parts, length = split.length;
      }
    } else if (rows.isNumber() && !rows.is(0)) {
      parts = std::clamp<int64_t>(architectureOf(machine).multiprocessors / rows.number(), 1, mostOfOpen);
      length = ceilDiv(p.keys, parts * groups) * support::Size(groups);
    }
  }
};

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
        lastKey(plan.lastKey), scores(build.group.space(lower::Group::typeOf(op.product()))),
        result(build.group.space(lower::Group::typeOf(op.getY()))), element(w.b.getF32Type()), share(p, w.machine) {
    q = build.group.buffer(op.getQ()), k = build.group.buffer(op.getK()), v = build.group.buffer(op.getV());
    lane = remainder(lower::threadNumber(w), group);
  }

  /// Writes the row, or the state of a part of its keys, with vectors of Q, K and V where a run finds them so.
  void run() {
    Ix items = p.outer * p.rows;
    Ix part = share.parts == 1 ? Ix(0) : floorDiv(build.begin, items);
    number = share.parts == 1 ? build.begin : remainder(build.begin, items);
    place();
    findKeys(part);
    stateAt = (part * items + number) * stateElements();
    int64_t neighbours = wideLanes(ValueRange{op.getQ(), op.getK(), op.getV()}.getTypes());
    Wide wide = vectorsOf(w, op, p, build.group, neighbours);
    auto write = [&](int64_t with) {
      lanes = with;
      oneRow();
    };
    writeWhereWide(w, wide.condition(), [&] { write(neighbours); }, [&] { write(1); });
  }

  /// Combines the states of all parts of the row's keys.
  void combineParts() {
    number = build.begin;
    place();
    endRow(
        combined(build.ahead.front(), number * stateElements(), Ix(p.outer * p.rows) * stateElements(), share.parts));
  }

  /// Returns the elements of a row's state in memory: the maximum and the total come first.
  static int64_t stateElements(const lower::AttentionProblem &p) { return p.valueWidth + 2; }

private:
  lower::Build &build;
  lower::Writer &w;
  onnx::AttendOp op;
  const lower::AttentionProblem &p;
  ArrayRef<AttentionOther> others;
  const std::optional<AttentionOther> &lastKey;
  lower::Space scores, result;
  Type element;
  lower::Buffer q, k, v;
  Ix lane;
  int64_t lanes = 1; ///< neighbours that a thread loads at once
  Share share;
  // The row: its number, its coordinates, and where its operands begin. Of its keys [begin, end) are the block's, whose
  // state goes to `stateAt`.
  Ix number, begin, end, stateAt;
  Ixs at;
  Ix baseQ, baseK, baseV;

  int64_t stateElements() const { return stateElements(p); }

  /// Sets which keys of the row are in a part of them.
  void findKeys(Ix part) {
    Ix keys = lastKey ? keysUpTo(w, p, lastKeyAt(w, build.group, *lastKey, scores, pointAt(0))) : Ix(p.keys);
    if (share.parts == 1) {
      begin = 0, end = keys;
      return;
    }
    int64_t step = share.parts * groups; // of all blocks
    Ix length = lastKey ? floorDiv(keys + (step - 1), step) * groups : Ix(share.length);
    begin = part * length, end = min(begin + length, keys);
  }

  void oneRow() {
    Values row = query();
    Values none = {lowest(w), w.constant(0, element)};
    none.append(elementsOfThread(p.valueWidth), w.constant(0, element));
    Ix first = floorDiv(lower::threadNumber(w), group);
    // All threads of a warp take part in each step, since they exchange what they have.
    Values all = w.loop(begin, end, groups, none, [&](Ix from, ValueRange carried) {
      return addKey(row, from + first, State(carried)).values();
    });
    finish(withinWarps(State(all)));
  }

  Value mul(Value a, Value b) { return arith::MulFOp::create(w.b, w.loc, a, b); }
  Value subtract(Value a, Value b) { return arith::SubFOp::create(w.b, w.loc, a, b); }
  Value larger(Value a, Value b) { return combine(w, lower::Combine::Larger, a, b); }
  void place() {
    AttentionPlace head(p, floorDiv(number, p.rows));
    Ix row = remainder(number, p.rows);
    at = head.pointOf(p, row), baseQ = head.queryOf(p, row), baseK = head.k, baseV = head.v;
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
    Ix there = min(key, end - 1);
    Value product = w.constant(0, element);
    for (auto [x, y] : llvm::zip_equal(row, elementsOf(k, baseK + there * Ix(p.k.row()), p.k, p.width))) {
      product = w.fma(x, y, product);
    }
    product = FewRows::sumOver(w, product, 1, group);
    Value score = attentionScore(w, op, others, product, 1, [&](const AttentionOther &other) {
      return build.group.read(other.inRegion, scores, pointAt(there));
    });
    Value isThere = w.compare(arith::CmpIPredicate::slt, key, end);
    score = arith::SelectOp::create(w.b, w.loc, isThere, score, lowest(w));
    State after = before;
    after.best = larger(before.best, score);
    Value base = baseOf(w, after.best);
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
      Value best = larger(state.best, other), base = baseOf(w, best);
      Value own = w.expOfNegative(subtract(state.best, base)), its = w.expOfNegative(subtract(other, base));
      auto joined = [&](Value x) { return w.fma(x, own, mul(lower::exchange(w, x, distance), its)); };
      state.best = best, state.total = joined(state.total);
      llvm::transform(state.sums, state.sums.begin(), joined);
    }
    return state;
  }

  /// Combines the states of the warps, and ends the row, or leaves the state of the part.
  void finish(const State &state) {
    Ix thread = lower::threadNumber(w), own = floorDiv(thread, warp);
    int64_t stride = stateElements();
    lower::Buffer shared = w.scratch(lower::sharedMemory(w), 0, element, warps * stride);
    w.ifThen(w.compare(arith::CmpIPredicate::eq, remainder(thread, warp), 0), [&] {
      w.store(state.best, shared, own * stride);
      w.store(state.total, shared, own * stride + 1);
    });
    w.ifThen(w.compare(arith::CmpIPredicate::slt, remainder(thread, warp), group), [&] {
      for (auto [i, sum] : llvm::enumerate(state.sums)) {
        Ix column = elementAt(static_cast<int64_t>(i));
        w.ifThen(w.compare(arith::CmpIPredicate::slt, column, p.valueWidth),
                 [&] { w.store(sum, shared, own * stride + 2 + column); });
      }
    });
    lower::barrier(w);
    Combined all = combined(shared, 0, stride, warps);
    share.parts == 1 ? endRow(all) : leaveState(all);
  }

  /// The state of several: what they have in common, and the sum of values of a column.
  struct Combined {
    Value best, total;
    std::function<Value(Ix column)> sum;
  };

  /// Combines states in memory that are `stride` elements from each other.
  Combined combined(const lower::Buffer &from, Ix first, Ix stride, int64_t count) {
    auto partsAt = [=, this](Ix offset) {
      return llvm::map_to_vector(llvm::seq(count),
                                 [&](int64_t i) { return w.load(from, first + offset + i * stride); });
    };
    Values best = partsAt(0), totals = partsAt(1), worth;
    Value most = tree(w, lower::Combine::Larger, best), base = baseOf(w, most);
    for (Value each : best) {
      worth.push_back(w.expOfNegative(subtract(each, base)));
    }
    auto sumOf = [=, this](const Values &parts) {
      Value sum = mul(parts[0], worth[0]);
      for (int64_t i = 1; i < count; ++i) {
        sum = w.fma(parts[i], worth[i], sum);
      }
      return sum;
    };
    return {most, sumOf(totals), [=](Ix column) { return sumOf(partsAt(column + 2)); }};
  }

  /// Ends the row: a thread has every so many columns.
  void endRow(const Combined &all) {
    Value isEmpty = isEmptyRow(w, op, p, all.total);
    w.loop(lower::threadNumber(w), p.valueWidth, threads, [&](Ix column) {
      Value y = arith::DivFOp::create(w.b, w.loc, all.sum(column), all.total);
      if (isEmpty) {
        y = arith::SelectOp::create(w.b, w.loc, isEmpty, w.constant(0, y.getType()), y);
      }
      build.group.finish(y, result, attentionResultAt(op, pointAt(column)));
    });
  }

  void leaveState(const Combined &all) {
    Ix thread = lower::threadNumber(w);
    const lower::Buffer &to = build.ahead.front();
    w.ifThen(w.compare(arith::CmpIPredicate::eq, thread, 0), [&] {
      w.store(all.best, to, stateAt);
      w.store(all.total, to, stateAt + 1);
    });
    w.loop(thread, p.valueWidth, threads, [&](Ix column) { w.store(all.sum(column), to, stateAt + 2 + column); });
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
    if (AttentionTiles::areFor(cast<onnx::AttendOp>(kernel.root()), p, machine)) {
      shape.items = AttentionTiles::items(p);
      shape.grid = AttentionTiles::grid(cast<onnx::AttendOp>(kernel.root()), p);
      return shape;
    }
    shape.items = p.outer * p.rows;
    shape.grid = lower::Grid{{threads, 1, 1}, warps * Builder::stateElements(p) * static_cast<int64_t>(sizeof(float))};
    if (Share share(p, machine); share.parts > 1) {
      support::Size items = shape.items * support::Size(share.parts);
      shape.ahead.push_back({"parts", items, *shape.grid, items * support::Size(Builder::stateElements(p)),
                             Float32Type::get(kernel.getContext())});
      shape.grid->sharedBytes = 0;
    }
    return shape;
  }

  LogicalResult build(lower::Build &build, const lower::KernelShape &) const override {
    lower::AttentionPlan plan = lower::planAttention(build.group.kernel, build.w.machine);
    if (AttentionTiles::areFor(cast<onnx::AttendOp>(build.group.root), plan.problem, build.w.machine)) {
      AttentionTiles::write(build, plan);
    } else {
      build.ahead.empty() ? Builder(build, plan).run() : Builder(build, plan).combineParts();
    }
    return success();
  }

  LogicalResult buildAhead(lower::Build &build, const lower::KernelShape &) const override {
    lower::AttentionPlan plan = lower::planAttention(build.group.kernel, build.w.machine);
    Builder(build, plan).run();
    return success();
  }
};

} // namespace

std::unique_ptr<lower::KernelFamily> createAttention() { return std::make_unique<Attention>(); }

} // namespace ingot::targets::cuda
