// Writes a Fourier transform of n samples as a product with a constant matrix of cosines and sines: for the lengths of
// speech and spectrograms (up to 2048 samples) that is one good product instead of log n passes over memory. With
// w = exp(-2 pi i / n), a real operand x and two columns (real, imaginary) for each bin k:
//
//   [y0.re y0.im y1.re y1.im ...] = [x0 x1 ... ] * M    where M[row, 2k] + i M[row, 2k+1] = w^(row * k)
//
// The matrix is a constant, or is computed by the model when n is known only then. Frames of STFT are gathered from the
// signal. Windows are formulas of the sample's number.
#include "compiler/onnx/ops/Signal.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/rewriting/Formula.h"
#include <cmath>
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Signal.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

/// The most elements that the matrix of a transform may have: 64 MiB of float32. Longer transforms are refused.
static constexpr int64_t mostNumbers = 1 << 24;

// These belong to windows.

template <typename Op> static LogicalResult inferWindow(Op op, SmallVectorImpl<Type> &types) {
  Type element = elementOfNumber(op.getOutputDatatype(), op.getContext());
  if (!element || isBool(element)) {
    return op.emitOpError("element type ") << op.getOutputDatatype() << " is unsupported";
  }
  Size size = numberIn(op.getSize());
  if (size.isNumber() && size.number() < 0) {
    return op.emitOpError("has ") << size.number() << " samples";
  }
  types.push_back(sizedType({size}, element));
  return success();
}

/// Writes a + b s + c s^2, where s = sin(t/2)^2 and t goes from 0 to 2 pi. This equals the standard's sum of cosines,
/// which it avoids because that subtracts: where a window is 0, rounding would leave small numbers of either sign.
template <typename Op> static LogicalResult decomposeWindow(Op op, const double (&abc)[3], PatternRewriter &rewriter) {
  Formula f(rewriter, op.getLoc());
  Type computeType = elementOf(op.getY()).isF64() ? Type(f.b.getF64Type()) : Type(f.b.getF32Type());
  int64_t number = numberOfElement(computeType);
  Value count = f.reshape(f.cast(op.getSize(), f.b.getI64Type(), 7), {});
  Value steps = f.countTo(count);
  Value around = op.getPeriodic() ? count : f.sub(count, f.scalar(1));
  Value angles = f.cast(steps, computeType, number);
  angles = f.div(f.mul(angles, f.number(M_PI, angles)), f.cast(around, computeType, number));
  Value sine = f.op("Sin", {angles}), s = f.mul(sine, sine);
  Value slope = f.number(abc[1], s);
  Value y = f.mul(s, abc[2] == 0 ? slope : f.add(slope, f.mul(s, f.number(abc[2], s))));
  y = abc[0] == 0 ? y : f.add(f.number(abc[0], s), y);
  rewriter.replaceOp(op, f.cast(y, elementOf(op.getY()), static_cast<int64_t>(op.getOutputDatatype())));
  return success();
}

#define INGOT_WINDOW(Op, ...)                                                                                          \
  LogicalResult Op::inferTypes(SmallVectorImpl<Type> &types) { return inferWindow(*this, types); }                     \
  LogicalResult Op::decompose(PatternRewriter &rewriter) { return decomposeWindow(*this, {__VA_ARGS__}, rewriter); }
INGOT_WINDOW(HannWindowOp, 0, 1, 0)
INGOT_WINDOW(HammingWindowOp, 4.0 / 46, 42.0 / 46, 0)
INGOT_WINDOW(BlackmanWindowOp, 0, 0.36, 0.64)
#undef INGOT_WINDOW

// These belong to DFT.

namespace {
/// The sizes of one transform.
struct Transform {
  int64_t axis = 0;
  /// `inputSize` is the number of the operand's samples (inverse: bins) along the axis; `length` is n, the length of
  /// the transform, to which the operand is cut or filled with zeros.
  Size inputSize, length;
  int64_t parts = 0; ///< floats of one number of the operand: 1 (real), or 2 (real and imaginary)
  bool inverse = false, onesided = false;
  bool realResult() const { return inverse && onesided; }
  Size usedSize() const { return min(inputSize, realResult() ? floorDiv(length, 2) + 1 : length); }
  Size resultSize() const { return onesided && !inverse ? floorDiv(length, 2) + 1 : length; }
  bool isKnown() const { return inputSize.isNumber() && length.isNumber(); }
};
} // namespace

/// Returns Transform::parts for an operand whose last axis has the size `last`; nothing where that is neither 1 nor 2.
/// Where the size is open, 2 are assumed, and real numbers get an imaginary part of 0 during the run; for a one-sided
/// transform, which is defined for real numbers only, 1 is required.
static std::optional<int64_t> partsOf(DFTOp op, const Size &last) {
  if (last.isNumber()) {
    return last.is(1) || last.is(2) ? std::optional(last.number()) : std::nullopt;
  }
  int64_t parts = op.getOnesided() && !op.getInverse() ? 1 : 2;
  LogicalResult fits = require(op, last, parts == 1 ? Size(1) : min(max(last, 1), 2));
  return succeeded(fits) ? std::optional(parts) : std::nullopt;
}

/// Returns the sizes of the transform; nothing while those of the operands are unknown; failure with a message where
/// they contradict the standard.
static FailureOr<std::optional<Transform>> transformOf(DFTOp op) {
  using Result = std::optional<Transform>;
  auto x = ranked(op.getX());
  Size axis = present(op.getAxis()) ? numberIn(op.getAxis()) : Size(-2);
  if (!x || !axis.isNumber()) {
    return Result();
  }
  Transform t;
  auto normal = normalAxis(axis.number(), x.getRank());
  Sizes sizes = sizesOf(x);
  auto parts = sizes.empty() ? std::nullopt : partsOf(op, sizes.back());
  if (!normal || *normal == x.getRank() - 1 || !parts) {
    return op.emitOpError("cannot transform ")
               << x << " along axis " << axis.number() << ": the last axis is for the parts of a number",
           failure();
  }
  t.axis = *normal, t.parts = *parts;
  t.inverse = op.getInverse(), t.onesided = op.getOnesided();
  t.inputSize = sizes[t.axis];
  t.length = present(op.getDftLength()) ? numberIn(op.getDftLength())
             : t.realResult()           ? Size(2) * (t.inputSize - Size(1))
                                        : t.inputSize;
  if (t.length.isUnknown() || t.inputSize.isUnknown()) {
    return Result();
  }
  if (t.length.isNumber() ? t.length.number() < 1 : failed(require(op, t.length, max(t.length, 1)))) {
    return op.emitOpError("transforms ") << t.length.text() << " samples", failure();
  }
  if (t.onesided && !t.inverse && t.parts == 2) {
    return op.emitOpError("gives one side of the transform of complex numbers, which has two"), failure();
  }
  bool large = t.isKnown() && (std::max(t.length.number(), t.inputSize.number()) > mostNumbers ||
                               t.usedSize().number() * t.parts > mostNumbers / (2 * t.resultSize().number()));
  if (large) {
    return op.emitOpError("transforms of ") << t.length.text() << " samples are unsupported", failure();
  }
  return Result(t);
}

LogicalResult DFTOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto t = transformOf(*this);
  if (failed(t)) {
    return failure();
  }
  auto x = ranked(getX());
  if (!*t) {
    types.push_back(x ? Type(tensorOf(SmallVector<int64_t>(x.getRank(), ShapedType::kDynamic), x.getElementType()))
                      : Type(unrankedOf(elementOf(getX()))));
    return success();
  }
  Sizes sizes = sizesOf(x);
  sizes[(*t)->axis] = (*t)->resultSize();
  sizes.back() = (*t)->realResult() ? 1 : 2;
  types.push_back(sizedType(sizes, x.getElementType()));
  return success();
}

/// Turns the axis into an operand: before opset 20 it is an attribute, by default 1.
LogicalResult DFTOp::upgrade(Node &node) {
  if (node.opset < 20) {
    if (!node.attributes.get("axis")) {
      node.attributes.set("axis", node.builder.getI64IntegerAttr(1));
    }
    node.attributeToOperand("axis", 2);
  }
  return success();
}

/// Returns the ops that compute the matrix of matrixOf() for a length that is known only when the model runs. An
/// element's angle is 2 pi * phase / n with phase = row * column mod n, an integer that is brought to [-n/2, n/2]:
/// sine and cosine of small angles are exact enough.
static Value computedMatrixOf(Formula &f, const Transform &t, Type element) {
  int64_t elementNumber = numberOfElement(element);
  Size rows = t.usedSize(), columns = t.resultSize();
  Value row = f.reshapeTo(f.countTo(f.scalar(rows)), {rows, 1, 1, 1});
  Value column = f.reshapeTo(f.countTo(f.scalar(columns)), {columns, 1});
  Value n = f.scalar(t.length), phase = f.op("Mod", {f.mul(row, column), n});
  Value beyond = f.op("Greater", {f.mul(phase, f.scalar(2)), n});
  phase = f.op("Where", {beyond, f.sub(phase, n), phase});
  // The cosine is written as a sine, and both as sines of at most a quarter of the circle: thus they are exactly 0
  // where they should be, which the sine of a rounded pi is not.
  Value length = f.cast(n, element, elementNumber), half = f.mul(f.abs(phase), f.scalar(2));
  auto sine = [&](Value part, double factor) {
    Value angle = f.div(f.cast(part, element, elementNumber), length);
    return f.op("Sin", {f.mul(angle, f.number(factor * M_PI, angle))});
  };
  Value real = sine(f.sub(n, f.mul(half, f.scalar(2))), 0.5);
  Value imaginary = sine(f.op("Min", {half, f.sub(n, half)}), 1);
  Value back = f.op(t.inverse ? "Less" : "Greater", {phase, f.scalar(0)});
  imaginary = f.op("Where", {back, f.op("Neg", {imaginary}), imaginary});
  if (t.inverse) {
    Value weight = f.div(f.number(1, real), length);
    if (t.realResult()) {
      Value twice = f.mul(row, f.scalar(2));
      Value single = f.op("Or", {f.op("Equal", {twice, f.scalar(0)}), f.op("Equal", {twice, n})});
      weight = f.op("Where", {single, weight, f.mul(weight, f.number(2, weight))});
    }
    real = f.mul(real, weight), imaginary = f.mul(imaginary, weight);
  }
  auto beside = [&](Value a, Value b, int64_t axis) { return f.op("Concat", {a, b}, {f.integer("axis", axis)}); };
  bool one = t.realResult();
  Value matrix = one ? real : beside(real, imaginary, 3);
  if (t.parts == 2) { // the row of the imaginary part is i times that of the real one
    Value minus = f.op("Neg", {imaginary});
    matrix = beside(matrix, one ? minus : beside(minus, real, 3), 1);
  }
  return f.reshapeTo(matrix, {rows * Size(t.parts), columns * Size(one ? 1 : 2)});
}

/// Returns the matrix of a transform: a row for each part (real, imaginary) of each number of the operand, and a column
/// for each part of each number of the result.
static Value matrixOf(Formula &f, const Transform &t, Type element) {
  if (!t.isKnown()) {
    return computedMatrixOf(f, t, element);
  }
  int64_t rows = t.usedSize().number(), bins = t.resultSize().number(), n = t.length.number();
  int64_t parts = t.realResult() ? 1 : 2, columns = bins * parts;
  SmallVector<double> numbers(rows * t.parts * columns);
  for (int64_t row = 0; row < rows; ++row) {
    // A one-sided spectrum leaves out the conjugates: each bin but the first and, of an even length, the middle one
    // stands for two of the whole spectrum.
    double weight = !t.inverse ? 1 : t.realResult() && row != 0 && 2 * row != n ? 2.0 / n : 1.0 / n;
    for (int64_t k = 0; k < bins; ++k) {
      double angle = 2 * M_PI * static_cast<double>(row * k % n) / static_cast<double>(n) * (t.inverse ? 1 : -1);
      double real = std::cos(angle) * weight, imaginary = std::sin(angle) * weight;
      double *to = numbers.data() + row * t.parts * columns + k * parts;
      to[0] = real;
      if (parts == 2) {
        to[1] = imaginary;
      }
      if (t.parts == 2) { // the row of the imaginary part is i times that of the real one
        to[columns] = -imaginary;
        if (parts == 2) {
          to[columns + 1] = real;
        }
      }
    }
  }
  return makeConstant(f.b, f.loc, constantFromFloats(tensorOf({rows * t.parts, columns}, element), numbers));
}

LogicalResult DFTOp::decompose(PatternRewriter &rewriter) {
  auto t = transformOf(*this);
  if (failed(t) || !*t || !isSized(getX())) {
    return failure();
  }
  Formula f(rewriter, getLoc());
  Value x = getX();
  int64_t rank = ranked(x).getRank(), axis = (*t)->axis;
  // Transposes the axis of the transform to the last but one, in front of the parts of its numbers.
  SmallVector<int64_t> there = llvm::to_vector(llvm::seq<int64_t>(0, rank)), back(rank);
  there.erase(there.begin() + axis);
  there.insert(there.end() - 1, axis);
  for (auto [to, from] : llvm::enumerate(there)) {
    back[from] = static_cast<int64_t>(to);
  }
  if (Size last = sizeOf(ranked(x), rank - 1); !last.isNumber() && (*t)->parts == 2) {
    Sizes pads(2 * rank, 0);
    pads.back() = Size(2) - last;
    x = f.op("Pad", {x, makeSizes(f.b, f.loc, pads), Value(), Value()});
  }
  bool moves = axis != rank - 2;
  auto transposed = [&](Value v, ArrayRef<int64_t> order) { return moves ? f.transpose(v, order) : v; };
  x = transposed(x, there);
  if (!((*t)->usedSize() == (*t)->inputSize)) {
    auto one = [&](const Size &n) { return makeSizes(f.b, f.loc, {n}); };
    x = f.op("Slice", {x, one(0), one((*t)->usedSize()), one(rank - 2), Value()});
  }
  Sizes sizes = sizesOf(ranked(x)), flat(sizes.begin(), sizes.end() - 2);
  flat.push_back((*t)->usedSize() * Size((*t)->parts));
  Value y = f.op("MatMul", {f.reshapeTo(x, flat), matrixOf(f, **t, elementOf(x))});
  sizes[rank - 2] = (*t)->resultSize(), sizes[rank - 1] = (*t)->realResult() ? 1 : 2;
  rewriter.replaceOp(*this, transposed(f.reshapeTo(y, sizes), back));
  return success();
}

// These belong to STFT.

/// Returns the sizes [batch, frames, samples of a frame, parts of a number]; a size that depends on data is unknown. A
/// real signal may lack the axis of parts, which PyTorch's TorchScript exporter leaves out and ONNX Runtime accepts.
static FailureOr<Sizes> framesOf(STFTOp op) {
  auto signal = ranked(op.getSignal());
  Size step = numberIn(op.getFrameStep());
  auto window = present(op.getWindow()) ? ranked(op.getWindow()) : RankedTensorType();
  bool wrong = (signal && signal.getRank() != 2 && signal.getRank() != 3) || (window && window.getRank() != 1) ||
               (step.isNumber() && step.number() < 1);
  if (wrong) {
    return op.emitOpError(
               "needs a signal [batch, samples] or [batch, samples, parts], a step and a window [samples], not ")
               << op.getSignal().getType() << ", " << op.getFrameStep().getType() << " and "
               << op.getWindow().getType(),
           failure();
  }
  if (!signal) {
    return Sizes(4, Size::unknown());
  }
  Sizes sizes = sizesOf(signal);
  Size length = present(op.getFrameLength()) ? numberIn(op.getFrameLength()) : window ? sizeOf(window, 0) : sizes[1];
  if (window && failed(require(op, length, sizeOf(window, 0)))) {
    return op.emitOpError("has frames of ") << length.text() << " samples and a window of " << window, failure();
  }
  Size frames = !step.isUnknown() ? floorDiv(sizes[1] - length, step) + Size(1) : Size::unknown();
  return Sizes{sizes[0], frames.isUnknown() ? frames : max(frames, 0), length, sizes.size() == 3 ? sizes[2] : Size(1)};
}

LogicalResult STFTOp::inferTypes(SmallVectorImpl<Type> &types) {
  FailureOr<Sizes> sizes = framesOf(*this);
  if (failed(sizes)) {
    return failure();
  }
  Size length = (*sizes)[2];
  Size bins = getOnesided() ? floorDiv(length, 2) + Size(1) : length;
  types.push_back(sizedType({(*sizes)[0], (*sizes)[1], bins, 2}, elementOf(getSignal())));
  return success();
}

LogicalResult STFTOp::decompose(PatternRewriter &rewriter) {
  FailureOr<Sizes> sizes = framesOf(*this);
  if (failed(sizes) || llvm::any_of(*sizes, [](const Size &s) { return s.isUnknown(); })) {
    return failure();
  }
  Formula f(rewriter, getLoc());
  Size frames = (*sizes)[1], length = (*sizes)[2], step = numberIn(getFrameStep());
  auto row = [&](const Size &n) { return f.countTo(f.scalar(n)); };
  Value starts = f.reshapeTo(f.mul(row(frames), f.scalar(step)), {frames, 1});
  Sizes signal = sizesOf(ranked(getSignal()));
  Value x = f.reshapeTo(getSignal(), {signal[0], signal[1], (*sizes)[3]});
  x = f.op("Gather", {x, f.add(starts, row(length))}, {f.integer("axis", 1)});
  if (present(getWindow())) {
    x = f.mul(x, f.reshapeTo(getWindow(), {length, 1}));
  }
  Value axis = makeInteger(rewriter, getLoc(), 2);
  rewriter.replaceOp(*this, f.op("DFT", {x, Value(), axis}, {f.integer("onesided", getOnesided() ? 1 : 0)}));
  return success();
}

void registerSignal(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Signal.cpp.inc"
      >();
}

} // namespace ingot::onnx
