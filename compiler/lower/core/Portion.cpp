#include "compiler/lower/core/Portion.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ingot::lower {

support::Size Portion::items(plan::KernelOp kernel, const target::MachineModel &machine) {
  auto type = cast<RankedTensorType>(kernel.getResult(0).getType());
  if (machine.itemsAreThreads) {
    return max(support::Size(1), support::product(onnx::sizesOf(type)));
  }
  if (!type.hasStaticShape()) {
    return machine.tuning.lightItems;
  }
  int64_t elements = type.getNumElements();
  return std::clamp<int64_t>(elements / machine.tuning.itemElements, 1, machine.tuning.lightItems);
}

Portion::Portion(const Build &build, Ix items, ArrayRef<Ix> sizes)
    : w(build.w), begin(build.begin), end(build.end), count(items) {
  const Ix *first = llvm::find_if(sizes, [](const Ix &size) { return !size.known() || size.number() > 1; });
  if (first != sizes.end()) {
    shared = first - sizes.begin();
  }
  if (w.machine.itemsAreThreads && !isOnePlace()) {
    flat.assign(sizes.begin(), sizes.end());
  }
}

/// The outermost loop runs over places, and the others are where each place is along their dimensions.
void Portion::flatLoop(size_t d, llvm::function_ref<void(Ix)> body) const {
  Ix inside = 1;
  for (const Ix &size : ArrayRef(flat).drop_front(d + 1)) {
    inside *= size;
  }
  auto run = [&] { body(d == 0 ? floorDiv(place, inside) : remainder(floorDiv(place, inside), flat[d])); };
  if (d > 0) {
    return run();
  }
  Ix places = inside * flat[0];
  bool isOneEach = same(places, count);
  w.loop(isOneEach ? begin : floorDiv(begin * places, count), isOneEach ? end : floorDiv(end * places, count), 1,
         [&](Ix each) {
           place = each;
           run();
         });
}

void Portion::loop(size_t d, Ix extent, int64_t step, llvm::function_ref<void(Ix)> body) const {
  if (flat.size() > 1) {
    assert(step == 1 && "items that are threads have no vectors");
    return flatLoop(d, body);
  }
  if (d != shared) {
    return w.loop(0, extent, step, body);
  }
  Ix steps = floorDiv(extent, step);
  w.loop(floorDiv(begin * steps, count) * step, floorDiv(end * steps, count) * step, step, body);
}

void Portion::rest(size_t d, llvm::function_ref<void()> body) const {
  if (d != shared || end.known()) {
    return body();
  }
  w.ifThen(w.compare(arith::CmpIPredicate::eq, end, count), body);
}

void Portion::lanes(size_t d, Ix extent, llvm::function_ref<void(Ix, int64_t, Value)> body) const {
  if (flat.size() > 1) {
    return flatLoop(d, [&](Ix i) { body(i, 1, {}); });
  }
  if (d != shared) {
    return w.lanes(extent, body);
  }
  int64_t l = w.machine.lanes;
  Ix tail = remainder(extent, l), whole = extent - tail;
  loop(d, whole, l, [&](Ix i) { body(i, l, {}); });
  if (tail.is(0)) {
    return;
  }
  rest(d, [&] {
    if (w.machine.maskedAccess) {
      body(whole, l, w.maskFor(tail, l));
    } else {
      w.loop(whole, extent, 1, [&](Ix i) { body(i, 1, {}); });
    }
  });
}

} // namespace ingot::lower
