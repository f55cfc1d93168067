#include "compiler/lower/Portion.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ingot::lower {

constexpr int64_t elementsAnItem = 8192, mostItems = 64;

int64_t Portion::items(plan::KernelOp kernel) {
  int64_t elements = cast<RankedTensorType>(kernel.getResult(0).getType()).getNumElements();
  return std::clamp<int64_t>(elements / elementsAnItem, 1, mostItems);
}

Portion::Portion(const Build &build, int64_t items, ArrayRef<int64_t> sizes)
    : w(build.w), begin(build.begin), end(build.end), count(items) {
  const int64_t *first = llvm::find_if(sizes, [](int64_t size) { return size > 1; });
  if (first != sizes.end()) {
    shared = first - sizes.begin();
  }
}

void Portion::loop(size_t d, int64_t extent, int64_t step, llvm::function_ref<void(Ix)> body) const {
  if (d != shared) {
    return w.loop(0, extent, step, body);
  }
  Ix steps = extent / step;
  w.loop(floorDiv(begin * steps, count) * step, floorDiv(end * steps, count) * step, step, body);
}

void Portion::rest(size_t d, llvm::function_ref<void()> body) const {
  if (d != shared || end.known()) {
    return body();
  }
  w.ifThen(arith::CmpIOp::create(w.b, w.loc, arith::CmpIPredicate::eq, w.value(end), w.value(count)), body);
}

void Portion::lanes(size_t d, int64_t extent, llvm::function_ref<void(Ix, int64_t, Value)> body) const {
  if (d != shared) {
    return w.lanes(extent, body);
  }
  int64_t l = w.machine.lanes, whole = extent - extent % l;
  loop(d, whole, l, [&](Ix i) { body(i, l, {}); });
  if (whole == extent) {
    return;
  }
  rest(d, [&] {
    if (w.machine.maskedAccess) {
      body(whole, l, w.maskFor(extent - whole, l));
    } else {
      w.loop(whole, extent, 1, [&](Ix i) { body(i, 1, {}); });
    }
  });
}

} // namespace ingot::lower
