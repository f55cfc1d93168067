// Both factors are rounded to 8 bits once, each by up to 2^-9 of itself; products of two are exact in float32, and sums
// are of float32. What a product reads is rounded by the kernel that makes it: it takes half the room, and so do the
// weights.
//
// What a convolution reads is in memory as bfloat16 only: others that read the same image (the sum around a residual
// block) read it so, and movements in front of the convolution (Concat) move what is rounded.
#include "compiler/integer/Bfloat16.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/formats/Convolutions.h"
#include "compiler/onnx/ops/Cast.h"
#include "compiler/onnx/ops/Conv.h"
#include "compiler/onnx/ops/MatMul.h"
#include "compiler/onnx/ops/Normalization.h"
#include "compiler/onnx/quantization/Quantization.h"
#include "compiler/onnx/rewriting/Formula.h"
#include "compiler/onnx/rewriting/Rewrite.h"

using namespace mlir;

namespace ingot::integer {
namespace {

/// Smaller matrices take no time, and rounding what they read would.
constexpr int64_t leastExtent = 16;

Value rounded(onnx::Formula &f, Value v) {
  Type bf16 = f.b.getBF16Type();
  return f.cast(v, bf16, onnx::numberOfElement(bf16));
}

/// Floats, rounded.
ElementsAttr halvesOf(ElementsAttr floats, MLIRContext *context) {
  std::vector<char> storage;
  ArrayRef<char> from = onnx::bytesOf(floats, storage);
  Type bf16 = BFloat16Type::get(context);
  onnx::FloatCodec wide(floats.getElementType()), narrow(bf16);
  std::vector<char> to(narrow.bytes() * floats.getNumElements());
  for (int64_t i = 0; i < floats.getNumElements(); ++i) {
    narrow.write(wide.read(from.data() + wide.bytes() * i), &to[narrow.bytes() * i]);
  }
  return onnx::constantFromBytes(onnx::tensorOf(floats.getShapedType().getShape(), bf16), std::move(to));
}

/// Returns a matrix as the words of Bf16MatMul.
ElementsAttr wordsOf(ElementsAttr matrix, bool transposed, MLIRContext *context) {
  auto shape = matrix.getShapedType().getShape();
  int64_t k = shape[transposed ? 1 : 0], n = shape[transposed ? 0 : 1];
  std::vector<char> storage, words(2 * k * n);
  ArrayRef<char> from = onnx::bytesOf(matrix, storage);
  onnx::FloatCodec wide(matrix.getElementType()), bf16(BFloat16Type::get(context));
  for (int64_t i = 0; i < k; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double value = wide.read(from.data() + wide.bytes() * (transposed ? j * k + i : i * n + j));
      bf16.write(value, &words[2 * (i / 2 * 2 * n + 2 * j + i % 2)]);
    }
  }
  return onnx::constantFromBytes(onnx::tensorOf({k / 2, n}, IntegerType::get(context, 32)), std::move(words));
}

struct Product : OpRewritePattern<onnx::MatMulOp> {
  Product(MLIRContext *context, FormsOf formsOf) : OpRewritePattern(context), formsOf(formsOf) {}
  FormsOf formsOf;
  LogicalResult matchAndRewrite(onnx::MatMulOp op, PatternRewriter &rewriter) const override {
    auto a = onnx::ranked(op.getA()), b = onnx::ranked(op.getB());
    ElementsAttr matrix = onnx::constantOf(op.getB());
    if (!a || !b || !matrix || op.getTransA() || a.getRank() < 2 || b.getRank() != 2 || !a.getElementType().isF32()) {
      return failure();
    }
    int64_t k = b.getDimSize(op.getTransB() ? 1 : 0), n = b.getDimSize(op.getTransB() ? 0 : 1);
    if (k % 2 || k < leastExtent || n < leastExtent || !formsOf(op).bf16Products) {
      return failure();
    }
    onnx::Formula f(rewriter, op.getLoc());
    Value words = onnx::makeConstant(rewriter, op.getLoc(), wordsOf(matrix, op.getTransB(), getContext()));
    rewriter.replaceOp(op, formats::make(f, "Bf16MatMul", {rounded(f, op.getA()), words}));
    return success();
  }
};

/// Whether tiles can be filled from the rows of an image, all of whose pixels are read.
bool isStemImage(onnx::ConvOp op) {
  constexpr int64_t tile = 16;
  auto y = onnx::ranked(op.getY()), w = onnx::ranked(op.getW());
  bool isDense = w.getShape().back() > 1 || !op.getStrides() || op.getStrides()->back() == 1;
  bool areNeighbours = !op.getDilations() || op.getDilations()->back() == 1;
  return y.getRank() == 4 && isDense && areNeighbours && y.getDimSize(2) >= tile && y.getDimSize(3) >= tile;
}

/// Whether the mean of its pixels is subtracted from each channel of a result again. Of an image as it was given, which
/// is no sum of many rounded ones, that may be the larger part by far, and what is left is the rounding
/// (fns-candy: 16 % of the picture).
bool isStandardized(Value v) {
  return llvm::any_of(v.getUsers(), [](Operation *user) {
    auto standardize = dyn_cast<onnx::StandardizeOp>(user);
    return standardize && llvm::is_contained(standardize.getAxes(), 2);
  });
}

/// Whether a dilated convolution reads so much around its image that it is worth to leave that out, for which there is
/// a way of float32.
bool readsMuchAround(onnx::ConvOp op) {
  constexpr int64_t share = 4;
  ArrayRef<int64_t> dilations = op.getDilations().value_or(ArrayRef<int64_t>()),
                    pads = op.getPads().value_or(ArrayRef<int64_t>());
  ArrayRef<int64_t> sizes = onnx::ranked(op.getX()).getShape().drop_front(2);
  for (auto [i, dilation] : llvm::enumerate(dilations)) {
    if (dilation > 1 && !pads.empty() && share * (pads[i] + pads[sizes.size() + i]) > sizes[i]) {
      return true;
    }
  }
  return false;
}

/// Of images with channels (whole blocks of them, or so few that they are read row by row), and pixels, for whole
/// tiles, and with more to multiply than to move.
bool hasTiles(onnx::ConvOp op) {
  constexpr int64_t wholeBlock = 16, stemChannels = 4, leastPixels = 16,
                    leastWork = 16; // the last: products for a channel of a pixel
  auto x = onnx::ranked(op.getX()), y = onnx::ranked(op.getY());
  auto isImage = [](RankedTensorType type) {
    return type && (type.getRank() == 3 || type.getRank() == 4) &&
           llvm::none_of(type.getShape().drop_front(), ShapedType::isDynamic);
  };
  if (!isImage(x) || !isImage(y) || !x.getElementType().isF32() || op.getGroup() != 1 || readsMuchAround(op)) {
    return false;
  }
  int64_t inputs = x.getDimSize(1), outputs = y.getDimSize(1);
  int64_t taps = onnx::elements(onnx::ranked(op.getW()).getShape().drop_front(2));
  bool isStem = inputs <= stemChannels && isStemImage(op) && !isStandardized(op.getResult());
  return (isStem || inputs % wholeBlock == 0) && outputs >= wholeBlock &&
         onnx::elements(y.getShape().drop_front(2)) >= leastPixels &&
         taps * inputs * outputs >= leastWork * (inputs + outputs);
}

struct Convolution : OpRewritePattern<onnx::ConvOp> {
  Convolution(MLIRContext *context, FormsOf formsOf) : OpRewritePattern(context), formsOf(formsOf) {}
  FormsOf formsOf;
  LogicalResult matchAndRewrite(onnx::ConvOp op, PatternRewriter &rewriter) const override {
    ElementsAttr weights = onnx::constantOf(op.getW());
    if (!weights || !hasTiles(op) || (onnx::present(op.getB()) && !onnx::constantOf(op.getB())) ||
        !formsOf(op).bf16Convolutions) {
      return failure();
    }
    onnx::Formula f(rewriter, op.getLoc());
    Value w = onnx::makeConstant(rewriter, op.getLoc(), halvesOf(weights, getContext()));
    Value sums = formats::make(f, "Bf16Conv", {rounded(f, op.getX()), w, Value()}, op->getAttrs());
    int64_t axis = onnx::ranked(op.getW()).getRank() - 2;
    rewriter.replaceOp(op, onnx::present(op.getB()) ? f.add(sums, onnx::alongEnd(f, op.getB(), axis)) : sums);
    return success();
  }
};

/// A cast of what a convolution reads, to bfloat16.
bool isForConvolution(onnx::CastOp cast) {
  return onnx::elementOf(cast.getResult()).isBF16() &&
         llvm::any_of(cast->getUsers(), [](Operation *user) { return isa<formats::Bf16ConvOp>(user); });
}

/// Whoever reads an image that is rounded for a convolution reads the rounded one, unless it is a result of the model.
struct ReadByAll : OpRewritePattern<onnx::CastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::CastOp op, PatternRewriter &rewriter) const override {
    Value image = op.getOperand();
    Operation *producer = image.getDefiningOp();
    if (image.hasOneUse() || !producer || !isForConvolution(op) ||
        llvm::any_of(image.getUsers(), [](Operation *user) { return user->hasTrait<OpTrait::IsTerminator>(); })) {
      return failure();
    }
    rewriter.moveOpAfter(op, producer);
    rewriter.setInsertionPointAfter(op);
    onnx::Formula f(rewriter, op.getLoc());
    Value wide;
    for (OpOperand &use : llvm::make_early_inc_range(image.getUses())) {
      auto same = dyn_cast<onnx::CastOp>(use.getOwner());
      if (same == op) {
        continue;
      }
      if (same && same.getType() == op.getType()) {
        rewriter.replaceOp(same, op.getResult());
        continue;
      }
      Type f32 = rewriter.getF32Type();
      wide = wide ? wide : f.cast(op.getResult(), f32, onnx::numberOfElement(f32));
      rewriter.modifyOpInPlace(use.getOwner(), [&] { use.set(wide); });
    }
    return success();
  }
};

/// Rounds in front of a movement what it moves.
struct MovedAfter : OpRewritePattern<onnx::CastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::CastOp op, PatternRewriter &rewriter) const override {
    Operation *move = op.getOperand().getDefiningOp();
    if (!move || !isa<onnx::Mover, onnx::View, onnx::Join>(move) || move->getNumResults() != 1 ||
        !op.getOperand().hasOneUse() || !isForConvolution(op)) {
      return failure();
    }
    unsigned parts = isa<onnx::Join>(move) ? move->getNumOperands() : 1;
    SmallVector<Value> operands(move->getOperands());
    bool hasFill = llvm::any_of(ArrayRef(operands).drop_front(parts),
                                [](Value v) { return onnx::present(v) && isa<FloatType>(onnx::elementOf(v)); });
    if (hasFill || !onnx::elementOf(operands[0]).isF32()) {
      return failure();
    }
    onnx::Formula f(rewriter, op.getLoc());
    for (Value &v : MutableArrayRef(operands).take_front(parts)) {
      v = rounded(f, v);
    }
    StringRef name = move->getName().getStringRef();
    rewriter.replaceOp(op, onnx::createOp(rewriter, move->getLoc(), name, operands, move->getAttrs()));
    return success();
  }
};

} // namespace

FailureOr<bool> useBfloat16(func::FuncOp function, FormsOf formsOf) {
  MLIRContext *context = function.getContext();
  RewritePatternSet patterns(context);
  patterns.add<Product, Convolution>(context, formsOf);
  patterns.add<ReadByAll, MovedAfter>(context);
  bool changed = false;
  if (failed(onnx::rewrite(function, std::move(patterns), {}, &changed))) {
    return failure();
  }
  return changed;
}

} // namespace ingot::integer
