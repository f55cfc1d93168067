// Products and convolutions with what com.microsoft fuses to them: an activation, a sum, transposed operands, pads that
// are an operand. Each is written as the standard's operators, and ingot fuses them again by its own rules.
//
// FusedMatMul has two kinds of transposition. transA swaps the last two axes; transBatchA says that the rows come first
// of all, [m, batch..., k], and makes it [batch..., m, k] before.
#include "compiler/onnx/ops/FusedProducts.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/rewriting/Upgrade.h"
#include "compiler/onnx/sizes/Ranks.h"
#include <algorithm>
#include <array>
#define GET_OP_CLASSES
#include "compiler/onnx/ops/FusedProducts.cpp.inc"

using namespace mlir;

namespace ingot::onnx {
namespace {

/// Returns the parameters of an activation that are attributes of their own; only those that the node has.
SmallVector<float> parametersOf(const Node &node) {
  SmallVector<float> numbers;
  for (StringRef name : {"activation_alpha", "activation_beta", "activation_gamma"}) {
    if (auto given = dyn_cast_or_null<FloatAttr>(node.attributes.get(name))) {
      numbers.push_back(static_cast<float>(given.getValueAsDouble()));
    }
  }
  // Activations without parameters. Programs that write these nodes give all three to them, too.
  static constexpr StringLiteral plain[] = {"Relu", "Tanh", "Sigmoid", "Softplus", "Softsign", "HardSwish"};
  return llvm::is_contained(plain, node.text("activation", "")) ? SmallVector<float>() : numbers;
}

} // namespace

LogicalResult FusedGemmOp::upgrade(Node &node) {
  if (failed(node.needs(2))) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  Value y = f.op("Gemm", {node.operand(0), node.operand(1), node.operand(2)},
                 attributesOf(node, {"alpha", "beta", "transA", "transB"}));
  return give(node, activated(node, y, parametersOf(node)));
}

/// Returns an operand of axes [m, batch..., k], which transBatch means, as [batch..., m, k].
static Value batchFirst(Formula &f, Value v) {
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(1, ranked(v).getRank() - 1));
  order.append({0, ranked(v).getRank() - 1});
  return f.transpose(v, order);
}

namespace {
/// An operand of a product, and which of its axes are transposed.
struct Factor {
  Value v;
  StringRef letter;
  bool isTransposed, isBatchTransposed;
};
} // namespace

template <typename Op> static std::array<Factor, 2> factorsOf(Op op) {
  return {Factor{op.getA(), "A", op.getTransA() != 0, op.getTransBatchA() != 0},
          Factor{op.getB(), "B", op.getTransB() != 0, op.getTransBatchB() != 0}};
}

/// Returns the axes of a factor as the product reads them; a vector has nothing to transpose.
static Sizes axesOf(const Factor &factor) {
  Sizes axes = sizesOf(ranked(factor.v));
  if (factor.isBatchTransposed) {
    std::rotate(axes.begin(), axes.begin() + 1, axes.end() - 1);
  }
  if (factor.isTransposed && axes.size() > 1) {
    std::swap(axes.end()[-1], axes.end()[-2]);
  }
  return axes;
}

template <typename Op> static LogicalResult inferProduct(Op op, SmallVectorImpl<Type> &types) {
  SmallVector<Sizes, 2> axes;
  for (const Factor &factor : factorsOf(op)) {
    auto type = ranked(factor.v);
    if (type && factor.isBatchTransposed && type.getRank() < 3) {
      return op.emitOpError("'transBatch") << factor.letter << "' needs an operand of three dimensions or more";
    }
    axes.push_back(type ? axesOf(factor) : Sizes());
  }
  types.push_back(unrankedOf(elementOf(op.getA())));
  if (axes[0].size() < 2 || axes[1].size() < 2) { // these are vectors, or operands of unknown rank
    return success();
  }
  auto sizes = broadcast(op, ArrayRef(axes[0]).drop_back(2), ArrayRef(axes[1]).drop_back(2));
  if (!sizes || failed(require(op, axes[0].back(), axes[1].end()[-2]))) {
    return op.emitOpError("operands ") << op.getA().getType() << " and " << op.getB().getType() << " do not fit";
  }
  sizes->append({axes[0].end()[-2], axes[1].back()});
  types[0] = sizedType(*sizes, elementOf(op.getA()));
  return success();
}

template <typename Op> static LogicalResult decomposeProduct(Op op, PatternRewriter &rewriter) {
  Formula f(rewriter, op.getLoc());
  SmallVector<Value, 2> operands;
  SmallVector<NamedAttribute, 2> attributes;
  for (const Factor &factor : factorsOf(op)) {
    if (!ranked(factor.v)) {
      return failure();
    }
    operands.push_back(factor.isBatchTransposed ? batchFirst(f, factor.v) : factor.v);
    if (factor.isTransposed && ranked(factor.v).getRank() > 1) {
      attributes.push_back(f.flag(("trans" + factor.letter).str()));
    }
  }
  Value y = f.op("MatMul", operands, attributes);
  double alpha = op.getAlpha().convertToDouble();
  rewriter.replaceOp(op, alpha == 1 ? y : f.mul(y, f.number(alpha, y)));
  return success();
}

LogicalResult FusedMatMulOp::inferTypes(SmallVectorImpl<Type> &types) { return inferProduct(*this, types); }
LogicalResult FusedMatMulOp::decompose(PatternRewriter &rewriter) { return decomposeProduct(*this, rewriter); }
LogicalResult TransposeMatMulOp::inferTypes(SmallVectorImpl<Type> &types) { return inferProduct(*this, types); }
LogicalResult TransposeMatMulOp::decompose(PatternRewriter &rewriter) { return decomposeProduct(*this, rewriter); }

LogicalResult FusedMatMulActivationOp::upgrade(Node &node) {
  if (failed(node.needs(2))) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  Value y = f.op("com.microsoft.FusedMatMul", {node.operand(0), node.operand(1)},
                 attributesOf(node, {"alpha", "transA", "transB", "transBatchA", "transBatchB"}));
  if (StringRef name = node.text("activation", ""); name == "Softmax" || name == "LogSoftmax") {
    return give(node, f.op(name, {y}, {f.integer("axis", node.integer("activation_axis", -1))}));
  }
  return give(node, activated(node, y, parametersOf(node)));
}

/// Adds operand 3 to the result of the convolution, before the activation.
LogicalResult FusedConvOp::upgrade(Node &node) {
  if (failed(node.needs(2))) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  Value y = f.op("Conv", {node.operand(0), node.operand(1), node.operand(2)},
                 attributesOf(node, {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"}));
  auto numbers = dyn_cast_or_null<DenseF32ArrayAttr>(node.attributes.get("activation_params"));
  y = sum(f, {y, node.operand(3)});
  return give(node, activated(node, y, numbers ? numbers.asArrayRef() : ArrayRef<float>()));
}

/// Cuts the padding off the result: pixels in front, then those behind, for each axis.
LogicalResult ConvTransposeWithDynamicPadsOp::upgrade(Node &node) {
  FailureOr<int64_t> rank = convolutionRank(node);
  if (failed(rank)) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  int64_t axes = *rank - 2;
  SmallVector<NamedAttribute> attributes =
      attributesOf(node, {"auto_pad", "dilations", "group", "kernel_shape", "output_padding", "strides"});
  Value pads = node.text("auto_pad", "NOTSET") == "NOTSET" ? node.operand(2) : Value();
  auto known = pads ? integersOf(pads) : std::nullopt;
  if (known) {
    attributes.push_back(f.b.getNamedAttr("pads", f.b.getDenseI64ArrayAttr(*known)));
  }
  Value y = f.op("ConvTranspose", {node.operand(0), node.operand(1), node.operand(3)}, attributes);
  for (int64_t axis = 0; pads && !known && axis < axes; ++axis) {
    Value end = f.sub(sizeAlong(f, y, 2 + axis), slice(f, pads, 0, axes + axis, axes + axis + 1));
    y = slice(f, y, 2 + axis, slice(f, pads, 0, axis, axis + 1), end);
  }
  return give(node, y);
}

void registerFusedProducts(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/FusedProducts.cpp.inc"
      >();
}

} // namespace ingot::onnx
