// Writes Col2Im, which scatters rows that have the batch and the channels as their elements, and adds them up, and
// MaxUnpool, which scatters single elements.
#include "compiler/onnx/ops/Spread.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/rewriting/Formula.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Spread.cpp.inc"
#include "compiler/onnx/sizes/Ranks.h"

using namespace mlir;

namespace ingot::onnx {

/// Returns an attribute that has a number for each of `count`, or `otherwise` for all where it is left out.
static std::optional<SmallVector<int64_t>> listOf(std::optional<ArrayRef<int64_t>> given, size_t count,
                                                  int64_t otherwise, int64_t least) {
  SmallVector<int64_t> all = given ? llvm::to_vector(*given) : SmallVector<int64_t>(count, otherwise);
  bool good = all.size() == count && llvm::all_of(all, [&](int64_t n) { return n >= least && n <= INT32_MAX; });
  return good ? std::optional(all) : std::nullopt;
}

// These belong to Col2Im.

namespace {
/// The blocks of one Col2Im. Each column of the operand is a block of the image, and its rows are the block's elements:
///
///   image 1 x 3, blocks 1 x 2   columns [a, b] and [c, d] become the image [a, b + c, d]
struct Blocks {
  Sizes image, block, steps; ///< `steps`: how many places of blocks there are along each axis
  SmallVector<int64_t> strides, dilations, pads;
  Size padded(size_t axis) const { return image[axis] + Size(pads[axis] + pads[image.size() + axis]); }
  Size pixels() const {
    Size all = 1;
    for (size_t i = 0; i < image.size(); ++i) {
      all = all * padded(i);
    }
    return all;
  }
};
} // namespace

/// Returns the blocks; nothing while the operands do not tell them; failure, without a message, where they contradict.
/// Numbers are bounded by those of 32 bits, so that their products stay in 64.
static FailureOr<std::optional<Blocks>> blocksOf(Col2ImOp op) {
  auto image = sizesIn(op.getImageShape()), block = sizesIn(op.getBlockShape());
  if (!image || !block) {
    return std::optional<Blocks>();
  }
  size_t rank = image->size();
  auto strides = listOf(op.getStrides(), rank, 1, 1), dilations = listOf(op.getDilations(), rank, 1, 1),
       pads = listOf(op.getPads(), 2 * rank, 0, 0);
  if (block->size() != rank || !strides || !dilations || !pads) {
    return failure();
  }
  Blocks b{*image, *block, {}, *strides, *dilations, *pads};
  auto fits = [](const Size &n, int64_t least) {
    return !n.isNumber() || (n.number() >= least && n.number() <= INT32_MAX);
  };
  for (size_t i = 0; i < rank; ++i) {
    if (!fits(b.image[i], 0) || !fits(b.block[i], 1)) {
      return failure();
    }
    Size space = b.padded(i) - (b.block[i] - Size(1)) * Size(b.dilations[i]) - Size(1);
    b.steps.push_back(floorDiv(max(space + Size(b.strides[i]), 0), b.strides[i]));
  }
  return std::optional(b);
}

/// Returns how many axes the image has, where an attribute or one of the shapes says so.
static std::optional<int64_t> imageAxesOf(Col2ImOp op) {
  auto given = [](std::optional<ArrayRef<int64_t>> list, int64_t each) {
    return list ? std::optional(static_cast<int64_t>(list->size()) / each) : std::nullopt;
  };
  for (auto axes : {given(op.getStrides(), 1), given(op.getDilations(), 1), given(op.getPads(), 2)}) {
    if (axes) {
      return axes;
    }
  }
  for (Value shape : {op.getImageShape(), op.getBlockShape()}) {
    if (isStatic(shape) && ranked(shape).getRank() == 1) {
      return ranked(shape).getNumElements();
    }
  }
  return std::nullopt;
}

/// The rank of the result may be known from attributes before the shapes are.
LogicalResult Col2ImOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto x = ranked(getX());
  if (auto axes = imageAxesOf(*this)) {
    for (Value shape : {getImageShape(), getBlockShape()}) {
      if (failed(requireLength(*this, shape, *axes))) {
        return emitOpError("image_shape or block_shape has not ") << *axes << " entries, one for each axis";
      }
    }
  }
  auto blocks = blocksOf(*this);
  if (!x || (succeeded(blocks) && !*blocks)) {
    auto axes = imageAxesOf(*this);
    return push(types, typeOfRank(*this, axes ? std::optional(*axes + 2) : axes, elementOf(getX())));
  }
  Sizes sizes = sizesOf(x);
  if (succeeded(blocks) && sizes.size() == 3) {
    Size inBlock = product((*blocks)->block), places = product((*blocks)->steps);
    Size channels = floorDiv(sizes[1], inBlock);
    if (succeeded(require(*this, sizes[1], channels * inBlock)) && succeeded(require(*this, sizes[2], places))) {
      Sizes shape{sizes[0], channels};
      shape.append((*blocks)->image.begin(), (*blocks)->image.end());
      types.push_back(sizedType(shape, x.getElementType()));
      return success();
    }
  }
  return emitOpError("blocks of type ") << x << " do not make the image that is asked for";
}

/// Returns the places of the elements of all blocks in the padded image, in the order of the operand: (element, block).
static Value placesOf(const Blocks &b, Formula &f) {
  size_t rank = b.image.size();
  Value places;
  Size stride = 1;
  // Numbers 0, step, ... along one of twice the axes.
  auto along = [&](const Size &count, int64_t step, size_t dimension) {
    Sizes shape(2 * rank, 1);
    shape[dimension] = count;
    Value numbers = f.mul(f.countTo(f.scalar(count)), f.scalar(stride * Size(step)));
    numbers = f.reshapeTo(numbers, shape);
    places = places ? f.add(places, numbers) : numbers;
  };
  for (size_t axis = rank; axis-- > 0;) {
    along(b.block[axis], b.dilations[axis], axis);
    along(b.steps[axis], b.strides[axis], rank + axis);
    stride = stride * b.padded(axis);
  }
  return f.reshapeTo(places, {product(b.block) * product(b.steps), 1});
}

LogicalResult Col2ImOp::decompose(PatternRewriter &rewriter) {
  auto blocks = blocksOf(*this);
  if (failed(blocks) || !*blocks || !isSized(getX()) || isBool(elementOf(getX()))) { // booleans have no sum
    return failure();
  }
  Formula f(rewriter, getLoc());
  const Blocks &b = **blocks;
  Sizes to = sizesOf(ranked(getY())), padded{to[0], to[1]};
  Size rows = to[0] * to[1];
  Size places = product(b.block) * product(b.steps), pixels = b.pixels();
  Value updates = f.transpose(f.reshapeTo(getX(), {rows, places}), {1, 0});
  Value y = f.op("ScatterND", {f.zeros({pixels, rows}, elementOf(getX())), placesOf(b, f), updates},
                 {rewriter.getNamedAttr("reduction", rewriter.getStringAttr("add"))});
  SmallVector<int64_t> starts, axes;
  Sizes ends;
  for (size_t i = 0; i < b.image.size(); ++i) {
    padded.push_back(b.padded(i));
    starts.push_back(b.pads[i]), ends.push_back(b.image[i] + Size(b.pads[i])),
        axes.push_back(static_cast<int64_t>(i) + 2);
  }
  y = f.reshapeTo(f.transpose(y, {1, 0}), padded);
  auto list = [&](ArrayRef<int64_t> numbers) { return makeIntegers(rewriter, getLoc(), numbers); };
  rewriter.replaceOp(*this, f.op("Slice", {y, list(starts), makeSizes(f.b, f.loc, ends), list(axes), Value()}));
  return success();
}

// These belong to MaxUnpool.

/// Returns the sizes of what was pooled, where there is no output_shape; nothing where the attributes do not fit.
static std::optional<Sizes> unpooled(MaxUnpoolOp op) {
  Sizes sizes = sizesOf(ranked(op.getX()));
  size_t rank = op.getKernelShape().size();
  auto strides = listOf(op.getStrides(), rank, 1, 1), pads = listOf(op.getPads(), 2 * rank, 0, 0),
       kernel = listOf(op.getKernelShape(), rank, 1, 1);
  if (!strides || !pads || !kernel || sizes.size() != rank + 2) {
    return std::nullopt;
  }
  for (size_t i = 0; i < rank; ++i) {
    Size last = (sizes[i + 2] - Size(1)) * Size((*strides)[i]);
    sizes[i + 2] = max(last + Size((*kernel)[i] - (*pads)[i] - (*pads)[rank + i]), 0);
  }
  return sizes;
}

LogicalResult MaxUnpoolOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto x = ranked(getX()), indices = ranked(getIndices());
  if (!x || !indices) {
    types.push_back(typeOfRank(commonRank({getX(), getIndices()}), elementOf(getX())));
    return success();
  }
  auto sizes = unpooled(*this);
  auto wanted = present(getOutputShape()) ? sizesIn(getOutputShape()) : std::nullopt;
  bool good = sizes && indices.getRank() == x.getRank() &&
              (!present(getOutputShape()) || succeeded(requireLength(*this, getOutputShape(), x.getRank())));
  for (int64_t i = 0; good && i < x.getRank(); ++i) {
    good = succeeded(require(*this, sizeOf(x, i), sizeOf(indices, i)));
  }
  if (!good) {
    return emitOpError("indices, kernel, pads, strides or output_shape do not fit ") << x;
  }
  if (present(getOutputShape())) {
    types.push_back(sizedType(wanted ? *wanted : Sizes(x.getRank(), Size::unknown()), x.getElementType()));
  } else {
    types.push_back(sizedType(*sizes, x.getElementType()));
  }
  return success();
}

/// Puts zeros behind where an output_shape is larger; the indices do not count them.
LogicalResult MaxUnpoolOp::decompose(PatternRewriter &rewriter) {
  if (!isSized(getX()) || !isSized(getIndices()) || !isSized(getY())) {
    return failure();
  }
  Sizes sizes = *unpooled(*this), wanted = sizesOf(ranked(getY()));
  Sizes pads(sizes.size(), 0);
  for (size_t i = 0; i < sizes.size(); ++i) {
    pads.push_back(wanted[i] - sizes[i]);
  }
  Formula f(rewriter, getLoc());
  Size count = product(sizesOf(ranked(getX())));
  Value indices = f.reshapeTo(getIndices(), {count}), flat = f.zeros({product(sizes)}, elementOf(getX()));
  Value y = f.op("ScatterElements", {flat, indices, f.reshapeTo(getX(), {count})}, {f.integer("axis", 0)});
  y = f.reshapeTo(y, sizes);
  rewriter.replaceOp(*this,
                     wanted == sizes ? y : f.op("Pad", {y, makeSizes(rewriter, getLoc(), pads), Value(), Value()}));
  return success();
}

void registerSpread(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Spread.cpp.inc"
      >();
}

} // namespace ingot::onnx
