#include "compiler/plan/Layout.h"
#include "compiler/onnx/sizes/Shapes.h"

using namespace mlir;

namespace ingot::plan {

BlockedAttr blockedOf(Type type) {
  auto ranked = dyn_cast<RankedTensorType>(type);
  return ranked ? dyn_cast_or_null<BlockedAttr>(ranked.getEncoding()) : BlockedAttr();
}

RankedTensorType withLayout(RankedTensorType type, BlockedAttr layout) {
  if (!layout) {
    return onnx::sizedType(onnx::sizesOf(type), type.getElementType());
  }
  assert(canBlock(type) && "the channels of a blocked tensor are a number");
  RankedTensorType plain = onnx::sizedType(onnx::sizesOf(type), type.getElementType());
  auto sizes = cast_or_null<onnx::SizesAttr>(plain.getEncoding());
  return RankedTensorType::get(type.getShape(), type.getElementType(),
                               BlockedAttr::get(type.getContext(), layout.getLanes(), layout.getHalo(), sizes,
                                                layout.getBlocks(), layout.getFill()));
}

BlockedAttr blockedBy(MLIRContext *context, int64_t lanes) { return BlockedAttr::get(context, lanes, {}, {}, 0, 0); }

bool canBlock(RankedTensorType type) {
  return type.getRank() >= 2 && !type.isDynamicDim(1) &&
         llvm::none_of(onnx::sizesOf(type), [](const support::Size &size) { return size.isUnknown(); });
}

/// Returns how many elements the halo has before and after axis `d`.
static std::pair<int64_t, int64_t> haloOf(BlockedAttr layout, size_t d) {
  ArrayRef<int64_t> halo = layout ? layout.getHalo() : ArrayRef<int64_t>();
  return halo.empty() || d < 2 ? std::make_pair<int64_t, int64_t>(0, 0)
                               : std::make_pair(halo[2 * (d - 2)], halo[2 * (d - 2) + 1]);
}

Strides stridesOf(RankedTensorType type) {
  Strides s;
  auto layout = blockedOf(type);
  s.sizes = onnx::sizesOf(type);
  if (layout) {
    s.lanes = layout.getLanes();
    s.sizes[1] = blocksOf(type);
  }
  support::Size step = s.lanes;
  s.strides.resize(s.sizes.size());
  for (size_t i = s.sizes.size(); i-- > 0;) {
    auto [before, after] = haloOf(layout, i);
    s.strides[i] = step;
    s.offset = s.offset + step * before;
    bool part = layout && layout.getBlocks() && i == 1;
    step = step * (part ? support::Size(layout.getBlocks()) : s.sizes[i] + before + after);
  }
  return s;
}

/// Returns the elements of so many channel blocks of one image, with the halo.
static support::Size elementsOf(RankedTensorType type, BlockedAttr layout, int64_t blocks) {
  support::Size n = blocks * layout.getLanes();
  for (auto [i, size] : llvm::enumerate(onnx::sizesOf(type))) {
    auto [before, after] = haloOf(layout, i);
    n = i < 2 ? n : n * (size + before + after);
  }
  return n;
}

int64_t blocksOf(RankedTensorType type) {
  return static_cast<int64_t>(llvm::divideCeil(type.getDimSize(1), blockedOf(type).getLanes()));
}

support::Size physicalElements(RankedTensorType type) {
  auto layout = blockedOf(type);
  if (!layout) {
    return support::product(onnx::sizesOf(type));
  }
  return onnx::sizesOf(type)[0] * elementsOf(type, layout, layout.getBlocks() ? layout.getBlocks() : blocksOf(type));
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

/// Returns the bytes between the beginning of a part of a join and that of the next part.
static support::Size bytesOfPart(JoinOp join, RankedTensorType part) {
  if (!joinsChannels(join)) {
    return physicalBytes(part);
  }
  return elementsOf(part, blockedOf(part), blocksOf(part)) * onnx::elementBytes(part.getElementType());
}

/// Returns the bytes between the beginning of a part of a bundle and that of the next part.
static support::Size bytesInBundle(RankedTensorType part) {
  return ceilDiv(physicalBytes(part), bufferAlignment) * bufferAlignment;
}

support::Size offsetIn(ValueRange parts, unsigned part) {
  support::Size offset = 0;
  for (Value x : parts.take_front(part)) {
    offset = offset + bytesInBundle(cast<RankedTensorType>(x.getType()));
  }
  return offset;
}

Value crossedPart(ViewOp view) {
  auto transfer = view.getX().getDefiningOp<TransferOp>();
  auto bundle = transfer ? transfer.getX().getDefiningOp<BundleOp>() : BundleOp();
  for (unsigned i = 0; bundle && i < bundle.getParts().size(); ++i) {
    if (offsetIn(bundle.getParts(), i) == view.getOffset().getValue()) {
      return bundle.getParts()[i];
    }
  }
  return {};
}

void PlaceFinder::enterParts(Operation *whole) {
  auto join = dyn_cast<JoinOp>(whole);
  support::Size offset = 0;
  for (Value x : whole->getOperands()) {
    wholes[x] = {whole->getResult(0), offset};
    auto type = cast<RankedTensorType>(x.getType());
    offset = offset + (join ? bytesOfPart(join, type) : bytesInBundle(type));
  }
}

Place PlaceFinder::placeOf(Value v) {
  Place p{v, 0};
  while (true) {
    if (auto view = p.base.getDefiningOp<ViewOp>()) {
      p.base = view.getX();
      p.offset = p.offset + view.getOffset().getValue();
      continue;
    }
    if (wholes.try_emplace(p.base, Place{p.base, 0}).second) {
      auto isWhole = [](Operation *user) { return isa<JoinOp, BundleOp>(user); };
      if (auto whole = llvm::find_if(p.base.getUsers(), isWhole); whole != p.base.user_end()) {
        enterParts(*whole); // a value is part of at most one
      }
    }
    const Place &outer = wholes.at(p.base);
    if (outer.base == p.base) {
      return p;
    }
    p = {outer.base, p.offset + outer.offset};
  }
}

Place placeOf(Value v) { return PlaceFinder().placeOf(v); }

} // namespace ingot::plan
