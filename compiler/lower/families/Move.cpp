// Ops that only move elements (onnx::Mover): each box of the result is a loop nest of its own over dimensions merged as
// far as source, result and epilogue operands walk them alike. The innermost loop takes vectors: contiguous ones, one
// element for all lanes, or, where the source runs along another dimension than the result (a transpose), square tiles
// that are loaded along one, transposed in registers, and stored along the other; or, where the result's last dimension
// is short (pixels shuffled), vectors along the one before it, interleaved in registers. Concatenations also work on
// channel blocks, where every box begins at a block.
#include "compiler/onnx/ops/Move.h"
#include "compiler/lower/core/Portion.h"
#include "compiler/lower/core/Vectors.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/ops/Pad.h"

using namespace mlir;

namespace ingot::lower {
namespace {

/// One box being written.
class Box {
public:
  /// `channels`: of a row-major source that is read into blocks; 0 for any other.
  Box(Build &build, Space space, Value fill, int64_t channels)
      : w(build.w), group(build.group), space(std::move(space)), fill(fill), channels(channels) {
    key = group.root->getResult(0);
    hasSource = this->space.accesses.count(key);
    if (!channels) {
      this->space.collapse();
    }
    chooseTile();
  }

  void write(const Build &build, Ix items) {
    Portion portion(build, items, space.sizes);
    Point at;
    at.at.assign(space.sizes.size(), 0);
    if (portion.isOnePlace()) {
      portion.onePlace([&] { loops(portion, at, 0); });
    } else {
      loops(portion, at, 0);
    }
  }

private:
  Writer &w;
  Group &group;
  Space space;
  Value fill, key;
  bool hasSource;
  int64_t channels;
  int tileAxis = -1; ///< the dimension that the source runs along, where it is not the last

  /// Whether there are at least `n` places for certain.
  static bool atLeast(Ix size, int64_t n) { return size.known() && size.number() >= n; }
  /// Whether there are at least `n` places, or only the run knows how many.
  static bool mayBe(Ix size, int64_t n) { return !size.known() || size.number() >= n; }

  const Access &source() { return space.accesses.find(key)->second; }

  void chooseTile() {
    int64_t l = w.machine.lanes, last = static_cast<int64_t>(space.sizes.size()) - 1;
    if (!hasSource || space.block > 1 || last < 1 || l < 2 || !mayBe(space.sizes[last], l) ||
        (source().strides[last].known() && std::abs(source().strides[last].number()) <= 1)) {
      return;
    }
    for (int64_t d = 0; d < last; ++d) {
      if (source().strides[d].is(1) && mayBe(space.sizes[d], l)) {
        tileAxis = d;
      }
    }
  }

  void loops(const Portion &portion, Point &at, size_t d) {
    size_t last = space.sizes.size() - 1;
    if (space.sizes.empty() || (space.block > 1 && d > last)) {
      at.lanes = space.block;
      return put(at);
    }
    if (d + 1 == last && isInterleaved()) {
      return interleaved(portion, at);
    }
    if (d == last && space.block == 1) {
      return tileAxis < 0 ? along(portion, at) : tiles(portion, at);
    }
    if (static_cast<int>(d) == tileAxis) {
      return loops(portion, at, d + 1);
    }
    portion.loop(d, space.sizes[d], 1, [&](Ix i) {
      at.at[d] = i;
      loops(portion, at, d + 1);
    });
  }

  /// Whether the last dimension is so short that its elements, which lie apart, are faster one by one than gathered.
  bool isShortStrided() {
    constexpr int64_t few = 4;
    const Ix &last = space.sizes.back();
    return !w.machine.itemsAreThreads && hasSource && last.known() && last.number() <= few &&
           !source().strides.back().is(1) && !source().strides.back().is(0);
  }

  /// Whether the source runs along the dimension before the last, which is that short, and all else goes on from one of
  /// its rows to the next.
  bool isInterleaved() {
    size_t last = space.sizes.size() - 1;
    if (tileAxis >= 0 || space.block > 1 || w.machine.lanes < 2 || !isShortStrided() ||
        !atLeast(space.sizes[last], 2) || !source().strides[last - 1].is(1)) {
      return false;
    }
    Space others = space;
    others.accesses.erase(key);
    return others.mergeable(last);
  }

  /// The last two dimensions together: a vector for each place of the last one, interleaved.
  void interleaved(const Portion &portion, Point at) {
    size_t last = space.sizes.size() - 1;
    int64_t l = w.machine.lanes, few = space.sizes[last].number();
    Ix places = space.sizes[last - 1], whole = places - remainder(places, l);
    portion.loop(last - 1, whole, l, [&](Ix first) {
      Point p = at;
      SmallVector<Value> rows;
      for (int64_t i = 0; i < few; ++i) {
        p.at[last - 1] = first, p.at[last] = i;
        rows.push_back(w.load(source().buffer, source().at(p.at), l));
      }
      p.lanes = l;
      for (auto [i, v] : llvm::enumerate(interleave(w, rows))) {
        int64_t element = static_cast<int64_t>(i) * l;
        p.at[last - 1] = first + element / few, p.at[last] = element % few;
        group.finish(v, space, p);
      }
    });
    portion.rest(last - 1, [&] {
      w.loop(whole, places, 1, [&](Ix i) {
        at.at[last - 1] = i;
        along(portion, at);
      });
    });
  }

  /// The last dimension in vectors.
  void along(const Portion &portion, Point at) {
    size_t last = space.sizes.size() - 1;
    if (isShortStrided()) {
      return portion.rest(last, [&] {
        for (int64_t i = 0; i < space.sizes.back().number(); ++i) {
          at.at.back() = i;
          put(at);
        }
      });
    }
    portion.lanes(last, space.sizes.back(), [&](Ix i, int64_t lanes, Value mask) {
      Point p = at;
      p.at.back() = i, p.lanes = lanes, p.mask = mask;
      put(p);
    });
  }

  void tiles(const Portion &portion, Point &at) {
    int64_t l = w.machine.lanes, strip = rowsOfStrip();
    Ix rows = space.sizes[tileAxis], wholeRows = rows - remainder(rows, l);
    Ix inStrips = strip > l ? wholeRows - remainder(wholeRows, strip) : wholeRows;
    portion.loop(tileAxis, inStrips, strip, [&](Ix row) { tilesOfRows(at, row, strip); });
    portion.rest(tileAxis, [&] {
      w.loop(inStrips, wholeRows, l, [&](Ix row) { tilesOfRows(at, row, l); });
      w.loop(wholeRows, rows, 1, [&](Ix r) {
        at.at[tileAxis] = r;
        along(portion, at);
      });
    });
  }

  /// How many rows of tiles are written together. Of a large source they are so many that what is read at a time fills
  /// some lines beside each other: each place is on another page, whose address has to be found each time. Threads
  /// share out strips, so there have to be some.
  int64_t rowsOfStrip() {
    constexpr int64_t farBytes = 1 << 20, stripBytes = 512, leastStrips = 4;
    auto type = cast<MemRefType>(source().buffer.memref.getType());
    int64_t bytes = std::max<int64_t>(1, type.getElementTypeBitWidth() / 8), l = w.machine.lanes;
    support::Size all = product(onnx::sizesOf(space.type));
    bool isNear = all.isNumber() && all.number() * bytes < farBytes;
    int64_t strip = std::max(l, stripBytes / bytes);
    return isNear || !mayBe(space.sizes[tileAxis], leastStrips * strip) ? l : strip;
  }

  /// `count` rows of tiles from `row` on, a line of each row at a time, and what is left of the last dimension.
  void tilesOfRows(Point &at, Ix row, int64_t count) {
    int64_t l = w.machine.lanes;
    Ix columns = space.sizes.back(), whole = columns - remainder(columns, l);
    w.loop(0, whole, l, [&](Ix column) {
      if (count == l) {
        return tile(at, row, column);
      }
      w.loop(0, count, l, [&](Ix r) { tile(at, row + r, column); });
    });
    w.loop(row, row + count, 1, [&](Ix r) {
      at.at[tileAxis] = r;
      w.loop(whole, columns, 1, [&](Ix c) {
        Point p = at;
        p.at.back() = c;
        put(p);
      });
    });
  }

  void tile(Point at, Ix row, Ix column) {
    int64_t l = w.machine.lanes;
    SmallVector<Value> rows;
    at.at[tileAxis] = row;
    for (int64_t i = 0; i < l; ++i) {
      at.at.back() = column + i;
      rows.push_back(w.load(source().buffer, source().at(at.at), l));
    }
    rows = transpose(w, rows);
    at.at.back() = column, at.lanes = l;
    for (int64_t i = 0; i < l; ++i) {
      at.at[tileAxis] = row + i;
      group.finish(rows[i], space, at);
    }
  }

  /// Reads one vector, applies the epilogue and stores it.
  void put(const Point &at) {
    if (!hasSource) {
      return group.finish(w.splat(fill, at.lanes), space, at);
    }
    Ix from = source().at(at.at);
    Value v;
    if (space.block > 1) {
      v = readBlock(from, at);
    } else {
      v = w.loadStrided(source().buffer, from, space.sizes.empty() ? 1 : source().strides.back(), at.lanes, at.mask);
    }
    group.finish(v, space, at);
  }

  /// One channel block; of a row-major operand its lanes lie apart, and the last block may end early.
  Value readBlock(Ix from, const Point &at) {
    const Access &s = source();
    if (!channels) {
      return w.load(s.buffer, from, at.lanes);
    }
    Value mask = channels % at.lanes ? w.maskFor(min(Ix(channels) - at.at[1] * at.lanes, at.lanes), at.lanes) : Value();
    return w.loadStrided(s.buffer, from, s.laneStride, at.lanes, mask);
  }
};

/// The scalar that fills boxes without a source.
Value fillOf(Build &build, const onnx::Movement &movement) {
  Writer &w = build.w;
  Type type = valueType(getElementTypeOrSelf(build.group.root->getResult(0).getType()));
  if (movement.fillOperand < 0) {
    return w.constant(0, type);
  }
  Value v = build.group.root->getOperand(movement.fillOperand);
  if (auto known = onnx::splatNumber(v)) {
    return w.constant(*known, type);
  }
  return w.load(build.group.buffer(v), 0);
}

/// Returns the strides over the movement's axes, which follow from those over the result's.
Ixs spread(ArrayRef<Ix> strides, const onnx::Movement &movement) {
  if (movement.axes.empty()) {
    return Ixs(strides);
  }
  Ixs out(movement.shape.size());
  Ix inner = 1;
  for (size_t i = out.size(); i-- > 0;) {
    inner = i + 1 < out.size() && movement.axes[i] == movement.axes[i + 1] ? inner * movement.shape[i + 1] : Ix(1);
    out[i] = strides[movement.axes[i]] * inner;
  }
  return out;
}

class Move : public KernelFamily {
public:
  SmallVector<TypeID> roots() const override {
    return rootsOf<onnx::TransposeOp, onnx::SliceOp, onnx::ConcatOp, onnx::ExpandOp, onnx::TileOp, onnx::PadOp>();
  }
  std::string unsupported(Operation *root, const target::MachineModel &machine) const override {
    return cast<onnx::Mover>(root).movement() ? "" : "its shape or positions are not known at compile time";
  }
  /// In blocked layout boxes of channels must begin at whole blocks.
  LayoutRule layoutRule(Operation *root, const target::MachineModel &machine) const override {
    auto concat = dyn_cast<onnx::ConcatOp>(root);
    auto y = concat ? onnx::ranked(concat.getY()) : RankedTensorType();
    if (!y || y.getRank() < 3) {
      return LayoutRule::RowMajor;
    }
    bool wholeBlocks = llvm::all_of(concat.getXs().drop_back(),
                                    [&](Value x) { return onnx::ranked(x).getDimSize(1) % machine.blockLanes() == 0; });
    return concat.joinAxis() != 1 || wholeBlocks ? LayoutRule::Follow : LayoutRule::RowMajor;
  }

  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    KernelShape shape;
    shape.items = Portion::items(kernel, machine);
    shape.extends = extendedBy(kernel);
    return shape;
  }

  LogicalResult build(Build &build, const KernelShape &shape) const override {
    std::optional<onnx::Movement> movement = cast<onnx::Mover>(build.group.root).movement();
    assert(movement && "partition takes no movement whose places are not known");
    Value fill = fillOf(build, *movement);
    const Space space = spaceOf(build.group);
    for (const onnx::MovedBox &box : movement->boxes) {
      auto write = [&] { writeBox(build, space, shape.items, *movement, box, fill); };
      if (shape.extends && &box == &movement->boxes.front()) {
        Buffer extended = build.group.buffer(build.group.root->getOperand(box.operand));
        build.w.ifThen(build.w.elsewhere(extended, build.group.result()), write);
      } else {
        write();
      }
    }
    return success();
  }

private:
  /// The operand that an open result, which nothing is computed from here, has as its first elements in memory.
  static std::optional<int64_t> extendedBy(plan::KernelOp kernel) {
    auto root = cast<onnx::Mover>(kernel.root());
    auto movement = root.movement();
    Value y = root->getResult(0);
    Operation *yield = kernel.getBody().front().getTerminator();
    bool alone = yield->getNumOperands() == 1 && yield->getOperand(0) == y;
    if (!alone || !movement || movement->boxes.size() < 2 || plan::blockedOf(y.getType()) ||
        product(movement->shape).isNumber()) {
      return std::nullopt;
    }
    std::optional<int64_t> first = onnx::extendedOperand(*movement);
    int operand = first ? operandNumber(root->getOperand(*first)) : -1;
    bool plain = operand >= 0 && !plan::blockedOf(root->getOperand(*first).getType());
    return plain ? std::optional<int64_t>(operand) : std::nullopt;
  }

  /// The result's space without what only the root reads.
  static Space spaceOf(const Group &group) {
    Space space = group.space(group.resultType());
    space.accesses.remove_if([&](auto &entry) {
      return llvm::all_of(entry.first.getUsers(), [&](Operation *user) { return user == group.root; });
    });
    return space;
  }

  static void writeBox(Build &build, Space space, Ix items, const onnx::Movement &movement, const onnx::MovedBox &box,
                       Value fill) {
    Group &group = build.group;
    Ixs start(box.start.begin(), box.start.end()), sizes(box.sizes.begin(), box.sizes.end());
    if (llvm::any_of(sizes, [](const Ix &size) { return size.is(0); })) {
      return;
    }
    if (space.block > 1) { // channels count in blocks
      start[1] = floorDiv(start[1], space.block);
      sizes[1] = floorDiv(sizes[1] + (space.block - 1), space.block);
    }
    auto enter = [&](Access &a) {
      a.strides = spread(a.strides, movement);
      for (auto [begin, stride] : llvm::zip_equal(start, a.strides)) {
        a.offset += begin * stride;
      }
    };
    for (auto &[value, access] : space.accesses) {
      enter(access);
    }
    llvm::for_each(space.results, enter);
    space.sizes = sizes;
    int64_t channels = 0;
    if (box.operand != onnx::MovedBox::fill) {
      Value operand = group.root->getOperand(box.operand);
      Access from{box.source, group.buffer(operand), 1};
      if (space.block > 1) {
        channels = blockedSource(from, Group::typeOf(operand), space.block);
      }
      space.accesses[group.root->getResult(0)] = from;
    }
    Box(build, std::move(space), fill, channels).write(build, items);
  }

  /// The access of an operand of a concatenation in a blocked space; gives the channels of a row-major one.
  static int64_t blockedSource(Access &from, RankedTensorType type, int64_t block) {
    plan::Strides strides = plan::stridesOf(type);
    from = {strides, from.buffer, 1};
    if (plan::blockedOf(type)) {
      return 0;
    }
    from.laneStride = strides.strides[1];
    from.strides[1] *= block;
    return type.getDimSize(1);
  }
};

} // namespace

std::unique_ptr<KernelFamily> createMoveFamily() { return std::make_unique<Move>(); }

} // namespace ingot::lower
