#include "compiler/lower/ZeroHalos.h"
#include "compiler/plan/Layout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ingot::lower {

static void zeroHalo(Writer &w, Buffer to, RankedTensorType type, plan::BlockedAttr layout) {
  plan::Strides s = plan::stridesOf(type);
  int64_t lanes = s.lanes;
  auto fill = [&](Ix at, Ix elements) {
    Value zeros = w.constant(layout.getFill(), w.vectorOf(to.element, lanes));
    w.loop(0, elements, lanes, [&](Ix e) { w.store(zeros, to, at + e); });
  };
  // Axis by axis: what lies before and after its interior is contiguous; inside, the next axis.
  std::function<void(Ix, size_t)> around = [&](Ix at, size_t d) {
    if (d == s.sizes.size()) {
      return;
    }
    Ix before = layout.getHalo()[2 * (d - 2)], after = layout.getHalo()[2 * (d - 2) + 1], stride = s.strides[d];
    fill(at, before * stride);
    fill(at + (before + s.sizes[d]) * stride, after * stride);
    w.loop(0, s.sizes[d], 1, [&](Ix i) { around(at + (i + before) * stride, d + 1); });
  };
  w.loop(0, s.sizes[0], 1, [&](Ix n) {
    w.loop(0, s.sizes[1], 1, [&](Ix block) { around(n * s.strides[0] + block * s.strides[1], 2); });
  });
}

void zeroHalos(Build &build, plan::KernelOp kernel) {
  Writer &w = build.w;
  for (auto [i, type] : llvm::enumerate(kernel.getResultTypes())) {
    auto layout = plan::blockedOf(type);
    if (!layout || layout.getHalo().empty()) {
      continue;
    }
    auto zero = [&, i = i, type = type] { zeroHalo(w, build.group.result(i), cast<RankedTensorType>(type), layout); };
    if (build.begin.known()) {
      zero();
    } else {
      w.ifThen(w.compare(arith::CmpIPredicate::eq, build.begin, 0), zero);
    }
  }
}

} // namespace ingot::lower
