// Finds the k best elements of each line along an axis, best first, and equal ones in the order of their indices. NaN
// is the largest of all.
//
// For few of many elements there is a list of the best so far, in order, which begins with the first k elements. The
// last of the list is the least that counts: a vector of elements is compared with it, and only an element that beats
// it is inserted. An insertion moves along the list vector by vector, from its end: places behind that of the element
// get what the place before had. In front of the list is a vector of values that nothing beats, so the vector with the
// element's place needs no test for the beginning. Along the innermost axis a vector has elements of one line; along
// others it has elements of as many lines, each of which has a list.
//
// The best one alone along the innermost axis takes no list: lanes have the best of every so many elements.
//
// For many elements, for which inserting would take longer, the whole line is sorted (core/Sort.h).
//
// Where work items are threads (MachineModel::itemsAreThreads), each thread has an element, and counts the elements of
// its line that come before it. The count is the place of the element among the results. Threads need no list for that,
// and do not wait for each other.
#include "compiler/onnx/ops/TopK.h"
#include "compiler/lower/Family.h"
#include "compiler/lower/core/Sort.h"
#include "compiler/lower/core/Vectors.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/ScalarMath.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <limits>

using namespace mlir;
using ingot::onnx::Num;

namespace ingot::lower {
namespace {

/// The longest line whose indices fit 32 bits.
constexpr int64_t mostShort = std::numeric_limits<int32_t>::max();

/// The tensor seen as [outer][length][inner], of which k elements of each line are wanted.
struct Extents {
  RankedTensorType type;
  support::Size outer, length, inner, k;

  explicit Extents(onnx::TopKOp op) : type(Group::typeOf(op.getX())) {
    int64_t axis = *onnx::normalAxis(op.getAxis(), type.getRank());
    support::Sizes sizes = onnx::sizesOf(type);
    ArrayRef<support::Size> all(sizes);
    outer = support::product(all.take_front(axis)), inner = support::product(all.drop_front(axis + 1));
    length = sizes[axis], k = onnx::sizeOf(Group::typeOf(op.getValues()), axis);
  }
  bool alongLines() const { return inner == support::Size(1); } ///< whether elements of a line lie side by side
  /// Returns how many lists there are at a time.
  int64_t listsFor(int64_t lanes) const { return alongLines() ? 1 : lanes; }
  /// Returns the elements of a list and what is in front of it.
  support::Size listSize(int64_t lanes) const { return support::Size(lanes) + max(k, support::Size(lanes)); }

  /// Returns c such that sorting a line of n elements takes as long as inserting k of them where k * k is about c * n:
  /// an insertion moves half of the list on average, in vectors.
  int64_t insertionsFor(int64_t lanes) const { return (type.getElementType().isF32() ? 5 : 25) * lanes; }
  /// Returns whether lines are sorted; nothing where only the run knows.
  std::optional<bool> sorts(int64_t lanes) const {
    if (!k.isNumber() || !length.isNumber()) {
      return std::nullopt;
    }
    int64_t n = length.number();
    return k.number() > insertionsFor(lanes) * n / std::max<int64_t>(k.number(), 1) && n <= mostShort;
  }
  /// Returns the bytes of the lists, or of what is sorted.
  support::Size scratchBytes(int64_t lanes) const {
    support::Size lists = support::Size(16 * listsFor(lanes)) * listSize(lanes) + support::Size(8 * lanes);
    support::Size sorted = support::Size(16) * length;
    std::optional<bool> how = sorts(lanes);
    return !how ? max(lists, sorted) : *how ? sorted : lists;
  }
};

/// The order of elements: the better one of two comes first.
class Comparison {
public:
  explicit Comparison(Build &build)
      : w(build.w), op(cast<onnx::TopKOp>(build.group.root)), raw(Group::typeOf(op.getX()).getElementType()),
        largest(op.getLargest() != 0) {}

  Num number(Value v) const { return Num(w.b, w.loc, v, raw); }
  /// Returns (i1) whether a comes before b, where they differ.
  Value better(Value a, Value b) const {
    Num n = number(a), m = number(b);
    if (!n.isFloat()) {
      return largest ? n > m : n < m;
    }
    Value perhaps = perhapsBetter(a, b); // NaN is the largest, and does not come before itself
    return arith::AndIOp::create(w.b, w.loc, perhaps, ~isNaN(largest ? m : n));
  }
  /// Returns (i1) whether a may come before b. This is one comparison, which also holds where one of them is NaN.
  Value perhapsBetter(Value a, Value b) const {
    if (!number(a).isFloat()) {
      return better(a, b);
    }
    auto how = largest ? arith::CmpFPredicate::UGT : arith::CmpFPredicate::ULT;
    return arith::CmpFOp::create(w.b, w.loc, how, a, b);
  }

protected:
  Writer &w;
  onnx::TopKOp op;
  Type raw; ///< the type of elements, with its sign
  bool largest;
};

/// The results, of which those that nothing reads are null.
struct Results {
  Buffer values, indices;

  explicit Results(const Build &build) {
    auto op = cast<onnx::TopKOp>(build.group.root);
    unsigned next = 0;
    values = op.getValues().use_empty() ? Buffer() : build.group.result(next++);
    indices = op.getIndices().use_empty() ? Buffer() : build.group.result(next);
  }
  void give(Writer &w, Ix place, Value v, Value at) const {
    if (values) {
      w.store(v, values, place);
    }
    if (indices) {
      w.store(w.integer(w.ix(at), w.b.getI64Type()), indices, place);
    }
  }
};

/// Builds the kernel of a machine whose items are threads: an item is an element.
class Ranking : Comparison {
public:
  explicit Ranking(Build &build) : Comparison(build), build(build) {}

  static support::Size items(const Extents &extents) { return extents.outer * extents.length * extents.inner; }

  void write() {
    Extents extents(op);
    Ix length = extents.length, inner = extents.inner, k = extents.k;
    Buffer x = build.group.buffer(op.getX());
    Results results(build);
    w.loop(build.begin, build.end, 1, [&](Ix place) {
      Ix line = floorDiv(place, length * inner), i = remainder(place, inner);
      Ix j = remainder(floorDiv(place, inner), length), begin = line * (length * inner) + i;
      Value own = w.load(x, place), none = w.constant(0, w.b.getI64Type());
      Value before = w.loop(0, length, 1, ValueRange{none}, [&](Ix other, ValueRange count) {
        return SmallVector<Value>{plusOneIf(comesBefore(w.load(x, begin + other * inner), other, own, j), count[0])};
      })[0];
      Ix rank = w.ix(before);
      w.ifThen(w.compare(arith::CmpIPredicate::slt, rank, k),
               [&] { results.give(w, line * (k * inner) + rank * inner + i, own, w.integer(j, w.b.getI64Type())); });
    });
  }

private:
  Build &build;

  Value plusOneIf(Value condition, Value count) {
    return arith::AddIOp::create(w.b, w.loc, count, arith::ExtUIOp::create(w.b, w.loc, count.getType(), condition));
  }
  /// Returns (i1) whether element `a`, of this index, comes before another one.
  Value comesBefore(Value a, Ix index, Value b, Ix other) {
    Value isEarlier = w.compare(arith::CmpIPredicate::slt, index, other), no = better(b, a);
    Value notAfter = arith::XOrIOp::create(w.b, w.loc, no, w.constant(1, w.b.getI1Type()));
    return arith::SelectOp::create(w.b, w.loc, isEarlier, notAfter, better(a, b));
  }
};

/// Builds the loops of one kernel.
class Selection : Comparison {
public:
  explicit Selection(Build &build)
      : Comparison(build), extents(op), results(build), element(valueType(raw)), i64(w.b.getI64Type()),
        lanes(w.machine.lanes), lists(extents.listsFor(lanes)), outer(extents.outer), length(extents.length),
        inner(extents.inner), k(extents.k), listSize(extents.listSize(lanes)), x(build.group.buffer(op.getX())) {
    support::Size room = support::Size(lists) * extents.listSize(lanes), bytes = support::Size(8) * room;
    bool isShort = length.known() && length.number() <= mostShort;
    bestAt = w.scratch(build.scratch, 0, isShort ? Type(w.b.getI32Type()) : i64, memoryExtent(room));
    best = w.scratch(build.scratch, bytes, raw, memoryExtent(room));
    least = w.scratch(build.scratch, bytes + bytes, raw, lanes);
    int64_t line = memoryExtent(extents.length);
    order = w.scratch(build.scratch, 0, i64, line);
    spare = w.scratch(build.scratch, support::Size(8) * extents.length, i64, line);
  }

  void write() {
    if (k.is(0)) {
      return;
    }
    if (k.is(1) && lanes > 1 && extents.alongLines() && length.known() && length.number() >= lanes &&
        length.number() <= mostShort) {
      return w.loop(0, outer, 1, [&](Ix o) {
        begin(o, 0);
        bestOfLine();
      });
    }
    if (std::optional<bool> how = extents.sorts(lanes)) {
      return *how ? sortLines() : insertInLines();
    }
    w.ifThen(w.compare(arith::CmpIPredicate::sgt, k, 0), [&] {
      Value many = w.compare(arith::CmpIPredicate::sgt, k * k, length * extents.insertionsFor(lanes));
      Value isShort = w.compare(arith::CmpIPredicate::sle, length, mostShort);
      w.ifElse(arith::AndIOp::create(w.b, w.loc, many, isShort), [&] { sortLines(); }, [&] { insertInLines(); });
    });
  }

private:
  Extents extents;
  Results results;
  Type element, i64; ///< the type of elements, without its sign
  int64_t lanes, lists;
  Ix outer, length, inner, k, listSize;
  Buffer x;            ///< the operand
  Buffer best, bestAt; ///< each list: a vector of values that nothing beats, then k values; and their indices
  Buffer least;        ///< the last value of each list
  Buffer order, spare; ///< the numbers that are sorted, and room for sorting them
  Ix from = 0, to = 0; ///< where the present line begins, and where its results do

  /// Returns whether lines are sorted by keys of 32 bits.
  bool isRadix() const { return element.isF32(); }

  /// Returns a value that no element comes before.
  Value unbeaten() {
    if (auto type = dyn_cast<FloatType>(element)) {
      const llvm::fltSemantics &semantics = type.getFloatSemantics();
      APFloat none = largest ? APFloat::getNaN(semantics) : APFloat::getInf(semantics, /*Negative=*/true);
      return arith::ConstantOp::create(w.b, w.loc, w.b.getFloatAttr(type, none));
    }
    unsigned bits = element.getIntOrFloatBitWidth();
    bool isUnsigned = number(w.constant(0, element)).unsignedInteger();
    APInt none = isUnsigned ? (largest ? APInt::getMaxValue(bits) : APInt::getMinValue(bits))
                            : (largest ? APInt::getSignedMaxValue(bits) : APInt::getSignedMinValue(bits));
    return arith::ConstantOp::create(w.b, w.loc, w.b.getIntegerAttr(element, none));
  }

  /// Goes to line `i` of `o`, or to the first of several lines.
  void begin(Ix o, Ix i) { from = o * (length * inner) + i, to = o * (k * inner) + i; }
  Value elementAt(Ix j, Ix line) { return w.load(x, from + j * inner + line); }
  /// Returns where the list of a line begins.
  Ix listOf(Ix line) { return line * listSize + lanes; }

  // The best one

  /// Elements and their indices, in the lanes of vectors.
  struct Indexed {
    Value value, index;
  };

  /// Returns a where a lane `wins`, else b.
  Indexed chosen(Value wins, const Indexed &a, const Indexed &b) {
    return {arith::SelectOp::create(w.b, w.loc, wins, a.value, b.value),
            arith::SelectOp::create(w.b, w.loc, wins, a.index, b.index)};
  }
  /// Returns lane by lane which of two comes first.
  Indexed first(const Indexed &a, const Indexed &b) {
    Value isInOrder = w.compare(arith::CmpIPredicate::slt, a.index, b.index);
    Indexed earlier = chosen(isInOrder, a, b), later = chosen(isInOrder, b, a);
    return chosen(better(later.value, earlier.value), later, earlier);
  }

  /// Writes the best element of a line, of which each lane has that of every `lanes`-th element first. The last vector
  /// may have elements of the one before it, which are no better than themselves.
  void bestOfLine() {
    auto at = [&](Ix j) -> Indexed {
      Value start = w.splat(w.integer(j, w.b.getI32Type()), lanes);
      return {w.load(x, from + j, lanes), arith::AddIOp::create(w.b, w.loc, start, counting(w, lanes))};
    };
    Indexed begin = at(0);
    Ix whole = length - remainder(length, lanes);
    SmallVector<Value> found =
        w.loop(lanes, whole, lanes, {begin.value, begin.index}, [&](Ix j, ValueRange c) -> SmallVector<Value> {
          Indexed next = at(j), best = chosen(better(next.value, c[0]), next, {c[0], c[1]}); // of equal ones the first
          return {best.value, best.index};
        });
    Indexed all{found[0], found[1]};
    if (!remainder(length, lanes).is(0)) {
      all = first(all, at(length - Ix(lanes)));
    }
    for (int64_t half = lanes / 2; half; half /= 2) {
      auto part = [&](int64_t from) -> Indexed {
        auto lanesOf = llvm::to_vector(llvm::seq(from, from + half));
        return {vector::ShuffleOp::create(w.b, w.loc, all.value, all.value, lanesOf),
                vector::ShuffleOp::create(w.b, w.loc, all.index, all.index, lanesOf)};
      };
      all = first(part(0), part(half));
    }
    give(0, 0, vector::ExtractOp::create(w.b, w.loc, all.value, 0),
         vector::ExtractOp::create(w.b, w.loc, all.index, 0));
  }

  // Insertion

  /// Writes the results of all lines by insertion.
  void insertInLines() {
    w.loop(0, lists, 1, [&](Ix line) { w.store(w.splat(unbeaten(), lanes), best, line * listSize); });
    w.loop(0, outer, 1, [&](Ix o) {
      w.loop(0, inner, lists, [&](Ix i) {
        begin(o, i);
        Ix lines = min(inner - i, lists);
        w.loop(0, lines, 1, [&](Ix line) {
          w.loop(0, k, 1, [&](Ix j) { insert(elementAt(j, line), j, listOf(line), j, /*filling=*/true); });
        });
        extents.alongLines() ? alongLine() : acrossLines(lines);
        w.loop(0, lines, 1, [&](Ix line) {
          w.loop(0, k, 1,
                 [&](Ix p) { give(p, line, w.load(best, listOf(line) + p), w.load(bestAt, listOf(line) + p)); });
        });
      });
    });
  }

  /// Goes through one line in vectors. In a long line several of them are compared at once, since few have an element
  /// that counts.
  void alongLine() {
    bool isLong = !length.known() || length.number() >= 32 * lanes;
    int64_t together = isLong ? 4 : 1, chunk = together * lanes;
    Ix list = listOf(0), whole = k + floorDiv(length - k, chunk) * chunk;
    auto hits = [&](Ix j, int64_t vectors) {
      Value last = w.splat(w.load(best, list + k - 1), lanes), beats;
      for (int64_t v = 0; v < vectors; ++v) {
        Value some = perhapsBetter(w.load(x, from + j + v * lanes, lanes), last);
        beats = beats ? arith::OrIOp::create(w.b, w.loc, beats, some).getResult() : some;
      }
      return any(w, beats);
    };
    auto each = [&](Ix begin, Ix end) { w.loop(begin, end, 1, [&](Ix j) { consider(j, 0); }); };
    w.loop(k, whole, chunk, [&](Ix j) {
      w.ifThen(hits(j, together), [&] {
        if (together == 1) {
          return each(j, j + lanes);
        }
        w.loop(j, j + chunk, lanes, [&](Ix one) { w.ifThen(hits(one, 1), [&] { each(one, one + lanes); }); });
      });
    });
    each(whole, length);
  }

  /// Goes through as many lines as a vector has lanes, an element of each at a time. Where fewer lines are left,
  /// elements are looked at one by one.
  void acrossLines(Ix lines) {
    w.loop(0, lines, 1, [&](Ix line) { w.store(w.load(best, listOf(line) + k - 1), least, line); });
    Value isWhole = w.compare(arith::CmpIPredicate::eq, lines, lists), one = w.constant(1, w.b.getI1Type());
    w.loop(k, length, 1, [&](Ix j) {
      Ix beaten = w.choose(
          isWhole,
          [&] {
            Value row = w.load(x, from + j * inner, lanes);
            return Ixs{
                w.ix(arith::ExtUIOp::create(w.b, w.loc, i64, any(w, perhapsBetter(row, w.load(least, 0, lanes)))))};
          },
          [&] { return Ixs{w.ix(arith::ExtUIOp::create(w.b, w.loc, i64, one))}; })[0];
      w.ifThen(w.compare(arith::CmpIPredicate::ne, beaten, 0),
               [&] { w.loop(0, lines, 1, [&](Ix line) { consider(j, line); }); });
    });
  }

  /// Inserts element j of a line if it beats the last of the list.
  void consider(Ix j, Ix line) {
    Ix list = listOf(line);
    Value v = elementAt(j, line), last = extents.alongLines() ? w.load(best, list + k - 1) : w.load(least, line);
    w.ifThen(better(v, last), [&] {
      insert(v, j, list, k, /*filling=*/false);
      if (!extents.alongLines()) {
        w.store(w.load(best, list + k - 1), least, line);
      }
    });
  }

  /// Puts an element into a list of k, the last of which it is better than, or into a list of `count` so far
  /// (`filling`).
  void insert(Value v, Ix j, Ix list, Ix count, bool filling) {
    Value at = w.integer(j, bestAt.element);
    if (k.known() && k.number() <= lanes && lanes > 1) {
      return insertInVector(v, at, list, filling ? std::optional<Ix>(count) : std::nullopt);
    }
    Ix end = filling ? count : k - 1;
    if (filling) { // at first it stands behind the others
      w.store(v, best, list + end);
      w.store(at, bestAt, list + end);
    }
    end = w.ix(repeatWhile(
        w, w.value(end), [&](ValueRange state) { return better(v, w.load(best, list + w.ix(state[0]) - lanes)); },
        [&](ValueRange state) {
          Ix begin = list + w.ix(state[0]) - lanes;
          for (Buffer each : {best, bestAt}) {
            w.store(w.load(each, begin, lanes), each, begin + 1);
          }
          return SmallVector<Value>{w.value(w.ix(state[0]) - lanes)};
        })[0]);
    Ix before = list + end - lanes, here = before + 1;
    Places places = {w.load(best, here, lanes), w.load(bestAt, here, lanes), w.load(best, before, lanes),
                     w.load(bestAt, before, lanes)};
    place(v, at, places, here, better(w.splat(v, lanes), places.old));
  }

  /// Puts an element into a list that is no longer than a vector, which stays where it is and moves in registers.
  void insertInVector(Value v, Value at, Ix list, std::optional<Ix> count) {
    Places places = {w.load(best, list, lanes), w.load(bestAt, list, lanes), {}, {}};
    SmallVector<int64_t> behind; // lane numbers that give each place what the place before had
    for (int64_t lane = 0; lane < lanes; ++lane) {
      behind.push_back(lane == 0 ? 0 : lanes + lane - 1);
    }
    auto moved = [&](Value first, Value old) -> Value {
      return vector::ShuffleOp::create(w.b, w.loc, w.splat(first, lanes), old, behind);
    };
    places.moved = moved(unbeaten(), places.old), places.movedAt = moved(at, places.oldAt);
    Value beats = better(w.splat(v, lanes), places.old);
    if (count) {
      Value filled = w.splat(w.integer(*count, w.b.getI32Type()), lanes);
      Value isFree = w.compare(arith::CmpIPredicate::sge, counting(w, lanes), filled);
      beats = arith::OrIOp::create(w.b, w.loc, beats, isFree);
    }
    place(v, at, places, list, beats);
  }

  /// A vector of places of a list, and what the place before each has.
  struct Places {
    Value old, oldAt, moved, movedAt;
  };
  /// Writes places: those that the new element beats move back, and the first of them gets the element.
  void place(Value v, Value at, const Places &places, Ix here, Value beats) {
    Value wide = w.splat(v, lanes), beatsMoved = better(wide, places.moved);
    auto chosen = [&](Value moved, Value mine, Value old) -> Value {
      Value stays = arith::SelectOp::create(w.b, w.loc, beats, mine, old);
      return arith::SelectOp::create(w.b, w.loc, beatsMoved, moved, stays);
    };
    w.store(chosen(places.moved, wide, places.old), best, here);
    w.store(chosen(places.movedAt, w.splat(at, lanes), places.oldAt), bestAt, here);
  }

  /// Writes the p-th result of a line.
  void give(Ix p, Ix line, Value v, Value at) { results.give(w, to + p * inner + line, v, at); }

  // Sorting

  /// Writes the results of all lines by sorting.
  void sortLines() {
    Buffer counts = isRadix() ? w.local(i64, sortCounts) : Buffer();
    w.loop(0, outer, 1, [&](Ix o) {
      w.loop(0, inner, 1, [&](Ix i) {
        begin(o, i);
        isRadix() ? sortByKeys(counts) : sortByValues();
        w.loop(0, k, 1, [&](Ix p) {
          Value at = restOf(w, w.load(order, p));
          give(p, 0, elementAt(w.ix(at), 0), at);
        });
      });
    });
  }

  /// Sorts a line of float32 by keys of 32 bits.
  void sortByKeys(Buffer counts) {
    w.loop(0, length, 1, [&](Ix j) {
      Num v = number(elementAt(j, 0)); // all NaNs become the one that comes first, whatever their signs
      Value key = highestFirst(w, select(isNaN(v), v.constant(std::numeric_limits<double>::quiet_NaN()), v));
      if (!largest) {
        key = arith::XOrIOp::create(w.b, w.loc, key, w.constant(-1, key.getType()));
      }
      w.store(keyed(w, key, w.integer(j, i64)), order, j);
    });
    sortByHighHalf(w, order, spare, counts, length);
  }
  /// Sorts a line by comparing elements.
  void sortByValues() {
    w.loop(0, length, 1, [&](Ix j) { w.store(w.integer(j, i64), order, j); });
    sort(w, order, length, [&](Value a, Value b) -> Value {
      Value v = elementAt(w.ix(a), 0), other = elementAt(w.ix(b), 0);
      Num first(w.b, w.loc, better(v, other), w.b.getI1Type()), last = first.like(better(other, v));
      return first | (~last & first.like(w.compare(arith::CmpIPredicate::slt, a, b)));
    });
  }
};

class TopK : public KernelFamily {
public:
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::TopKOp>(); }
  std::string unsupported(Operation *root, const target::MachineModel &machine) const override {
    auto op = cast<onnx::TopKOp>(root);
    bool known = onnx::isSized(op.getX()) && onnx::isSized(op.getValues());
    return known ? "" : "its shape or k is not known at compile time";
  }
  bool fusesEpilogue(Operation *) const override { return false; }

  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    KernelShape s;
    Extents extents(cast<onnx::TopKOp>(kernel.root()));
    if (machine.itemsAreThreads) {
      s.items = Ranking::items(extents);
    } else {
      s.scratchBytes = extents.scratchBytes(machine.lanes);
    }
    return s;
  }
  LogicalResult build(Build &build, const KernelShape &) const override {
    if (build.w.machine.itemsAreThreads) {
      Ranking(build).write();
    } else {
      Selection(build).write();
    }
    return success();
  }
};

} // namespace

std::unique_ptr<KernelFamily> createTopKFamily() { return std::make_unique<TopK>(); }

} // namespace ingot::lower
