#include "compiler/plan/Layout.h"
#include "compiler/onnx/Shapes.h"

using namespace mlir;

namespace ingot::plan {

BlockedAttr blockedOf(Type type) {
  auto ranked = dyn_cast<RankedTensorType>(type);
  return ranked ? dyn_cast_or_null<BlockedAttr>(ranked.getEncoding()) : BlockedAttr();
}

RankedTensorType withLayout(RankedTensorType type, BlockedAttr layout) {
  if (!layout) {
    return onnx::sizedType(sizesOf(type), type.getElementType());
  }
  assert(canBlock(type) && "only the batch of a blocked tensor may be open");
  support::Size batch = sizesOf(type)[0];
  MLIRContext *context = type.getContext();
  auto text = batch.isNumber() ? StringAttr() : StringAttr::get(context, batch.text());
  return RankedTensorType::get(
      type.getShape(), type.getElementType(),
      BlockedAttr::get(context, layout.getLanes(), layout.getHalo(), text, layout.getBlocks()));
}

BlockedAttr blockedBy(MLIRContext *context, int64_t lanes) { return BlockedAttr::get(context, lanes, {}, {}, 0); }

bool canBlock(RankedTensorType type) {
  return type.getRank() >= 2 && llvm::none_of(type.getShape().drop_front(), ShapedType::isDynamic);
}

support::Sizes sizesOf(RankedTensorType type) {
  auto blocked = blockedOf(type);
  if (!blocked) {
    return onnx::sizesOf(type);
  }
  support::Sizes sizes(type.getShape().begin(), type.getShape().end());
  if (blocked.getBatch()) {
    sizes[0] = *support::Size::parse(blocked.getBatch().getValue());
  }
  return sizes;
}

Strides stridesOf(RankedTensorType type) {
  Strides s;
  ArrayRef<int64_t> shape = type.getShape();
  auto blocked = blockedOf(type);
  SmallVector<int64_t> physical(shape);
  s.sizes.assign(shape.begin(), shape.end());
  int64_t step = 1;
  if (blocked) {
    s.lanes = step = blocked.getLanes();
    s.sizes[1] = llvm::divideCeil(shape[1], s.lanes);
    physical[1] = blocked.getBlocks() ? blocked.getBlocks() : s.sizes[1];
    for (size_t i = 2; i < shape.size() && !blocked.getHalo().empty(); ++i) {
      physical[i] += blocked.getHalo()[2 * (i - 2)] + blocked.getHalo()[2 * (i - 2) + 1];
    }
  }
  s.strides.resize(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    s.strides[i] = step;
    step *= i ? physical[i] : 1; // the outermost may be open
  }
  for (size_t i = 2; blocked && i < shape.size() && !blocked.getHalo().empty(); ++i) {
    s.offset += blocked.getHalo()[2 * (i - 2)] * s.strides[i];
  }
  return s;
}

/// Elements of so many channel blocks of an image.
static support::Size elementsOf(RankedTensorType type, BlockedAttr layout, int64_t blocks) {
  support::Size n = blocks * layout.getLanes();
  for (auto [i, d] : llvm::enumerate(type.getShape().drop_front(2))) {
    ArrayRef<int64_t> halo = layout.getHalo();
    n = n * (halo.empty() ? d : d + halo[2 * i] + halo[2 * i + 1]);
  }
  return n;
}

int64_t blocksOf(RankedTensorType type) {
  return static_cast<int64_t>(llvm::divideCeil(type.getDimSize(1), blockedOf(type).getLanes()));
}

support::Size physicalElements(RankedTensorType type) {
  auto layout = blockedOf(type);
  if (!layout) {
    return support::product(sizesOf(type));
  }
  return sizesOf(type)[0] * elementsOf(type, layout, layout.getBlocks() ? layout.getBlocks() : blocksOf(type));
}

support::Size physicalBytes(RankedTensorType type) {
  return physicalElements(type) * onnx::elementBytes(type.getElementType());
}

bool sameMemoryAsPlain(RankedTensorType type) {
  auto blocked = blockedOf(type);
  if (!blocked) {
    return true;
  }
  bool onePixel = llvm::all_of(type.getShape().drop_front(2), [](int64_t d) { return d == 1; });
  bool noHalo = llvm::all_of(blocked.getHalo(), [](int64_t h) { return h == 0; });
  return onePixel && noHalo && !blocked.getBlocks() &&
         (type.getDimSize(0) == 1 || type.getDimSize(1) % blocked.getLanes() == 0);
}

bool joinsChannels(JoinOp join) {
  auto type = cast<RankedTensorType>(join.getY().getType());
  auto first = cast<RankedTensorType>(join.getXs().front().getType());
  return blockedOf(type) && first.getDimSize(1) != type.getDimSize(1);
}

/// What lies between the beginning of a part of a join and that of the next.
static support::Size bytesOfPart(JoinOp join, RankedTensorType part) {
  if (!joinsChannels(join)) {
    return physicalBytes(part);
  }
  return elementsOf(part, blockedOf(part), blocksOf(part)) * onnx::elementBytes(part.getElementType());
}

Place placeOf(Value v) {
  Place p{v, 0};
  while (true) {
    if (auto view = p.base.getDefiningOp<ViewOp>()) {
      p.base = view.getX();
      p.offset = p.offset + static_cast<int64_t>(view.getOffset());
      continue;
    }
    JoinOp join;
    for (Operation *user : p.base.getUsers()) {
      if (auto j = dyn_cast<JoinOp>(user)) {
        join = j; // a value is part of one join at most
      }
    }
    if (!join) {
      return p;
    }
    for (Value x : join.getXs()) {
      if (x == p.base) {
        break;
      }
      p.offset = p.offset + bytesOfPart(join, cast<RankedTensorType>(x.getType()));
    }
    p.base = join;
  }
}

} // namespace ingot::plan
