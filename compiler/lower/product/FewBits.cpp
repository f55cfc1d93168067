#include "compiler/lower/product/FewBits.h"
#include "compiler/lower/core/IndexBox.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/elements/Window.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ingot::lower {

Value FewBits::zeroAt(Writer &w, const Buffer &zeros, Ix place) const {
  Type number = w.vectorOf(w.b.getF32Type(), lanes);
  Value v = w.load(zeros, place, lanes);
  return isa<FloatType>(zeros.element) ? v : arith::UIToFPOp::create(w.b, w.loc, number, v).getResult();
}

void FewBits::forStrip(Writer &w, Ix ofStrip, llvm::function_ref<void(int64_t)> columns) const {
  int64_t last = n - (strips() - 1) * strip;
  if (strips() == 1 || last == strip) {
    return columns(last);
  }
  Value isLast = w.compare(arith::CmpIPredicate::eq, ofStrip, strips() - 1);
  w.ifElse(isLast, [&] { columns(last); }, [&] { columns(strip); });
}

void FewBits::putRow(const char *from, int64_t bytes, int64_t row, int64_t rows, MutableArrayRef<char> to) const {
  for (int64_t column = 0; column < n; column += strip) {
    std::copy_n(from + column * bytes, std::min(strip, n - column) * bytes,
                to.data() + (column * rows + row * strip) * bytes);
  }
}

/// Packs [rows][n] in strips, with zeros behind the last column.
void FewBits::pack(KernelShape &shape, Value v, int64_t rows) const {
  int64_t bytes = onnx::elementBytes(onnx::elementOf(v));
  auto inStrips = [c = *this, rows, bytes](ArrayRef<char> from, MutableArrayRef<char> to) {
    for (int64_t row = 0; row < rows; ++row) {
      c.putRow(from.data() + row * c.n * bytes, bytes, row, rows, to);
    }
  };
  std::string key = "strips " + std::to_string(strip) + " of " + std::to_string(rows) + "x" + std::to_string(n) +
                    " of " + std::to_string(bytes);
  shape.packed[operandNumber(v)] = {key, strips() * strip * rows * bytes, inStrips};
}

/// Packs the words of each block and then its scales, in strips.
void FewBits::join(KernelShape &shape, Value words, Value scales) const {
  constexpr int64_t bytes = sizeof(uint32_t);
  plan::WeightTable::Recipe &recipe = shape.packed[operandNumber(words)];
  recipe = {recipe.key + ", scales behind " + std::to_string(wordsOfBlock),
            strips() * strip * blocks * rowsOfBlock * bytes,
            {}};
  auto pack = [c = *this](ArrayRef<char> words, ArrayRef<char> scales, MutableArrayRef<char> to) {
    for (int64_t b = 0; b < c.blocks; ++b) {
      for (int64_t i = 0; i < c.rowsOfBlock; ++i) {
        const char *from = i < c.wordsOfBlock ? words.data() + (b * c.wordsOfBlock + i) * c.n * bytes
                                              : scales.data() + b * c.n * bytes;
        c.putRow(from, bytes, b * c.rowsOfBlock + i, c.blocks * c.rowsOfBlock, to);
      }
    }
  };
  shape.joined[operandNumber(words)] = {static_cast<unsigned>(operandNumber(scales)), pack};
  shape.packed[operandNumber(scales)] = omittedRecipe();
}

std::string FewBits::whyNotConstant(Operation *root, unsigned first) {
  for (Value v : root->getOperands().drop_front(first)) {
    if (onnx::present(v) && !onnx::constantThrough(v)) {
      return "its weights are not constant";
    }
  }
  return "";
}

} // namespace ingot::lower
