#include "targets/cuda/PackedLines.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace ingot::targets::cuda {

int64_t PackedLines::pitch() const {
  constexpr int64_t vectorBytes = 16;
  return inVectors ? static_cast<int64_t>(llvm::alignTo(depth, vectorBytes / elementBytes)) : depth;
}

plan::WeightTable::Recipe PackedLines::recipe() const {
  auto pack = [all = *this](ArrayRef<char> from, MutableArrayRef<char> to) {
    int64_t channels = all.depth / all.taps, bytes = all.elementBytes;
    for (int64_t line = 0; line < all.matrices * all.lines; ++line) {
      int64_t matrix = line / all.lines, own = line % all.lines;
      const char *source = from.data() + matrix * all.lines * all.depth * bytes;
      for (int64_t k = 0; k < all.depth; ++k) {
        int64_t place = k % channels * all.taps + k / channels;
        int64_t element = all.alongDepth ? own * all.depth + place : place * all.lines + own;
        std::copy_n(source + element * bytes, bytes, to.data() + (line * all.pitch() + k) * bytes);
      }
    }
  };
  return {llvm::formatv("lines {0} {1} {2} {3} {4} {5}", matrices, lines, depth, alongDepth, taps, pitch()).str(),
          matrices * lines * pitch() * elementBytes, pack};
}

} // namespace ingot::targets::cuda
