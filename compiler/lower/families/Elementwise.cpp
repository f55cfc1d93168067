// Builds kernels without a root: elementwise ops as one loop over the result, with any broadcasting, in both layouts.
// Dimensions that all operands walk alike are merged first, so that equal shapes become one flat loop with one tail.
// Where only the run knows whether an operand's axis repeats, there are loops for equal sizes and loops for any sizes.
#include "compiler/lower/core/Portion.h"

using namespace mlir;

namespace ingot::lower {
namespace {

class Elementwise : public KernelFamily {
public:
  SmallVector<TypeID> roots() const override { return {}; }
  LayoutRule layoutRule(Operation *, const target::MachineModel &) const override { return LayoutRule::Follow; }

  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    KernelShape shape;
    shape.items = Portion::items(kernel, machine);
    shape.inPlace = llvm::to_vector(llvm::seq<int64_t>(kernel->getNumOperands()));
    return shape;
  }

  LogicalResult build(Build &build, const KernelShape &shape) const override {
    Value equal = build.group.isEqual(build.group.resultType());
    auto loops = [&](bool takenEqual) {
      Space space = build.group.space(build.group.resultType(), takenEqual);
      space.collapse();
      Point at;
      walk(build, Portion(build, shape.items, space.sizes), space, at, 0);
    };
    if (!equal) {
      loops(false);
    } else {
      build.w.ifElse(equal, [&] { loops(true); }, [&] { loops(false); });
    }
    return success();
  }

  std::optional<RowShape> rowShape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    auto type = cast<RankedTensorType>(kernel.getResult(0).getType());
    if (!isImageOfRows(type)) {
      return std::nullopt;
    }
    RowShape shape;
    int64_t vectors = plan::blocksOf(type) * type.getDimSize(2) * type.getDimSize(3),
            operations = kernel.getBody().front().getOperations().size() + kernel->getNumOperands();
    // An operation on a vector, or its load, takes half a cycle: a core does two of them in a cycle.
    shape.cycles = shape.alone = 0.5 * static_cast<double>(vectors * operations);
    shape.build = buildRows;
    return shape;
  }

private:
  /// Writes some rows of a blocked image, as a link of a chain.
  static void buildRows(Build &build, const Rows &rows) {
    Writer &w = build.w;
    Space space = build.group.space(build.group.resultType());
    w.loop(0, space.sizes[1], 1, [&](Ix block) {
      w.loop(rows.from, rows.to, 1, [&](Ix row) {
        w.loop(0, space.sizes[3], 1,
               [&](Ix column) { build.group.finish({}, space, {{rows.image, block, row, column}, space.block, {}}); });
      });
    });
  }

  /// Writes loops over dimension `d` and those below. The innermost one of a row-major space is walked in vectors.
  static void walk(Build &build, const Portion &portion, const Space &space, Point &at, size_t d) {
    if (d == space.sizes.size()) {
      at.lanes = space.block;
      build.group.finish({}, space, at);
      return;
    }
    if (d + 1 == space.sizes.size()) {
      return innermost(build, portion, space, at, d);
    }
    portion.loop(d, space.sizes[d], 1, [&](Ix i) {
      at.at.push_back(i);
      walk(build, portion, space, at, d + 1);
      at.at.pop_back();
    });
  }

  /// Writes the loop over the innermost dimension. Several neighbouring vectors are made at once where the group asks
  /// for it, as it does for bytes.
  static void innermost(Build &build, const Portion &portion, const Space &space, const Point &at, size_t d) {
    bool inBlocks = space.block > 1;
    int64_t lanes = inBlocks ? space.block : build.w.machine.lanes, step = inBlocks ? 1 : lanes;
    auto some = [&](Ix first, int64_t count, int64_t many, Value mask) {
      SmallVector<Point> points(many, at);
      for (auto [k, point] : llvm::enumerate(points)) {
        point.at.push_back(first + Ix(static_cast<int64_t>(k) * step)), point.lanes = count, point.mask = mask;
      }
      build.group.finishSome(SmallVector<Value>(many), space, points);
    };
    Ix extent = space.sizes[d];
    int64_t perStore = build.group.vectorsPerStore(lanes);
    if (perStore == 1) {
      return inBlocks ? portion.loop(d, extent, 1, [&](Ix i) { some(i, lanes, 1, {}); })
                      : portion.lanes(d, extent, [&](Ix i, int64_t count, Value mask) { some(i, count, 1, mask); });
    }
    Ix whole = extent - remainder(extent, perStore * step);
    portion.loop(d, whole, perStore * step, [&](Ix i) { some(i, lanes, perStore, {}); });
    portion.rest(d, [&] {
      if (inBlocks) {
        build.w.loop(whole, extent, 1, [&](Ix i) { some(i, lanes, 1, {}); });
      } else {
        build.w.lanes(extent - whole, [&](Ix i, int64_t count, Value mask) { some(whole + i, count, 1, mask); });
      }
    });
  }
};

} // namespace

std::unique_ptr<KernelFamily> createElementwiseFamily() { return std::make_unique<Elementwise>(); }

} // namespace ingot::lower
