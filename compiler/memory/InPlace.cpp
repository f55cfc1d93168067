#include "compiler/memory/InPlace.h"
#include "compiler/onnx/Control.h"
#include "compiler/onnx/sizes/DataDependentSizes.h"
#include "compiler/plan/InPlace.h"
#include "compiler/plan/Layout.h"

using namespace mlir;
using ingot::plan::LaunchOp;
using ingot::plan::ViewOp;

namespace ingot::memory {

support::Size bytesOf(Value v) { return plan::physicalBytes(cast<RankedTensorType>(v.getType())); }

bool changes(Value result) {
  return llvm::any_of(onnx::growthsOf(result.getDefiningOp()),
                      [&](const onnx::Growth &g) { return bytesOf(result).mentions(g.after); });
}

/// Returns whether the next value is the present one with more behind it, where nothing else lies. A part of the
/// present value cannot be extended so: behind it lies the rest, which may still be read.
static bool isExtended(onnx::LoopOp loop, unsigned i) {
  Value next = plan::placeOf(loop.yielded(i).get()).base;
  auto launch = next.getDefiningOp<LaunchOp>();
  auto extends = launch ? launch->getAttrOfType<IntegerAttr>(plan::extendsName) : IntegerAttr();
  if (!extends || next != launch.getResult(0)) {
    return false;
  }
  Value extended = launch.getIns()[extends.getInt()];
  plan::Place present = plan::placeOf(extended);
  return present.base == loop.argument(i) && present.offset.is(0) && bytesOf(extended) == bytesOf(loop.argument(i));
}

/// Returns whether `size` is computed from a size that only the iteration itself finds.
static bool mentionsDataDependentOf(onnx::LoopOp loop, const support::Size &size) {
  return loop.block()
      .walk([&](Operation *op) {
        auto launch = dyn_cast<LaunchOp>(op);
        bool finds =
            (launch && launch.getDataDependentSize() && size.mentions(launch.getDataDependentSize()->getValue())) ||
            llvm::any_of(onnx::symbolsDefinedBy(op), [&](support::Symbol s) { return size.mentions(s); }) ||
            llvm::any_of(onnx::growthsOf(op), [&](const onnx::Growth &g) {
              return (g.inside && size.mentions(*g.inside)) || size.mentions(g.after);
            });
        return finds ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

bool mayAskBefore(onnx::LoopOp loop, unsigned i) {
  return isExtended(loop, i) && !mentionsDataDependentOf(loop, bytesOf(loop.yielded(i).get()));
}

SmallVector<Value> replaceable(LaunchOp launch) {
  auto numbers = launch->getAttrOfType<DenseI64ArrayAttr>(plan::inPlaceName);
  SmallVector<Value> found;
  for (int64_t i : numbers ? numbers.asArrayRef() : ArrayRef<int64_t>()) {
    Value v = launch.getIns()[i];
    auto elsewhere = [&](OpOperand &o) {
      return o.get() == v && !llvm::is_contained(numbers.asArrayRef(), o.getOperandNumber());
    };
    if (v.getType() == launch.getResult(0).getType() && llvm::none_of(launch->getOpOperands(), elsewhere)) {
      found.push_back(v);
    }
  }
  return found;
}

bool mayReplace(onnx::LoopOp loop, unsigned i, Value next) {
  auto launch = next.getDefiningOp<LaunchOp>();
  if (!launch) {
    return false;
  }
  if (isExtended(loop, i)) {
    return true;
  }
  SmallVector<Value> present = {loop.argument(i)};
  while (!present.empty()) {
    Value v = present.pop_back_val();
    for (OpOperand &use : v.getUses()) {
      Operation *user = loop.block().findAncestorOpInBlock(*use.getOwner());
      if (auto view = dyn_cast<ViewOp>(use.getOwner())) {
        present.push_back(view.getY());
      } else if (user == launch) {
        bool inPlace = next == launch.getResult(0) && v == loop.argument(i) && v.hasOneUse() &&
                       llvm::is_contained(replaceable(launch), v);
        if (!inPlace) {
          return false;
        }
      } else if (!user->isBeforeInBlock(launch)) {
        return false;
      }
    }
  }
  return true;
}

bool readsComeBefore(Value v, LaunchOp launch) {
  return llvm::all_of(v.getUsers(), [&](Operation *user) {
    if (auto view = dyn_cast<ViewOp>(user)) {
      return readsComeBefore(view.getY(), launch);
    }
    return user == launch || launch->getBlock()->findAncestorOpInBlock(*user)->isBeforeInBlock(launch);
  });
}

} // namespace ingot::memory
