// Builds elementwise kernels. A thread computes as many neighbours as 16 bytes hold, with one access for each operand
// and result, where all of them lie so that the instruction takes them. Otherwise it computes as many elements that are
// a block's threads away from each other. Either way threads that are neighbours have neighbours, so that a warp reads
// and writes whole lines.
#include "compiler/lower/core/Threads.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "targets/cuda/Families.h"
#include "targets/cuda/Places.h"
#include "targets/cuda/Wide.h"

using namespace mlir;

namespace ingot::targets::cuda {
namespace {

using lower::Ix;

class Elements final : public lower::KernelFamily {
public:
  Elements() { stem = "Elementwise"; }

  SmallVector<TypeID> roots() const override { return {}; }
  lower::LayoutRule layoutRule(Operation *, const target::MachineModel &) const override {
    return lower::LayoutRule::Follow;
  }

  lower::KernelShape shape(plan::KernelOp kernel, const target::MachineModel &) const override {
    lower::KernelShape shape;
    auto type = cast<RankedTensorType>(kernel.getResult(0).getType());
    shape.items = ceilDiv(support::product(onnx::sizesOf(type)), threads * wideLanes(kernel));
    shape.grid = lower::Grid{{threads, 1, 1}, 0};
    shape.inPlace = llvm::to_vector(llvm::seq<int64_t>(kernel->getNumOperands()));
    return shape;
  }

  LogicalResult build(lower::Build &build, const lower::KernelShape &) const override {
    lower::Writer &w = build.w;
    lower::Space space = build.group.space(build.group.resultType());
    space.collapse();
    int64_t lanes = wideLanes(build.group.kernel);
    Ix thread = lower::threadNumber(w), all = elementsOf(space), begin = build.begin * (threads * lanes);
    auto oneByOne = [&](Ix first, Ix step) {
      w.loop(0, lanes, 1, [&](Ix i) {
        Ix place = first + i * step;
        w.ifThen(w.compare(arith::CmpIPredicate::slt, place, all), [&] { finish(build, space, place, 1); });
      });
    };
    Wide wide(w, space.block == 1 ? lanes : 1);
    wide.require(space, accessesOf(space));
    std::optional<Value> isWide = wide.condition();
    if (!isWide) {
      oneByOne(begin + thread, threads);
      return success();
    }
    auto together = [&] {
      Ix first = begin + thread * lanes;
      auto whole = [&] {
        finish(build, space, first, lanes);
        alignVectors(*w.b.getInsertionBlock()->getParent());
      };
      Value isWhole = w.compare(arith::CmpIPredicate::sle, first + lanes, all);
      // Only a space of one dimension can have a rest (Wide).
      space.sizes.size() == 1 && !remainder(all, lanes).is(0) ? w.ifElse(isWhole, whole, [&] { oneByOne(first, 1); })
                                                              : w.ifThen(isWhole, whole);
    };
    w.ifElse(*isWide, together, [&] { oneByOne(begin + thread, threads); });
    return success();
  }

private:
  static constexpr int64_t threads = 256;

  static void finish(lower::Build &build, const lower::Space &space, Ix place, int64_t lanes) {
    build.group.finish({}, space, {placeOf(space, place), space.block == 1 ? lanes : space.block, {}});
  }
};

} // namespace

std::unique_ptr<lower::KernelFamily> createElements() { return std::make_unique<Elements>(); }

} // namespace ingot::targets::cuda
