#include "compiler/lower/conv/InterleavedRows.h"
#include "compiler/lower/core/Vectors.h"
#include "compiler/onnx/Onnx.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ingot::lower {

bool InterleavedRows::canBeReadBy(Operation *root, int64_t lanes) {
  auto x = onnx::ranked(root->getOperand(0)), w = onnx::ranked(root->getOperand(1));
  auto group = root->getAttrOfType<IntegerAttr>("group");
  return isPackable(root) && x && x.getRank() == 4 && !(group && group.getInt() != 1) &&
         llvm::none_of(x.getShape().drop_front(), ShapedType::isDynamic) && x.getDimSize(1) <= channels &&
         w.getDimSize(0) >= lanes;
}

Access InterleavedRows::imageOf(const Build &build) {
  Value x = build.group.root->getOperand(0);
  return {Group::placeIn(build.group.buffer(x), Group::typeOf(x)), build.group.buffer(x)};
}

void InterleavedRows::copy(Ix n, Ix y, Ix count, Ix step, Ix pixels, Ix line, Buffer to) {
  Ix height = g.spatial[0], width = g.spatial[1];
  const ConvAxis &columns = g.subConvs[0].axes[2];
  int64_t before = std::max<int64_t>(0, -columns.inStart), first = std::max<int64_t>(0, columns.inStart);
  Ix within = max(0, min(width - first, pixels - before));
  w.loop(0, count, 1, [&](Ix r) {
    Ix row = y + r * step, at = r * line * channels;
    // The comparison is unsigned, in which a negative coordinate is a large one.
    w.ifElse(
        w.compare(arith::CmpIPredicate::ult, row, height),
        [&] {
          fill(to, at, before);
          w.lanes(within, [&](Ix x, int64_t many, Value mask) {
            Ix from = image.offset + n * image.strides[0] + row * image.strides[2] + (x + first) * image.strides[3];
            weave(from, many, mask, to, at + (x + before) * channels);
          });
          fill(to, at + (within + before) * channels, pixels - before - within);
        },
        [&] { fill(to, at, pixels); });
  });
}

/// Writes pixels of padding, and up to a vector behind them.
void InterleavedRows::fill(Buffer to, Ix at, Ix pixels) {
  constexpr int64_t lanes = 16;
  Value value = w.constant(around, w.vectorOf(to.element, lanes));
  w.loop(0, pixels, lanes / channels, [&](Ix x) { w.store(value, to, at + x * channels); });
}

/// Writes a vector's pixels of all planes, pixel by pixel.
void InterleavedRows::weave(Ix from, int64_t count, Value mask, Buffer to, Ix at) {
  // Values are only moved, and not widened.
  Type code = cast<MemRefType>(image.buffer.memref.getType()).getElementType();
  Buffer source{image.buffer.memref, code}, target{to.memref, code};
  SmallVector<Value> planes(channels, w.constant(0, w.vectorOf(code, count)));
  for (int64_t channel = 0; channel < g.inChannels; ++channel) {
    planes[channel] = w.load(source, from + channel * image.strides[1], count, mask);
  }
  if (count == 1) {
    for (int64_t channel = 0; channel < channels; ++channel) {
      w.store(planes[channel], target, at + channel);
    }
    return;
  }
  SmallVector<Value> woven = interleave(w, planes);
  for (auto [i, v] : llvm::enumerate(woven)) {
    w.store(v, target, at + static_cast<int64_t>(i) * count);
  }
}

} // namespace ingot::lower
