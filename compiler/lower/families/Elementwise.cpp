// Kernels without a root: a chain of elementwise ops as one loop over the result, any broadcasting, both layouts.
// Dimensions that all operands walk alike are merged first, so that equal shapes are one flat loop with one tail. Where
// only the run knows whether an operand's axis repeats, there are loops for equal sizes and loops for any.
#include "compiler/lower/Portion.h"

using namespace mlir;

namespace ingot::lower {
namespace {

class Elementwise : public KernelFamily {
public:
  SmallVector<TypeID> roots() const override { return {}; }

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
    shape.cycles = shape.alone = 0.5 * static_cast<double>(vectors * operations);
    return shape;
  }
  void buildRows(Build &build, const Rows &rows) const override {
    Writer &w = build.w;
    Space space = build.group.space(build.group.resultType());
    w.loop(0, space.sizes[1], 1, [&](Ix block) {
      w.loop(rows.from, rows.to, 1, [&](Ix row) {
        w.loop(0, space.sizes[3], 1,
               [&](Ix column) { build.group.finish({}, space, {{rows.image, block, row, column}, space.block, {}}); });
      });
    });
  }

private:
  /// Loops over dimension `d` and below; the innermost one of a row-major space is walked in vectors.
  static void walk(Build &build, const Portion &portion, const Space &space, Point &at, size_t d) {
    if (d == space.sizes.size()) {
      at.lanes = space.block;
      build.group.finish({}, space, at);
      return;
    }
    if (space.block == 1 && d + 1 == space.sizes.size()) {
      portion.lanes(d, space.sizes[d], [&](Ix i, int64_t lanes, Value mask) {
        Point p = at;
        p.at.push_back(i), p.lanes = lanes, p.mask = mask;
        build.group.finish({}, space, p);
      });
      return;
    }
    portion.loop(d, space.sizes[d], 1, [&](Ix i) {
      at.at.push_back(i);
      walk(build, portion, space, at, d + 1);
      at.at.pop_back();
    });
  }
};

} // namespace

std::unique_ptr<KernelFamily> createElementwiseFamily() { return std::make_unique<Elementwise>(); }

} // namespace ingot::lower
