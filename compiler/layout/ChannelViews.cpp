#include "compiler/layout/ChannelViews.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "compiler/plan/Layout.h"

using namespace mlir;

namespace ingot::layout {

void retype(Value v, RankedTensorType type) {
  Type before = v.getType();
  v.setType(type);
  for (OpOperand &use : v.getUses()) {
    if (auto kernel = dyn_cast<plan::KernelOp>(use.getOwner())) {
      kernel.getBody().getArgument(use.getOperandNumber()).setType(type);
    }
  }
  if (auto kernel = v.getDefiningOp<plan::KernelOp>(); kernel && isa_and_nonnull<plan::ReorderOp>(kernel.root())) {
    Value y = kernel.root()->getResult(0);
    assert(y.getType() == before);
    (void)before;
    y.setType(type);
  }
}

/// Returns the first channel of a view that consists of whole blocks of channels of one blocked image; nothing for
/// any other view.
static std::optional<int64_t> firstChannel(plan::ViewOp view) {
  RankedTensorType x = typeOf(view.getX()), y = typeOf(view.getY());
  auto layout = plan::blockedOf(x);
  if (!layout || x.getRank() != y.getRank() || !x.hasStaticShape() || !y.hasStaticShape() || x.getDimSize(0) != 1 ||
      y.getDimSize(0) != 1 || x.getShape().drop_front(2) != y.getShape().drop_front(2) ||
      x.getElementType() != y.getElementType() || y.getDimSize(1) % layout.getLanes()) {
    return std::nullopt;
  }
  int64_t channelBytes =
      ShapedType::getNumElements(x.getShape().drop_front(2)) * onnx::elementBytes(x.getElementType());
  support::Size offset = view.getOffset().getValue();
  if (!offset.isNumber() || !channelBytes || offset.number() % (layout.getLanes() * channelBytes)) {
    return std::nullopt;
  }
  return offset.number() / channelBytes;
}

bool isOfChannels(plan::ViewOp view) { return plan::blockedOf(view.getY().getType()) && firstChannel(view); }

void blockChannels(Value v) {
  auto view = v.getDefiningOp<plan::ViewOp>();
  if (!view || plan::blockedOf(v.getType())) {
    return;
  }
  blockChannels(view.getX());
  if (firstChannel(view)) {
    retype(v, plan::withLayout(typeOf(v), plan::blockedOf(view.getX().getType())));
  }
}

SmallVector<Value> withWholeImages(ArrayRef<Value> pieces) {
  SmallVector<Value> found;
  for (size_t i = 0; i < pieces.size();) {
    auto first = pieces[i].getDefiningOp<plan::ViewOp>();
    Value image = first && isOfChannels(first) ? first.getX() : Value();
    int64_t channels = 0, all = image ? typeOf(image).getDimSize(1) : 0;
    size_t end = i;
    for (; end < pieces.size() && channels < all; ++end) {
      auto view = pieces[end].getDefiningOp<plan::ViewOp>();
      if (!view || view.getX() != image || !isOfChannels(view) || firstChannel(view) != channels) {
        break;
      }
      channels += typeOf(pieces[end]).getDimSize(1);
    }
    bool isWhole = image && channels == all;
    found.push_back(isWhole ? image : pieces[i]);
    i = isWhole ? end : i + 1;
  }
  return found;
}

} // namespace ingot::layout
