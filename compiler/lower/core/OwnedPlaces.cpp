#include "compiler/lower/core/OwnedPlaces.h"
#include "compiler/lower/core/IndexBox.h"
#include "compiler/lower/core/Indexing.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/constants/Evaluate.h"
#include "compiler/onnx/ops/Gather.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ingot::lower {
namespace {

using support::Size;
using support::Sizes;

/// Each item reads all indices. So there are as many items as keep a GPU busy, and fewer of them for many updates.
constexpr int64_t manyItems = 1 << 16, fewItems = 1 << 14, manyUpdates = 1024;
/// The number of owners where only the run knows how many places there are.
constexpr int64_t mostOwners = 1024;

/// The axes of a scatter.
struct Axes {
  Sizes data, updates;
  size_t first, looked; ///< the first axis of the data that indices address, and how many these are
  size_t walked;        ///< how many axes the updates have in their place

  explicit Axes(Operation *scatter)
      : data(onnx::sizesOf(Group::typeOf(scatter->getOperand(0)))),
        updates(onnx::sizesOf(Group::typeOf(scatter->getOperand(2)))) {
    auto elements = dyn_cast<onnx::ScatterElementsOp>(scatter);
    first = elements ? *onnx::normalAxis(elements.getAxis(), data.size()) : 0;
    looked = cast<onnx::Indexer>(scatter).lookup().parts.size();
    walked = looked + updates.size() - data.size();
  }
  Sizes outer() const { return Sizes(ArrayRef(data).take_front(first)); }
  Sizes lookedUp() const { return Sizes(ArrayRef(data).slice(first, looked)); }
  Sizes inner() const { return Sizes(ArrayRef(data).drop_front(first + looked)); }
  Sizes walk() const { return Sizes(ArrayRef(updates).slice(first, walked)); }
};

/// The axis of the updates along which the index of a looked-up axis counts, from `first` on.
struct BoxAxis {
  int64_t first = 0, step = 0;
  size_t axis = 0; ///< of the walk; has no meaning where the step is 0
};

/// Returns for each looked-up axis which axis of the walk it is; nothing where there is no box, or one of another kind:
/// an index may count along two axes, or two updates may go to one place.
std::optional<SmallVector<BoxAxis>> boxAxesOf(Operation *scatter, const Axes &axes) {
  std::optional<IndexBox> box = boxOf(scatter);
  if (!box) {
    return std::nullopt;
  }
  SmallVector<BoxAxis> found;
  SmallVector<bool> isTaken(axes.walked, false);
  for (const IndexBox::Line &line : box->lines) {
    BoxAxis own = {line.first};
    for (auto [d, step] : llvm::enumerate(line.steps)) {
      if (step == 0) {
        continue;
      }
      bool isWalked = d >= axes.first && d < axes.first + axes.walked;
      if (own.step != 0 || !isWalked || isTaken[d - axes.first]) {
        return std::nullopt;
      }
      own.step = step, own.axis = d - axes.first;
      isTaken[own.axis] = true;
    }
    found.push_back(own);
  }
  for (auto [size, taken] : llvm::zip_equal(axes.walk(), isTaken)) {
    if (!taken && !size.is(1)) {
      return std::nullopt;
    }
  }
  return found;
}

Size ownersOf(Operation *scatter, const Axes &axes) {
  Size looked = support::product(axes.lookedUp());
  if (boxAxesOf(scatter, axes)) {
    return looked;
  }
  Size others = support::product(axes.outer()) * support::product(axes.inner()), walk = support::product(axes.walk());
  int64_t wanted = walk.isNumber() && walk.number() > manyUpdates ? fewItems : manyItems;
  int64_t most = looked.isNumber() ? std::min(looked.number(), mostOwners) : mostOwners, owners = 1;
  int64_t already = others.isNumber() ? std::max<int64_t>(others.number(), 1) : wanted / 16;
  while (owners < most && owners * already < wanted) {
    owners *= 2; // a power of two, so that nothing is divided
  }
  return owners;
}

/// Writes the kernel of one scatter.
class OwnPlaces {
public:
  OwnPlaces(Build &build, WriteUpdate write)
      : build(build), w(build.w), group(build.group), scatter(group.root), writeUpdate(write), axes(scatter),
        boxAxes(boxAxesOf(scatter, axes)), owners(ownersOf(scatter, axes)) {
    Sizes sizes = axes.updates;
    updates = walked(group.buffer(scatter->getOperand(2)), onnx::rowMajorStrides(ArrayRef<Size>(sizes)));
  }

  void write() {
    Ix all = support::product(axes.outer()) * owners * support::product(axes.inner());
    Ix end = all.is(1) ? Ix(1) : min(build.end, all), begin = all.is(1) ? Ix(0) : build.begin;
    Ix count = support::product(axes.updates);
    auto items = [&] {
      if (!all.is(0)) {
        w.loop(begin, end, 1, [&](Ix item) { writeItem(item); });
      }
    };
    onnx::Lookup lookup = cast<onnx::Indexer>(scatter).lookup();
    boxAxes ? whereFits(build, *boxOf(scatter), count, items) : wherePlaces(build, lookup, count, items);
  }

private:
  Build &build;
  Writer &w;
  Group &group;
  Operation *scatter;
  WriteUpdate writeUpdate;
  Axes axes;
  std::optional<SmallVector<BoxAxis>> boxAxes;
  Size owners;
  Access updates;

  /// Returns the coordinates of a number that counts places of these sizes.
  static Ixs unflatten(Ix number, const Sizes &sizes) {
    Ixs at(sizes.size(), 0);
    for (size_t d = sizes.size(); d-- > 0;) {
      at[d] = d == 0 ? number : remainder(number, sizes[d]);
      number = d == 0 ? number : floorDiv(number, sizes[d]);
    }
    return at;
  }

  /// Returns whether all conditions hold.
  Value all(ArrayRef<Value> conditions) {
    Value together;
    for (Value condition : conditions) {
      together = together ? arith::AndIOp::create(w.b, w.loc, together, condition).getResult() : condition;
    }
    return together;
  }
  void ifAll(ArrayRef<Value> conditions, llvm::function_ref<void()> body) {
    conditions.empty() ? body() : w.ifThen(all(conditions), body);
  }

  void writeItem(Ix item) {
    Ix innerSize = support::product(axes.inner()), lookedSize = support::product(axes.lookedUp());
    Ix i = remainder(item, innerSize), rest = floorDiv(item, innerSize), owner = remainder(rest, owners),
       o = floorDiv(rest, owners);
    auto placeOf = [&](Ix looked) { return (o * lookedSize + looked) * innerSize + i; };
    copyOwn(owner, lookedSize, placeOf);
    // Updates may be fewer than the data along the axes that nothing is looked up on.
    Ixs at = unflatten(o, axes.outer()), behind = unflatten(i, axes.inner());
    SmallVector<Value> isInside;
    auto require = [&](size_t updateAxis, size_t dataAxis, Ix coordinate) {
      if (!(axes.updates[updateAxis] == axes.data[dataAxis])) {
        isInside.push_back(w.compare(arith::CmpIPredicate::slt, coordinate, axes.updates[updateAxis]));
      }
    };
    for (size_t d = 0; d < at.size(); ++d) {
      require(d, d, at[d]);
    }
    for (size_t d = 0; d < behind.size(); ++d) {
      require(axes.first + axes.walked + d, axes.first + axes.looked + d, behind[d]);
    }
    ifAll(isInside,
          [&] { boxAxes ? writeFromBox(at, behind, owner, placeOf(owner)) : walk(at, behind, owner, placeOf); });
  }

  void copyOwn(Ix owner, Ix lookedSize, llvm::function_ref<Ix(Ix)> placeOf) {
    Buffer data = group.buffer(scatter->getOperand(0)), result = group.result();
    w.ifThen(w.elsewhere(data, result), [&] {
      w.loop(owner, lookedSize, owners, [&](Ix looked) {
        Ix place = placeOf(looked);
        w.store(w.load(data, place), result, place);
      });
    });
  }

  /// Writes loops over the walk's axes from at.size() - first on, and in them the updates that are the item's.
  void walk(Ixs &at, const Ixs &behind, Ix owner, llvm::function_ref<Ix(Ix)> placeOf) {
    size_t d = at.size();
    if (d < axes.first + axes.walked) {
      return w.loop(0, axes.updates[d], 1, [&](Ix i) {
        at.push_back(i);
        walk(at, behind, owner, placeOf);
        at.pop_back();
      });
    }
    // Lookups count elements of the data, and here its places along the axes that are looked up.
    onnx::Lookup lookup = cast<onnx::Indexer>(scatter).lookup();
    Size stride = 1;
    for (onnx::Lookup::Part &part : llvm::reverse(lookup.parts)) {
      part.stride = stride;
      stride = stride * part.size;
    }
    Ixs point(at);
    point.append(behind.begin(), behind.end());
    Access indices = walked(group.buffer(scatter->getOperand(1)), lookup.indexStrides);
    Ix looked = lookedUp(build, lookup, indices, point);
    SmallVector<Value> isOwn;
    if (!owners.is(1)) {
      isOwn.push_back(w.compare(arith::CmpIPredicate::eq, remainder(looked, owners), owner));
    }
    ifAll(isOwn, [&] { writeUpdate(updates.at(point), placeOf(looked)); });
  }

  /// Writes the update, if any, that goes to the place of an item with one place.
  void writeFromBox(const Ixs &at, const Ixs &behind, Ix looked, Ix place) {
    Ixs coordinates = unflatten(looked, axes.lookedUp()), walk(axes.walked, 0);
    SmallVector<Value> isInside;
    auto require = [&](arith::CmpIPredicate how, Ix a, Ix b) { isInside.push_back(w.compare(how, a, b)); };
    for (auto [coordinate, own] : llvm::zip_equal(coordinates, *boxAxes)) {
      if (own.step == 0) {
        require(arith::CmpIPredicate::eq, coordinate, own.first);
        continue;
      }
      // The division is written for numbers that are not negative, and a negative distance is left out anyway.
      Ix distance = own.step > 0 ? coordinate - own.first : Ix(own.first) - coordinate, step = std::abs(own.step);
      Ix far = max(distance, 0);
      require(arith::CmpIPredicate::sge, distance, 0);
      if (!step.is(1)) {
        require(arith::CmpIPredicate::eq, remainder(far, step), 0);
      }
      walk[own.axis] = floorDiv(far, step);
      require(arith::CmpIPredicate::slt, walk[own.axis], axes.updates[axes.first + own.axis]);
    }
    Ixs point(at);
    point.append(walk.begin(), walk.end());
    point.append(behind.begin(), behind.end());
    ifAll(isInside, [&] { writeUpdate(updates.at(point), place); });
  }
};

} // namespace

support::Size ownersOfPlaces(Operation *scatter) {
  Axes axes(scatter);
  return max(Size(1), support::product(axes.outer()) * ownersOf(scatter, axes) * support::product(axes.inner()));
}

bool isOwnedBox(Operation *scatter) { return boxAxesOf(scatter, Axes(scatter)).has_value(); }

void scatterToOwnPlaces(Build &build, WriteUpdate write) { OwnPlaces(build, write).write(); }

std::optional<int64_t> updatesOfOwner(Operation *scatter) {
  Axes axes(scatter);
  Size walk = support::product(axes.walk());
  return walk.isNumber() ? std::optional(walk.number()) : std::nullopt;
}

} // namespace ingot::lower
