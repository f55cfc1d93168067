#include "compiler/onnx/ops/Conv.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/Window.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Conv.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

/// Checks that Conv and ConvTranspose share, as far as the shapes are known. `perOutput` is the axis of the weights
/// whose dimension is the input channels a group has (Conv: 1) or all of them (ConvTranspose: 0).
static LogicalResult checkOperands(Operation *op, RankedTensorType x, RankedTensorType w, Value bias, int64_t group,
                                   bool transposed) {
  if (x.getRank() < 3) {
    return op->emitOpError("input of rank ")
           << x.getRank() << ", expected batch, channels and at least one spatial axis";
  }
  if (w && w.getRank() != x.getRank()) {
    return op->emitOpError("weights of rank ") << w.getRank() << " for an input of rank " << x.getRank();
  }
  if (group < 1) {
    return op->emitOpError("attribute 'group' is ") << group;
  }
  if (!w || w.isDynamicDim(0) || w.isDynamicDim(1)) {
    return success();
  }
  // The weights say how many channels an open axis has.
  int64_t expected = transposed ? w.getDimSize(0) : w.getDimSize(1) * group;
  if (Size channels = sizeOf(x, 1); failed(require(op, channels, expected))) {
    return op->emitOpError("input has ") << channels.text() << " channels, the weights are for " << expected;
  }
  if (w.getDimSize(0) % group) {
    return op->emitOpError("group of ") << group << " does not divide " << w.getDimSize(0) << " channels";
  }
  auto b = ranked(bias);
  int64_t outputs = transposed ? w.getDimSize(1) * group : w.getDimSize(0);
  if (b && (b.getRank() != 1 || failed(require(op, sizeOf(b, 0), outputs)))) {
    return op->emitOpError("bias of type ") << b << " for " << outputs << " output channels";
  }
  return success();
}

template <typename Op> static LogicalResult infer(Op op, SmallVectorImpl<Type> &types, bool transposed) {
  auto x = ranked(op.getX()), w = ranked(op.getW());
  Type element = elementOf(op.getX());
  types.assign(1, unrankedOf(element));
  if (!x) {
    return success();
  }
  if (failed(checkOperands(op, x, w, op.getB(), op.getGroup(), transposed))) {
    return failure();
  }
  Sizes from = sizesOf(x), shape(x.getRank(), Size::unknown());
  shape[0] = from[0];
  if (w) {
    int64_t d = w.getDimSize(transposed ? 1 : 0);
    shape[1] =
        ShapedType::isDynamic(d) ? Size::unknown() : Size(transposed ? d * static_cast<int64_t>(op.getGroup()) : d);
  }
  if (auto kernel = kernelOf(op, op.getW())) {
    if (w && ArrayRef(*kernel) != w.getShape().drop_front(2) && w.hasStaticShape()) {
      return op.emitOpError("attribute 'kernel_shape' contradicts the weights of type ") << w;
    }
    ArrayRef<Size> spatial = ArrayRef<Size>(from).drop_front(2);
    auto window = transposed ? transposedWindowOf(op, spatial, *kernel) : windowOf(op, spatial, *kernel);
    if (failed(window)) {
      return failure();
    }
    llvm::copy(window->out, shape.begin() + 2);
  }
  types[0] = sizedType(shape, element);
  return success();
}

LogicalResult ConvOp::inferTypes(SmallVectorImpl<Type> &types) { return infer(*this, types, false); }
LogicalResult ConvTransposeOp::inferTypes(SmallVectorImpl<Type> &types) { return infer(*this, types, true); }

/// The window of an op whose types have been inferred; failure where something is dynamic.
template <typename Op> static FailureOr<Window> knownWindow(Op op, bool transposed) {
  auto x = ranked(op.getX());
  auto kernel = kernelOf(op, op.getW());
  if (!x || !kernel || x.getRank() < 3) {
    return failure();
  }
  Sizes from = sizesOf(x);
  ArrayRef<Size> spatial = ArrayRef<Size>(from).drop_front(2);
  return transposed ? transposedWindowOf(op, spatial, *kernel) : windowOf(op, spatial, *kernel);
}

LogicalResult ConvOp::decompose(PatternRewriter &rewriter) {
  auto window = knownWindow(*this, false);
  return failed(window) ? failure() : explicitPads(*this, *window, rewriter);
}

template <typename Op> static std::string unsupportedConv(Op op) {
  if (!elementOf(op.getX()).isF32()) {
    return "only float32 convolutions are implemented";
  }
  if (!isSized(op.getX()) || !isStatic(op.getW()) || !isSized(op.getY()) || ranked(op.getX()).isDynamicDim(1)) {
    return "shapes are not known at compile time";
  }
  if (ranked(op.getX()).getRank() > 5) {
    return "more than three spatial axes";
  }
  return {};
}
std::string ConvOp::unsupported() { return unsupportedConv(*this); }
std::string ConvTransposeOp::unsupported() { return unsupportedConv(*this); }

/// Zeros that are read before and after each spatial axis of the input; nothing where only a run tells how many.
static std::optional<SmallVector<int64_t>> haloOf(ConvOp op, const Window &window) {
  Sizes sizes = sizesOf(ranked(op.getX()));
  SmallVector<int64_t> halo;
  for (size_t i = 0; i < window.rank(); ++i) {
    const Size &in = sizes[i + 2];
    if (in.isUnknown() || !window.before[i].isNumber() || !window.after[i].isNumber()) {
      return std::nullopt;
    }
    int64_t before = window.before[i].number(), after = window.after[i].number();
    if (in.isNumber()) { // strides may leave some of the padding behind unread
      after = (window.out[i].number() - 1) * window.strides[i] + window.reach(i) - before - in.number();
    }
    halo.append({before, std::max<int64_t>(0, after)});
  }
  return halo;
}

/// Output p reads inputs (p + before - k * dilation) / stride: from that of the last tap of output 0 to that of the
/// first tap of the last.
static std::optional<SmallVector<int64_t>> haloOf(ConvTransposeOp op, const Window &window) {
  Sizes sizes = sizesOf(ranked(op.getX()));
  SmallVector<int64_t> halo;
  for (size_t i = 0; i < window.rank(); ++i) {
    int64_t stride = window.strides[i];
    // Of the last output, from the beginning of the last input's taps on.
    Size behind = window.out[i] - 1 + window.before[i] - Size(stride) * (sizes[i + 2] - 1);
    if (!window.before[i].isNumber() || !behind.isNumber()) {
      return std::nullopt;
    }
    int64_t first = window.before[i].number() - (window.reach(i) - 1);
    halo.append({first < 0 ? (-first + stride - 1) / stride : 0, std::max<int64_t>(0, behind.number() / stride)});
  }
  return halo;
}

template <typename Op> static std::optional<SmallVector<int64_t>> haloOf(Op op) {
  auto window = knownWindow(op, std::is_same_v<Op, ConvTransposeOp>);
  return failed(window) ? std::nullopt : haloOf(op, *window);
}

/// Whether weights can be packed while compiling, and the zeros around the image are so many on every run.
template <typename Op> static bool packable(Op op) {
  bool weights =
      isStatic(op.getW()) && constantThrough(op.getW()) && (!present(op.getB()) || constantThrough(op.getB()));
  return weights && haloOf(op).has_value();
}

/// Each channel by itself: as many outputs as inputs, one weight plane each.
static bool isDepthwise(ConvOp op) {
  auto w = ranked(op.getW());
  return w && op.getGroup() > 1 && w.getDimSize(0) == static_cast<int64_t>(op.getGroup()) && w.getDimSize(1) == 1;
}

StringRef ConvOp::family() { return packable(*this) && isDepthwise(*this) ? "DepthwiseConv" : "Conv"; }
StringRef ConvTransposeOp::family() { return "ConvTranspose"; }

/// Whether a value comes from the caller, who gives row-major.
static bool isModelInput(Value v) {
  auto argument = dyn_cast<BlockArgument>(v);
  Operation *parent = argument ? argument.getOwner()->getParentOp() : nullptr;
  if (parent && argument.getArgNumber() < parent->getNumOperands()) {
    return isModelInput(parent->getOperand(argument.getArgNumber()));
  }
  return argument != nullptr;
}

LayoutRule ConvOp::layoutRule(int64_t lanes) {
  if (!packable(*this) || lanes == 1) {
    return LayoutRule::Plain;
  }
  int64_t channels = ranked(getX()).getDimSize(1);
  bool few = channels <= 4 || (channels < lanes && isModelInput(getX()));
  return getGroup() == 1 && few ? LayoutRule::PlainToBlocked : LayoutRule::Blocked;
}
LayoutRule ConvTransposeOp::layoutRule(int64_t lanes) {
  return packable(*this) && lanes > 1 ? LayoutRule::Blocked : LayoutRule::Plain;
}

SmallVector<int64_t> ConvOp::halo() { return haloOf(*this).value_or(SmallVector<int64_t>()); }
SmallVector<int64_t> ConvTransposeOp::halo() { return haloOf(*this).value_or(SmallVector<int64_t>()); }

void registerConv(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Conv.cpp.inc"
      >();
}

} // namespace ingot::onnx
