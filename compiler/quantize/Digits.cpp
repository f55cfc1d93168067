// To make floats of weights of few bits in registers takes longer than to read them. Where a machine multiplies quads
// of bytes, the rows become integers instead, by the blocks of the weights. The largest element of a block is 127; an
// integer and two digits from -127 to 127 behind the point leave an error of 2^-24 of that largest element, which
// float32 has, too. Products of digits and weights are exact, and so are their sums, also as float32:
//
//   sum over a block of a (w - z) s = s * unit * (sum a' w - z sum a'),   a' = coarse 254^2 + middle 254 + fine
//
// A block with an infinite element or a NaN gives NaN.
#include "compiler/quantize/Digits.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Formula.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/ops/MatMul.h"

using namespace mlir;

namespace ingot::quantize {
namespace {

using onnx::Formula;

/// The most elements of a block for which sums of a digit's products, of 127 by 255 at most, are below 2^24.
constexpr int64_t mostInBlock = 512;
constexpr double base = onnx::DigitMatMulOp::base;
/// Of a largest element: where it is smaller, its block counts for as good as nothing, and what it is divided by must
/// not be zero.
constexpr double least = 1e-30;

/// A with zeros behind each row, up to whole blocks, as [..., blocks, block].
Value inBlocks(Formula &f, Value a, int64_t blocks, int64_t block) {
  onnx::Sizes sizes = onnx::sizesOf(onnx::ranked(a));
  if (!sizes.back().is(blocks * block)) {
    onnx::Sizes pads(2 * sizes.size(), 0);
    pads.back() = onnx::Size(blocks * block) - sizes.back();
    a = f.op("Pad", {a, onnx::makeSizes(f.b, f.loc, pads), Value(), Value()});
  }
  sizes.back() = blocks, sizes.push_back(block);
  return f.reshapeTo(a, sizes);
}

struct Digits : OpRewritePattern<onnx::FewBitsMatMulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::FewBitsMatMulOp op, PatternRewriter &rewriter) const override {
    auto a = onnx::ranked(op.getA());
    auto block = static_cast<int64_t>(op.getBlock()), blocks = onnx::ranked(op.getScales()).getDimSize(0);
    if (!a || a.getRank() < 2 || block > mostInBlock) {
      return failure();
    }
    Formula f(rewriter, op.getLoc());
    int64_t rank = a.getRank();
    onnx::Sizes rows = onnx::sizesOf(a), perBlock(rows);
    rows.back() = blocks * block, perBlock.back() = blocks;
    auto round = [&](Value v) { return f.op("Round", {v}); };
    auto times = [&](Value v, double n) { return f.mul(v, f.number(n, v)); };
    auto castTo = [&](Value v, Type element) { return f.cast(v, element, onnx::numberOfElement(element)); };
    Value x = inBlocks(f, castTo(op.getA(), rewriter.getF32Type()), blocks, block);
    Value most = f.op("Max", {f.reduce("ReduceMax", f.abs(x), {rank}, /*keepdims=*/true), f.number(least, x)});
    x = f.mul(x, f.div(f.number(127.0, x), most));
    Value coarse = round(x), behind = times(f.sub(x, coarse), base), middle = round(behind),
          fine = round(times(f.sub(behind, middle), base));
    Value whole = f.add(times(f.add(times(coarse, base), middle), base), fine);
    Value less = f.op("Neg", {f.reduce("ReduceSum", whole, {rank}, /*keepdims=*/false)});
    Type i8 = rewriter.getIntegerType(8);
    auto bytes = [&](Value v) { return f.reshapeTo(castTo(v, i8), rows); };
    Value unit = f.reshapeTo(times(most, 1.0 / (127.0 * base * base)), perBlock);
    Value y = f.op("DigitMatMul",
                   {bytes(coarse), bytes(middle), bytes(fine), unit, less, op.getB(), op.getScales(), op.getZeros()},
                   {rewriter.getNamedAttr("bits", op.getBitsAttr()), rewriter.getNamedAttr("block", op.getBlockAttr()),
                    rewriter.getNamedAttr("zero", op.getZeroAttr())});
    rewriter.replaceOp(op, castTo(y, onnx::elementOf(op.getY())));
    return success();
  }
};

} // namespace

void addDigits(RewritePatternSet &patterns) { patterns.add<Digits>(patterns.getContext()); }

} // namespace ingot::quantize
