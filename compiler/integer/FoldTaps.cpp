// Tap k of a row is tap k / 4 of channel k % 4, with taps four columns apart; rows of taps that are no multiple of four
// end with weights of zero, which read one to three columns more.
#include "compiler/integer/FoldTaps.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/elements/Window.h"
#include "compiler/onnx/formats/Convolutions.h"
#include "compiler/onnx/rewriting/Formula.h"
#include "compiler/onnx/rewriting/Rewrite.h"

using namespace mlir;

namespace ingot::integer {

static constexpr int64_t together = 4;

/// The weights of [outputs, 1, rows, columns] as [outputs, together, rows, columns / together].
static Value foldedWeights(OpBuilder &b, Location loc, ElementsAttr weights, ArrayRef<int64_t> shape) {
  int64_t outputs = shape[0], rows = shape[2], columns = shape[3], taps = llvm::divideCeil(columns, together);
  std::vector<char> storage, folded(outputs * together * rows * taps);
  ArrayRef<char> from = onnx::bytesOf(weights, storage);
  for (int64_t i = 0; i < outputs * rows * columns; ++i) {
    int64_t column = i % columns, row = i / columns % rows, output = i / columns / rows;
    folded[((output * together + column % together) * rows + row) * taps + column / together] = from[i];
  }
  auto type = onnx::tensorOf({outputs, together, rows, taps}, weights.getElementType());
  return onnx::makeConstant(b, loc, onnx::constantFromBytes(type, std::move(folded)));
}

static bool fold(formats::Int8ConvOp op) {
  auto x = onnx::ranked(op.getX()), w = onnx::ranked(op.getW());
  ElementsAttr weights = onnx::constantOf(op.getW());
  if (!x || !w || !weights || x.getRank() != 4 || x.getDimSize(1) != 1 || w.getDimSize(3) < together - 1) {
    return false;
  }
  onnx::Sizes sizes = onnx::sizesOf(x);
  bool isKnown = llvm::all_of(ArrayRef(sizes).drop_front(2), [](const onnx::Size &size) { return size.isNumber(); });
  if (!isKnown) {
    return false;
  }
  auto window = onnx::windowOf(op, ArrayRef(sizes).drop_front(2), *onnx::kernelOf(op, op.getW()));
  if (failed(window) || window->dilations[1] != 1) {
    return false;
  }
  onnx::PlaceListener places;
  places.replacing(op);
  OpBuilder b(op, &places);
  onnx::Formula f(b, op.getLoc());
  int64_t taps = llvm::divideCeil(w.getDimSize(3), together), more = taps * together - w.getDimSize(3);
  auto pad = [](const onnx::Size &size) { return size.number(); };
  SmallVector<int64_t> pads = {0, 0, pad(window->before[0]), pad(window->before[1]),
                               0, 0, pad(window->after[0]),  pad(window->after[1]) + more};
  int64_t columns = x.getDimSize(3) + pads[3] + pads[7] - (together - 1);
  auto around =
      onnx::constantFromIntegers(onnx::tensorOf({}, x.getElementType()), {static_cast<int64_t>(op.getPadding())});
  Value padded = f.op("Pad", {op.getX(), onnx::makeIntegers(b, op.getLoc(), pads),
                              onnx::makeConstant(b, op.getLoc(), around), Value()});
  SmallVector<Value> moved;
  for (int64_t i = 0; i < together; ++i) {
    auto number = [&](int64_t n) { return onnx::makeIntegers(b, op.getLoc(), {n}); };
    moved.push_back(f.op("Slice", {padded, number(i), number(i + columns), number(3), number(1)}));
  }
  Value image = f.op("Concat", moved, {f.integer("axis", 1)});
  auto list = [&](StringRef name, ArrayRef<int64_t> values) {
    return b.getNamedAttr(name, b.getDenseI64ArrayAttr(values));
  };
  Value sums = formats::make(f, "Int8Conv", {image, foldedWeights(b, op.getLoc(), weights, w.getShape()), Value()},
                             {list("strides", window->strides), list("dilations", {window->dilations[0], together})});
  op.replaceAllUsesWith(sums);
  op.erase();
  return true;
}

bool foldTaps(func::FuncOp function, FormsOf formsOf) {
  SmallVector<formats::Int8ConvOp> found;
  function.walk([&](formats::Int8ConvOp op) {
    if (formsOf(op).foldsTaps) {
      found.push_back(op);
    }
  });
  return llvm::count_if(found, fold) > 0;
}

} // namespace ingot::integer
