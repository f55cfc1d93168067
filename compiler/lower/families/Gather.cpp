// Builds gathers (onnx::Indexer) as loops over the result. Where the index stays the same along the innermost dimension
// (embedding rows) that dimension is copied in vectors, else it is copied element by element.
#include "compiler/onnx/ops/Gather.h"
#include "compiler/lower/core/Indexing.h"
#include "compiler/lower/core/Portion.h"
#include "compiler/onnx/Onnx.h"

using namespace mlir;

namespace ingot::lower {
namespace {

/// Builds the loops of one kernel.
class Loops {
public:
  explicit Loops(Build &build)
      : build(build), w(build.w), group(build.group), lookup(cast<onnx::Indexer>(group.root).lookup()),
        space(group.space(group.resultType())) {
    // Operands that only the root reads are walked by its own strides, and not like the result.
    space.accesses.remove_if([&](auto &entry) {
      return llvm::all_of(entry.first.getUsers(), [&](Operation *user) { return user == group.root; });
    });
    data = group.root->getResult(0), indices = group.root->getOperand(1);
    space.accesses[data] = walked(group.buffer(group.root->getOperand(0)), lookup.dataStrides);
    space.accesses[indices] = walked(group.buffer(indices), lookup.indexStrides);
    space.collapse();
  }

  void write(Ix items) {
    if (llvm::any_of(space.sizes, [](const Ix &size) { return size.is(0); })) {
      return;
    }
    Ix count = 1;
    for (const Ix &size : space.sizes) {
      count *= size;
    }
    wherePlaces(build, lookup, count, [&] {
      Point at;
      loops(Portion(build, items, space.sizes), at);
    });
  }

private:
  Build &build;
  Writer &w;
  Group &group;
  onnx::Lookup lookup;
  Space space;
  Value data, indices; ///< keys of the accesses

  /// Returns how the data or the indices are walked.
  const Access &access(Value key) { return space.accesses.find(key)->second; }

  /// Writes loops over dimension at.at.size() and those below.
  void loops(const Portion &portion, Point &at) {
    size_t d = at.at.size(), n = space.sizes.size();
    if (d + 1 == n && access(indices).strides.back().is(0)) {
      return row(portion, at);
    }
    if (d == n) {
      return copy(at, lookedUp(build, lookup, access(indices), at.at));
    }
    portion.loop(d, space.sizes[d], 1, [&](Ix i) {
      at.at.push_back(i);
      loops(portion, at);
      at.at.pop_back();
    });
  }

  /// Copies the innermost dimension, all of which is behind one index.
  void row(const Portion &portion, Point &at) {
    at.at.push_back(0);
    Ix base = lookedUp(build, lookup, access(indices), at.at);
    at.at.pop_back();
    portion.lanes(at.at.size(), space.sizes.back(), [&](Ix i, int64_t lanes, Value mask) {
      Point p = at;
      p.at.push_back(i), p.lanes = lanes, p.mask = mask;
      copy(p, base);
    });
  }

  /// Copies the elements at a point; `base` is where the index leads in the data.
  void copy(const Point &at, Ix base) {
    const Access &from = access(data);
    Ix stride = space.sizes.empty() ? 1 : from.strides.back();
    group.finish(w.loadStrided(from.buffer, from.at(at.at) + base, stride, at.lanes, at.mask), space, at);
  }
};

class Gather : public KernelFamily {
public:
  SmallVector<TypeID> roots() const override {
    return rootsOf<onnx::GatherOp, onnx::GatherElementsOp, onnx::GatherNDOp>();
  }
  std::string unsupported(Operation *root, const target::MachineModel &machine) const override {
    return whyNotIndexed(root);
  }

  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    KernelShape s;
    s.items = Portion::items(kernel, machine);
    s.checked = true;
    return s;
  }
  LogicalResult build(Build &build, const KernelShape &shape) const override {
    Loops(build).write(shape.items);
    return success();
  }
};

} // namespace

std::unique_ptr<KernelFamily> createGatherFamily() { return std::make_unique<Gather>(); }

} // namespace ingot::lower
