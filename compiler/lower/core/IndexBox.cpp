#include "compiler/lower/core/IndexBox.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/constants/Constants.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ingot::lower {

/// The attribute of a marked root: for each part of the lookup its index at the beginning of the space, its greatest
/// index, and what a step along each axis adds to it.
static constexpr StringLiteral boxName = "box";

/// Makes an index count from the beginning of its axis. Returns false where the index is outside, or where only the run
/// knows whether it is.
static bool normalizeIndex(int64_t &index, const support::Size &size) {
  if (!size.isNumber()) {
    return index >= 0;
  }
  index += index < 0 ? size.number() : 0;
  return index >= 0 && index < size.number();
}

/// Calls f for each point of a space, with its coordinates.
static void eachPoint(ArrayRef<int64_t> extents, llvm::function_ref<void(ArrayRef<int64_t>)> f) {
  SmallVector<int64_t> at(extents.size(), 0);
  for (int64_t left = onnx::elements(extents); left > 0; --left) {
    f(at);
    for (size_t d = at.size(); d-- > 0 && ++at[d] == extents[d];) {
      at[d] = 0;
    }
  }
}

/// Returns the sum of the coordinates times their factors.
static int64_t sumOf(ArrayRef<int64_t> factors, ArrayRef<int64_t> at) {
  int64_t sum = 0;
  for (auto [factor, i] : llvm::zip_equal(factors, at)) {
    sum += factor * i;
  }
  return sum;
}

void markBox(plan::KernelOp kernel) {
  Operation *root = kernel.root();
  auto indices = onnx::integersOf(constantOperand(kernel, root->getOperand(1)));
  if (!indices || indices->empty()) {
    return;
  }
  onnx::Lookup lookup = cast<onnx::Indexer>(root).lookup();
  ArrayRef<int64_t> shape = Group::typeOf(root->getOperand(1)).getShape();
  SmallVector<int64_t> strides, extents, encoded;
  for (auto [d, stride] : llvm::enumerate(lookup.indexStrides)) {
    strides.push_back(stride.number());
    extents.push_back(strides.back() ? shape[d] : 1);
  }
  for (const onnx::Lookup::Part &part : lookup.parts) {
    auto index = [&](int64_t where) -> int64_t & { return (*indices)[where + part.offset]; };
    bool isEven = true;
    eachPoint(extents, [&](ArrayRef<int64_t> at) { isEven &= normalizeIndex(index(sumOf(strides, at)), part.size); });
    SmallVector<int64_t> steps;
    int64_t first = index(0), last = first;
    for (auto [stride, extent] : llvm::zip_equal(strides, extents)) {
      steps.push_back(extent > 1 ? index(stride) - first : 0);
      last += std::max<int64_t>(steps.back(), 0) * (extent - 1);
    }
    eachPoint(extents, [&](ArrayRef<int64_t> at) { isEven &= index(sumOf(strides, at)) == first + sumOf(steps, at); });
    if (!isEven) {
      return;
    }
    encoded.append({first, last});
    encoded.append(steps);
  }
  root->setAttr(boxName, Builder(root->getContext()).getDenseI64ArrayAttr(encoded));
}

std::optional<IndexBox> boxOf(Operation *root) {
  auto marked = root->getAttrOfType<DenseI64ArrayAttr>(boxName);
  if (!marked) {
    return std::nullopt;
  }
  IndexBox box = {cast<onnx::Indexer>(root).lookup(), 0, {}, {}};
  ArrayRef<int64_t> encoded = marked.asArrayRef();
  for (const onnx::Lookup::Part &part : box.lookup.parts) {
    int64_t first = encoded[0], last = encoded[1];
    encoded = encoded.drop_front(2);
    box.lines.push_back({first, llvm::SmallVector<int64_t, 4>(encoded.take_front(box.lookup.dataStrides.size()))});
    box.offset = box.offset + part.stride * support::Size(first);
    for (support::Size &stride : box.lookup.dataStrides) {
      stride = stride + part.stride * support::Size(encoded.front());
      encoded = encoded.drop_front();
    }
    if (!part.size.isNumber()) {
      box.ends.push_back({part.size, last});
    }
  }
  box.lookup.parts.clear();
  return box;
}

void whereFits(Build &build, const IndexBox &box, Ix count, llvm::function_ref<void()> body) {
  if (box.ends.empty()) {
    return body();
  }
  Writer &w = build.w;
  // The room is positive where the box's last place is on every open axis.
  Ix room = box.ends.front().size - support::Size(box.ends.front().last);
  for (const IndexBox::End &end : ArrayRef(box.ends).drop_front()) {
    room = min(room, end.size - support::Size(end.last));
  }
  Value none = w.compare(arith::CmpIPredicate::sle, room, 0), any = w.compare(arith::CmpIPredicate::sgt, count, 0);
  build.failIf(arith::AndIOp::create(w.b, w.loc, none, any));
  w.ifThen(w.compare(arith::CmpIPredicate::sgt, room, 0), body);
}

plan::WeightTable::Recipe omittedRecipe() {
  return {"unread", 0, [](ArrayRef<char>, MutableArrayRef<char>) {}};
}

} // namespace ingot::lower
