// Padding in front of a convolution or a pool becomes its own: a kernel reads the zeros of a halo, or none at all.
//  - A convolution takes zeros.
//  - A maximum takes -inf, and zeros where nothing is negative.
//  - A mean takes zeros as elements that count; one that has padding of its own must count that too.
// A pool's window must keep an element of the image, and its last window must not depend on what is padding.
#include "compiler/fusion/Match.h"
#include "compiler/onnx/ops/Conv.h"
#include "compiler/onnx/ops/Pad.h"
#include "compiler/onnx/ops/Pool.h"
#include "compiler/onnx/ops/Unary.h"
#include <limits>

using namespace mlir;

namespace ingot::fusion {
namespace {

/// The op's pads with those of a constant Pad of the spatial axes before it added; nothing when that is something else.
std::optional<SmallVector<int64_t>> joinedPads(Operation *op, onnx::PadOp pad) {
  auto mode = op->getAttrOfType<StringAttr>("auto_pad");
  auto amounts = pad.amounts();
  if (pad.getMode() != "constant" || !amounts || amounts->size() < 3 || (mode && mode.getValue() != "NOTSET")) {
    return std::nullopt;
  }
  size_t rank = amounts->size() - 2;
  auto own = op->getAttrOfType<DenseI64ArrayAttr>("pads");
  auto pads = own && !own.empty() ? SmallVector<int64_t>(own.asArrayRef()) : SmallVector<int64_t>(2 * rank, 0);
  for (size_t i = 0; i < amounts->size(); ++i) {
    auto [before, after] = (*amounts)[i];
    if (before < 0 || after < 0 || (i < 2 && (before || after)) || pads.size() != 2 * rank) {
      return std::nullopt;
    }
    if (i >= 2) {
      pads[i - 2] += before, pads[rank + i - 2] += after;
    }
  }
  return pads;
}

bool fills(onnx::PadOp pad, double value) {
  return onnx::present(pad.getValue()) ? numberOf(pad.getValue()) == value : value == 0.0;
}

/// Replaces `op` by one that reads the unpadded tensor.
void readUnpadded(Operation *op, onnx::PadOp pad, ArrayRef<NamedAttribute> attributes, PatternRewriter &rewriter) {
  SmallVector<Value> operands(op->getOperands());
  operands[0] = pad.getData();
  Operation *made = onnx::createOp(rewriter, jointLoc(rewriter, {pad, op}), op->getName().getStringRef(), operands,
                                   attributes, op->getNumResults());
  rewriter.replaceOp(op, made->getResults());
}

struct IntoConv : OpRewritePattern<onnx::ConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::ConvOp conv, PatternRewriter &rewriter) const override {
    auto pad = conv.getX().getDefiningOp<onnx::PadOp>();
    auto pads = pad && fills(pad, 0.0) ? joinedPads(conv, pad) : std::nullopt;
    if (!pads) {
      return failure();
    }
    NamedAttrList attributes(conv->getAttrs());
    attributes.set("pads", rewriter.getDenseI64ArrayAttr(*pads));
    readUnpadded(conv, pad, attributes.getAttrs(), rewriter);
    return success();
  }
};

/// Whether each window that the pads move keeps an element of the image.
template <typename Pool> bool windowsKeepElements(Pool pool, ArrayRef<int64_t> pads) {
  auto dilations = pool.getDilations();
  size_t rank = pool.getKernelShape().size();
  for (size_t i = 0; i < 2 * rank; ++i) {
    int64_t step = dilations && !dilations->empty() ? (*dilations)[i % rank] : 1;
    if (step != 1 || pads[i] >= pool.getKernelShape()[i % rank]) {
      return false;
    }
  }
  return pool.getCeilMode() == 0;
}

bool neverNegative(Value v) {
  return isa_and_nonnull<onnx::ReluOp, onnx::SigmoidOp, onnx::AbsOp, onnx::ExpOp>(v.getDefiningOp());
}

struct IntoMaxPool : OpRewritePattern<onnx::MaxPoolOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::MaxPoolOp pool, PatternRewriter &rewriter) const override {
    auto pad = pool.getX().getDefiningOp<onnx::PadOp>();
    auto pads = pad ? joinedPads(pool, pad) : std::nullopt;
    if (!pads || !pool.getIndices().use_empty() || !windowsKeepElements(pool, *pads)) {
      return failure();
    }
    if (!fills(pad, -std::numeric_limits<double>::infinity()) && !(fills(pad, 0.0) && neverNegative(pad.getData()))) {
      return failure();
    }
    NamedAttrList attributes(pool->getAttrs());
    attributes.set("pads", rewriter.getDenseI64ArrayAttr(*pads));
    readUnpadded(pool, pad, attributes.getAttrs(), rewriter);
    return success();
  }
};

struct IntoAveragePool : OpRewritePattern<onnx::AveragePoolOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::AveragePoolOp pool, PatternRewriter &rewriter) const override {
    auto pad = pool.getX().getDefiningOp<onnx::PadOp>();
    auto pads = pad && fills(pad, 0.0) ? joinedPads(pool, pad) : std::nullopt;
    bool counted = pool.getCountIncludePad() ||
                   llvm::all_of(pool.getPads().value_or(ArrayRef<int64_t>()), [](int64_t p) { return p == 0; });
    if (!pads || !counted || !windowsKeepElements(pool, *pads)) {
      return failure();
    }
    NamedAttrList attributes(pool->getAttrs());
    attributes.set("pads", rewriter.getDenseI64ArrayAttr(*pads));
    attributes.set("count_include_pad", rewriter.getI64IntegerAttr(1));
    readUnpadded(pool, pad, attributes.getAttrs(), rewriter);
    return success();
  }
};

} // namespace

void populatePaddedWindow(RewritePatternSet &patterns) {
  patterns.add<IntoConv, IntoMaxPool, IntoAveragePool>(patterns.getContext());
}

} // namespace ingot::fusion
