// To make floats of weights of few bits in registers takes longer than to read them. Where a machine multiplies bytes,
// the rows become integers instead, by the blocks of the weights. The largest element of a block is 127; an integer and
// two digits from -127 to 127 behind the point leave an error of 2^-24 of that largest element, which float32 has, too.
// Products of digits and weights are exact, and so are their sums:
//
//   sum over a block of a (w - z) s = s * unit * (sum a' w - z sum a'),   a' = coarse 254^2 + middle 254 + fine
//
// With two digits (--accuracy fast) the error is 2^-16, with one, which a model may ask for (MatMulNBits with
// accuracy_level 4), 2^-8. A block with an infinite element or a NaN gives NaN.
#include "compiler/integer/SplitFloats.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/formats/Products.h"
#include "compiler/onnx/quantization/FewBits.h"
#include "compiler/onnx/rewriting/Formula.h"

using namespace mlir;

namespace ingot::integer {
namespace {

using onnx::Formula;

/// The most elements of a block for which sums of a digit's products, of 127 by 255 at most, are below 2^24, and so
/// exact floats; those of two digits, of weights of 4 bits, are below 2^31.
constexpr int64_t mostInBlock = 512;
constexpr double base = formats::SplitIntegerMatMulOp::base;
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

struct SplitFloats : OpRewritePattern<formats::FewBitsMatMulOp> {
  SplitFloats(MLIRContext *context, FormsOf formsOf) : OpRewritePattern(context), formsOf(formsOf) {}
  FormsOf formsOf;
  LogicalResult matchAndRewrite(formats::FewBitsMatMulOp op, PatternRewriter &rewriter) const override {
    auto a = onnx::ranked(op.getA());
    const MachineForms &forms = formsOf(op);
    auto block = static_cast<int64_t>(op.getBlock()), blocks = onnx::ranked(op.getScales()).getDimSize(0);
    if (!a || a.getRank() < 2 || block > mostInBlock || static_cast<int64_t>(op.getBits()) > forms.splitProducts.bits) {
      return failure();
    }
    int64_t count = op.getBytesA() ? 1 : forms.twoDigits ? 2 : 3;
    onnx::Size rowCount = onnx::rowCountOf(op.getA());
    bool pays = count == 1 || forms.splitProducts.ofRows || !rowCount.isNumber() || rowCount.number() == 1;
    if (!pays || onnx::ranked(op.getB()).getDimSize(1) < SplitProducts::leastColumns) {
      return failure();
    }
    Formula f(rewriter, op.getLoc());
    int64_t rank = a.getRank();
    onnx::Sizes rows = onnx::sizesOf(a), perBlock(rows);
    rows.back() = blocks * block, perBlock.back() = blocks;
    auto times = [&](Value v, double n) { return f.mul(v, f.number(n, v)); };
    auto castTo = [&](Value v, Type element) { return f.cast(v, element, onnx::numberOfElement(element)); };
    Value x = inBlocks(f, castTo(op.getA(), rewriter.getF32Type()), blocks, block);
    Value most = f.op("Max", {f.reduce("ReduceMax", f.abs(x), {rank}, /*keepdims=*/true), f.number(least, x)});
    x = f.mul(x, f.div(f.number(127.0, x), most));
    SmallVector<Value, 3> digits;
    Value whole;
    double high = 1;
    for (int64_t i = 0; i < count; ++i) {
      if (i) {
        x = times(f.sub(x, digits.back()), base), high *= base;
      }
      digits.push_back(f.op("Round", {x}));
      whole = i ? f.add(times(whole, base), digits.back()) : digits.back();
    }
    Type i8 = rewriter.getIntegerType(8);
    Value none = onnx::makeNone(rewriter, op.getLoc());
    auto bytesOf = [&](size_t digit) {
      return digit < digits.size() ? f.reshapeTo(castTo(digits[digit], i8), rows) : none;
    };
    Value unit = f.reshapeTo(times(most, 1.0 / (127.0 * high)), perBlock),
          sum = f.mul(f.reduce("ReduceSum", whole, {rank}, /*keepdims=*/false), unit);
    Value less = times(sum, onnx::present(op.getZeros()) ? -1.0 : -static_cast<double>(op.getZero()));
    Value y = formats::make(
        f, "SplitIntegerMatMul",
        {bytesOf(0), bytesOf(1), bytesOf(2), digits.size() > 1 ? times(unit, high) : none, unit, less, op.getB(),
         op.getScales(), op.getZeros()},
        {rewriter.getNamedAttr("bits", op.getBitsAttr()), rewriter.getNamedAttr("block", op.getBlockAttr())});
    rewriter.replaceOp(op, castTo(y, onnx::elementOf(op.getY())));
    return success();
  }
};

} // namespace

void addSplitProducts(RewritePatternSet &patterns, FormsOf formsOf) {
  patterns.add<SplitFloats>(patterns.getContext(), formsOf);
}

} // namespace ingot::integer
