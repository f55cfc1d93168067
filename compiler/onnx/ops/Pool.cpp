// Pools of windows and of whole images, and LRN, which is one across channels. MaxPool, AveragePool and LpPool with p
// of 1 or 2 have kernels; a larger p is LpPool with p = 1 of powers, and its root. Pools of whole images are
// reductions.
#include "compiler/onnx/ops/Pool.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/elements/Window.h"
#include "compiler/onnx/rewriting/Formula.h"
#include "compiler/onnx/sizes/Ranks.h"
#include <cmath>
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Pool.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

template <typename Op> static LogicalResult inferPool(Op op, Type &type) {
  auto x = ranked(op.getX());
  if (!x) { // the operand has an axis for each of the window's, behind batch and channels
    auto result = typeOfRank(op, static_cast<int64_t>(op.getKernelShape().size()) + 2, elementOf(op.getX()));
    return failed(result) ? failure() : (type = *result, success());
  }
  if (x.getRank() < 3) {
    return op.emitOpError("input of rank ")
           << x.getRank() << ", expected batch, channels and at least one spatial axis";
  }
  Sizes from = sizesOf(x), shape(from.begin(), from.begin() + 2);
  auto window = windowOf(op, ArrayRef<Size>(from).drop_front(2), llvm::to_vector_of<Size>(op.getKernelShape()));
  if (failed(window)) {
    return failure();
  }
  llvm::append_range(shape, window->out);
  type = sizedType(shape, x.getElementType());
  return success();
}

/// The second result, which few read, has the numbers of the largest elements.
LogicalResult MaxPoolOp::inferTypes(SmallVectorImpl<Type> &types) {
  types.resize(2);
  if (failed(inferPool(*this, types[0]))) {
    return failure();
  }
  types[1] = cast<TensorType>(types[0]).clone(IntegerType::get(getContext(), 64));
  return success();
}
LogicalResult AveragePoolOp::inferTypes(SmallVectorImpl<Type> &types) {
  types.resize(1);
  return inferPool(*this, types[0]);
}
LogicalResult LpPoolOp::inferTypes(SmallVectorImpl<Type> &types) {
  types.resize(1);
  if (getP() < 1) {
    return emitOpError("attribute 'p' is ") << getP();
  }
  return inferPool(*this, types[0]);
}

template <typename Op> static LogicalResult inferGlobal(Op op, SmallVectorImpl<Type> &types) {
  auto x = ranked(op.getX());
  types.assign(1, unrankedOf(elementOf(op.getX())));
  if (!x) {
    return success();
  }
  if (x.getRank() < 2) {
    return op.emitOpError("input of rank ") << x.getRank() << ", expected batch, channels and spatial axes";
  }
  Sizes from = sizesOf(x), shape(x.getRank(), 1);
  shape[0] = from[0], shape[1] = from[1];
  types[0] = sizedType(shape, x.getElementType());
  return success();
}
LogicalResult GlobalAveragePoolOp::inferTypes(SmallVectorImpl<Type> &types) { return inferGlobal(*this, types); }
LogicalResult GlobalMaxPoolOp::inferTypes(SmallVectorImpl<Type> &types) { return inferGlobal(*this, types); }

LogicalResult LRNOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto x = ranked(getX());
  if (x && x.getRank() < 2) {
    return emitOpError("input of rank ") << x.getRank() << ", expected batch and channels";
  }
  if (getSize() < 1 || getSize() > INT32_MAX) {
    return emitOpError("attribute 'size' is ") << getSize();
  }
  types.assign(1, getX().getType());
  return success();
}

// These rewrite pools.

/// Kernels know explicit pads alone: auto_pad is replaced by the numbers that it means for these sizes.
template <typename Op> static LogicalResult decomposePads(Op op, PatternRewriter &rewriter) {
  auto x = ranked(op.getX());
  if (!x || x.getRank() < 3) {
    return failure();
  }
  Sizes from = sizesOf(x);
  auto window = windowOf(op, ArrayRef<Size>(from).drop_front(2), llvm::to_vector_of<Size>(op.getKernelShape()));
  return failed(window) ? failure() : explicitPads(op, *window, rewriter);
}
LogicalResult MaxPoolOp::decompose(PatternRewriter &rewriter) { return decomposePads(*this, rewriter); }
LogicalResult AveragePoolOp::decompose(PatternRewriter &rewriter) { return decomposePads(*this, rewriter); }

static Value makeOp(PatternRewriter &b, Location loc, StringRef name, ArrayRef<Value> operands,
                    ArrayRef<NamedAttribute> attributes = {}) {
  return createOp(b, loc, ("onnx." + name).str(), operands, attributes)->getResult(0);
}

/// Writes (sum of |x|^p)^(1/p) by the kernel for p = 1.
LogicalResult LpPoolOp::decompose(PatternRewriter &rewriter) {
  if (getP() == 1 || getP() == 2) {
    return decomposePads(*this, rewriter);
  }
  Type element = elementOf(getX());
  Value p = makeNumber(rewriter, getLoc(), getP(), element);
  Value root = makeNumber(rewriter, getLoc(), 1.0 / static_cast<double>(getP()), element);
  Value powers = makeOp(rewriter, getLoc(), "Pow", {makeOp(rewriter, getLoc(), "Abs", {getX()}), p});
  NamedAttrList attributes((*this)->getAttrs());
  attributes.set("p", rewriter.getI64IntegerAttr(1));
  Value sums = makeOp(rewriter, getLoc(), "LpPool", {powers}, attributes.getAttrs());
  rewriter.replaceOp(*this, makeOp(rewriter, getLoc(), "Pow", {sums, root}));
  return success();
}

// These write GlobalLpPool.

/// Takes the `p` of opset 1, which is a float.
LogicalResult GlobalLpPoolOp::upgrade(Node &node) {
  if (auto p = dyn_cast_or_null<FloatAttr>(node.attributes.get("p"))) {
    double number = p.getValueAsDouble();
    if (number != std::floor(number)) {
      return node.error("attribute 'p' is " + std::to_string(number) + ", which is no integer");
    }
    node.attributes.set("p", node.builder.getI64IntegerAttr(static_cast<int64_t>(number)));
  }
  return success();
}
LogicalResult GlobalLpPoolOp::inferTypes(SmallVectorImpl<Type> &types) {
  if (getP() < 1) {
    return emitOpError("attribute 'p' is ") << getP();
  }
  return inferGlobal(*this, types);
}

/// Writes (sum of |x|^p)^(1/p) over the spatial axes.
LogicalResult GlobalLpPoolOp::decompose(PatternRewriter &rewriter) {
  auto x = ranked(getX());
  if (!x) {
    return failure();
  }
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(2, x.getRank()));
  Formula f(rewriter, getLoc());
  if (axes.empty()) {
    rewriter.replaceOp(*this, f.abs(getX()));
    return success();
  }
  if (getP() <= 2) {
    rewriter.replaceOp(*this, f.reduce(getP() == 1 ? "ReduceL1" : "ReduceL2", getX(), axes, /*keepdims=*/true));
    return success();
  }
  Value sums = f.reduce("ReduceSum", f.op("Pow", {f.abs(getX()), f.number(getP(), getX())}), axes, /*keepdims=*/true);
  rewriter.replaceOp(*this, f.op("Pow", {sums, f.number(1.0 / static_cast<double>(getP()), sums)}));
  return success();
}

/// Writes the mean square of neighbouring channels as an average pool over [N, 1, C, pixels] along C, where padding
/// counts as zeros.
LogicalResult LRNOp::decompose(PatternRewriter &rewriter) {
  auto x = ranked(getX());
  if (!x || !isSized(getX())) {
    return failure();
  }
  Location loc = getLoc();
  Type element = x.getElementType();
  Sizes shape = sizesOf(x);
  int64_t size = getSize();
  auto reshape = [&](Value v, ArrayRef<Size> to) {
    return makeOp(rewriter, loc, "Reshape", {v, makeSizes(rewriter, loc, to)});
  };
  auto number = [&](const APFloat &v) { return makeNumber(rewriter, loc, v.convertToDouble(), element); };
  // The usual power 3/4 is made of square roots, which take a third of the time; for negative sums they would differ.
  bool isOfRoots = getBeta().convertToDouble() == 0.75 && !getAlpha().isNegative() && !getBias().isNegative();
  auto power = [&](Value sum) {
    if (!isOfRoots) {
      return makeOp(rewriter, loc, "Pow", {sum, number(getBeta())});
    }
    Value root = makeOp(rewriter, loc, "Sqrt", {sum});
    return makeOp(rewriter, loc, "Mul", {root, makeOp(rewriter, loc, "Sqrt", {root})});
  };
  Value squares = reshape(makeOp(rewriter, loc, "Mul", {getX(), getX()}),
                          {shape[0], 1, shape[1], product(ArrayRef<Size>(shape).drop_front(2))});
  NamedAttrList attributes;
  attributes.set("kernel_shape", rewriter.getDenseI64ArrayAttr({size, 1}));
  attributes.set("pads", rewriter.getDenseI64ArrayAttr({(size - 1) / 2, 0, size - 1 - (size - 1) / 2, 0}));
  attributes.set("count_include_pad", rewriter.getI64IntegerAttr(1));
  Value means = reshape(makeOp(rewriter, loc, "AveragePool", {squares}, attributes.getAttrs()), shape);
  Value sum =
      makeOp(rewriter, loc, "Add", {makeOp(rewriter, loc, "Mul", {means, number(getAlpha())}), number(getBias())});
  rewriter.replaceOp(*this, makeOp(rewriter, loc, "Div", {getX(), power(sum)}));
  return success();
}

void registerPool(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Pool.cpp.inc"
      >();
}

} // namespace ingot::onnx
