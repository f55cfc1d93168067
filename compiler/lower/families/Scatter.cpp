// Builds scatters (onnx::Indexer). The data is copied to the result, unless it lies there already. Then the updates are
// walked in order, and each is written at the place that its index gives, or combined with what is there. Whole vectors
// are written where the index stays the same along the updates' innermost dimension.
//
// Constant indices that address a box of the data (lower/core/IndexBox.h) are not read, and whole vectors are written
// where the box's innermost dimensions are dense.
//
// Where work items are threads, each item writes the places of the result that it owns, and no others
// (lower/core/OwnedPlaces.h).
#include "compiler/lower/core/CopyElements.h"
#include "compiler/lower/core/IndexBox.h"
#include "compiler/lower/core/Indexing.h"
#include "compiler/lower/core/OwnedPlaces.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/ScalarMath.h"
#include "compiler/onnx/ops/Gather.h"
#include "compiler/onnx/sizes/Shapes.h"

using namespace mlir;

namespace ingot::lower {
namespace {

/// Builds the loops of one kernel.
class Loops {
public:
  explicit Loops(Build &build)
      : build(build), w(build.w), group(build.group), lookup(cast<onnx::Indexer>(group.root).lookup()),
        box(boxOf(group.root)), element(onnx::elementOf(group.root->getOperand(2))),
        sizes(sizesOf(Group::typeOf(group.root->getOperand(2)))) {
    if (box) {
      lookup = box->lookup;
      llvm::fill(lookup.indexStrides, support::Size(0));
    }
    indices = walked(group.buffer(group.root->getOperand(1)), lookup.indexStrides);
    updates = {{0, dense(sizes)}, group.buffer(group.root->getOperand(2)), 1};
    result = walked(group.result(), lookup.dataStrides);
    result.offset = box ? Ix(box->offset) : Ix(0);
    if (auto reduction = group.root->getAttrOfType<StringAttr>("reduction")) {
      combination = reduction.getValue();
    }
  }

  /// Writes what an item does that is one of many threads.
  void writeOwnPlaces() {
    scatterToOwnPlaces(build, [&](Ix from, Ix to) { put(from, to, 1, {}); });
  }

  void write() {
    Buffer data = group.buffer(group.root->getOperand(0));
    w.ifThen(w.elsewhere(data, group.result()),
             [&] { copyElements(w, data, 0, group.result(), 0, elements(sizesOf(group.resultType()))); });
    if (llvm::any_of(sizes, [](const Ix &size) { return size.is(0); })) {
      return;
    }
    box ? whereFits(build, *box, elements(sizes), [&] { loops(); })
        : wherePlaces(build, lookup, elements(sizes), [&] { loops(); });
  }

private:
  Build &build;
  Writer &w;
  Group &group;
  onnx::Lookup lookup;
  std::optional<IndexBox> box;
  Type element;
  Ixs sizes; ///< the sizes of the updates
  Access indices, updates, result;
  StringRef combination = "none";
  SmallVector<Ix> at;

  /// Writes loops over dimension at.size() of the updates and those below.
  void loops() {
    size_t d = at.size(), rank = sizes.size();
    bool row = d < rank && rest(indices.strides, d, 0) && rest(result.strides, d, 1);
    if (row || d == rank) {
      Ix length = row ? elements(ArrayRef<Ix>(sizes).drop_front(d)) : Ix(1);
      SmallVector<Ix> first(at);
      first.resize(rank, 0);
      Ix to = result.at(first) + lookedUp(build, lookup, indices, first), from = updates.at(first);
      w.lanes(length, [&](Ix i, int64_t lanes, Value mask) { put(from + i, to + i, lanes, mask); });
      return;
    }
    w.loop(0, sizes[d], 1, [&](Ix i) {
      at.push_back(i);
      loops();
      at.pop_back();
    });
  }

  /// Returns whether the axes from `d` on all have stride zero (`innermost` 0), or are dense (`innermost` 1).
  bool rest(ArrayRef<Ix> strides, size_t d, int64_t innermost) const {
    Ix expected = innermost;
    for (size_t i = sizes.size(); i-- > d;) {
      if (!sizes[i].is(1) && !same(strides[i], expected)) {
        return false;
      }
      expected *= sizes[i];
    }
    return true;
  }

  static Ixs sizesOf(RankedTensorType type) {
    support::Sizes sizes = onnx::sizesOf(type);
    return Ixs(sizes.begin(), sizes.end());
  }
  /// Returns the product of sizes.
  static Ix elements(ArrayRef<Ix> sizes) {
    Ix product = 1;
    for (const Ix &size : sizes) {
      product *= size;
    }
    return product;
  }
  /// Returns the row-major strides for sizes.
  static Ixs dense(ArrayRef<Ix> sizes) {
    Ixs strides(sizes.size(), 1);
    for (size_t i = sizes.size(); i-- > 1;) {
      strides[i - 1] = strides[i] * sizes[i];
    }
    return strides;
  }

  /// Writes, or combines, the updates from `from` on.
  void put(Ix from, Ix to, int64_t lanes, Value mask) {
    Value update = w.load(updates.buffer, from, lanes, mask);
    if (combination != "none") {
      onnx::Num old(w.b, w.loc, w.load(group.result(), to, lanes, mask), element), fresh = old.like(update);
      update = combination == "add"   ? old + fresh
               : combination == "mul" ? old * fresh
               : combination == "max" ? maximum(old, fresh)
                                      : minimum(old, fresh);
    }
    w.store(update, group.result(), to, mask);
  }
};

class Scatter : public KernelFamily {
public:
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::ScatterElementsOp, onnx::ScatterNDOp>(); }
  std::string unsupported(Operation *root, const target::MachineModel &machine) const override {
    return whyNotIndexed(root);
  }
  bool fusesEpilogue(Operation *) const override { return false; }

  void mark(plan::KernelOp kernel) const override { markBox(kernel); }
  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    KernelShape s;
    std::optional<IndexBox> box = boxOf(kernel.root());
    if (machine.itemsAreThreads) {
      s.items = ownersOfPlaces(kernel.root());
      box = isOwnedBox(kernel.root()) ? box : std::nullopt;
    }
    s.checked = !box || !box->ends.empty();
    if (Value indices = kernel.root()->getOperand(1); box && indices.hasOneUse()) {
      s.packed[operandNumber(indices)] = omittedRecipe();
    }
    s.replaces(kernel.root()->getOperand(0)); // the same tensor may be the updates as well
    return s;
  }
  LogicalResult build(Build &build, const KernelShape &) const override {
    Loops loops(build);
    build.w.machine.itemsAreThreads ? loops.writeOwnPlaces() : loops.write();
    return success();
  }
};

} // namespace

std::unique_ptr<KernelFamily> createScatterFamily() { return std::make_unique<Scatter>(); }

} // namespace ingot::lower
