// Computes what a window does along each spatial axis, with sizes that may be expressions of symbols. For an input of
// `in` pixels, a reach of (kernel - 1) * dilation + 1 and a stride:
//
//   explicit pads    out = (in + before + after - reach) / stride + 1, rounded down or, with ceil_mode, up
//   SAME_*           out = in / stride rounded up; pads are what that needs, and an odd one goes to the end or the
//   front transposed       out = stride * (in - 1) + output_padding + reach - pads, or output_shape, which gives the
//   pads
//
// The op requires of the run that a window fits where sizes are open.
#include "compiler/onnx/elements/Window.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/sizes/Shapes.h"

using namespace mlir;

namespace ingot::onnx {

/// Larger attributes are refused, so that sizes computed below cannot overflow.
static constexpr int64_t largest = int64_t(1) << 31;

/// Returns an ints attribute with `count` entries in [least, largest], or `count` times `fallback`.
static FailureOr<SmallVector<int64_t>> listOf(Operation *op, StringRef name, size_t count, int64_t fallback,
                                              int64_t least) {
  auto attr = op->getAttrOfType<DenseI64ArrayAttr>(name);
  if (!attr || attr.empty()) {
    return SmallVector<int64_t>(count, fallback);
  }
  if (attr.size() != static_cast<int64_t>(count)) {
    return op->emitOpError("attribute '") << name << "' has " << attr.size() << " entries, expected " << count;
  }
  for (int64_t v : attr.asArrayRef()) {
    if (v < least || v > largest) {
      return op->emitOpError("attribute '") << name << "' has the entry " << v << ", expected " << least << " or more";
    }
  }
  return SmallVector<int64_t>(attr.asArrayRef());
}

static StringRef autoPadOf(Operation *op) {
  auto attr = op->getAttrOfType<StringAttr>("auto_pad");
  return attr && !attr.getValue().empty() ? attr.getValue() : StringRef("NOTSET");
}

/// Reads kernel, strides, dilations and the pads attribute.
static FailureOr<Window> readAttributes(Operation *op, ArrayRef<Size> kernel) {
  size_t rank = kernel.size();
  Window w;
  w.taps.assign(kernel.begin(), kernel.end());
  for (const Size &k : kernel) {
    w.kernel.push_back(k.isNumber() ? k.number() : ShapedType::kDynamic);
    if (k.isNumber() ? k.number() < 1 || k.number() > largest : failed(require(op, k, max(k, 1)))) {
      return op->emitOpError("kernel has a dimension of ") << k.text();
    }
  }
  auto strides = listOf(op, "strides", rank, 1, 1), dilations = listOf(op, "dilations", rank, 1, 1),
       pads = listOf(op, "pads", 2 * rank, 0, 0);
  if (failed(strides) || failed(dilations) || failed(pads)) {
    return failure();
  }
  w.strides = *strides, w.dilations = *dilations;
  w.before.assign(pads->begin(), pads->begin() + rank);
  w.after.assign(pads->begin() + rank, pads->end());
  w.out.assign(rank, Size::unknown());
  StringRef mode = autoPadOf(op);
  if (mode != "NOTSET" && mode != "VALID" && mode != "SAME_UPPER" && mode != "SAME_LOWER") {
    return op->emitOpError("attribute 'auto_pad' is '")
           << mode << "', expected NOTSET, VALID, SAME_UPPER or SAME_LOWER";
  }
  if (mode == "VALID") {
    w.before.assign(rank, 0), w.after.assign(rank, 0);
  }
  return w;
}

/// Splits `total` zeros; an odd one goes behind when `upper` holds.
static void distribute(Window &w, size_t i, const Size &total, bool upper) {
  Size half = floorDiv(total, 2);
  w.before[i] = upper ? half : total - half;
  w.after[i] = total - w.before[i];
}

/// Requires of a run that `size` is not negative. Failure when it always is.
static LogicalResult requireNotNegative(Operation *op, const Size &size) {
  return size.atLeast(0, factsOf(op)) ? success() : require(op, min(Size(0), size), 0);
}

FailureOr<Window> windowOf(Operation *op, ArrayRef<Size> spatial, ArrayRef<Size> kernel) {
  if (kernel.size() != spatial.size()) {
    return op->emitOpError("kernel has ") << kernel.size() << " spatial axes, the input " << spatial.size();
  }
  FailureOr<Window> read = readAttributes(op, kernel);
  if (failed(read)) {
    return failure();
  }
  Window &w = *read;
  StringRef mode = autoPadOf(op);
  auto ceil = op->getAttrOfType<IntegerAttr>("ceil_mode");
  for (size_t i = 0; i < kernel.size(); ++i) {
    Size in = spatial[i], stride = w.strides[i];
    bool known = !in.isUnknown() && !kernel[i].isUnknown();
    if (mode.starts_with("SAME")) {
      w.out[i] = ceilDiv(in, stride);
      Size total = known ? max(Size(0), (w.out[i] - 1) * stride + w.openReach(i) - in) : Size::unknown();
      distribute(w, i, total, mode == "SAME_UPPER");
      continue;
    }
    if (!known) {
      continue;
    }
    bool partial = ceil && ceil.getInt() && mode == "NOTSET"; // a last window may reach beyond the padding
    Size space = in + w.before[i] + w.after[i] - w.openReach(i), upTo = partial ? space + stride - 1 : space;
    if (failed(requireNotNegative(op, upTo))) {
      return op->emitOpError("a window of ") << w.openReach(i).text() << " does not fit the padded input of "
                                             << (in + w.before[i] + w.after[i]).text() << " on axis " << i + 2;
    }
    w.out[i] = floorDiv(upTo, stride) + 1;
    if (partial) {
      // A last window that would begin in the padding behind is left out.
      w.out[i] = max(floorDiv(space, stride) + 1, min(w.out[i], ceilDiv(in + w.before[i], stride)));
    }
  }
  return w;
}

FailureOr<Window> transposedWindowOf(Operation *op, ArrayRef<Size> spatial, ArrayRef<Size> kernel) {
  size_t rank = spatial.size();
  if (kernel.size() != rank) {
    return op->emitOpError("kernel has ") << kernel.size() << " spatial axes, the input " << rank;
  }
  FailureOr<Window> read = readAttributes(op, kernel);
  FailureOr<SmallVector<int64_t>> extra = listOf(op, "output_padding", rank, 0, 0);
  if (failed(read) || failed(extra)) {
    return failure();
  }
  Window &w = *read;
  StringRef mode = autoPadOf(op);
  auto shape = op->getAttrOfType<DenseI64ArrayAttr>("output_shape");
  ArrayRef<int64_t> wanted = shape ? shape.asArrayRef() : ArrayRef<int64_t>();
  if (wanted.size() == rank + 2) {
    wanted = wanted.drop_front(2); // some exporters write batch and channels as well
  }
  if (!wanted.empty() &&
      (wanted.size() != rank || llvm::any_of(wanted, [](int64_t d) { return d < 1 || d > largest; }))) {
    return op->emitOpError("attribute 'output_shape' must have a positive entry for each of ")
           << rank << " spatial axes";
  }
  for (size_t i = 0; i < rank; ++i) {
    if (spatial[i].isUnknown() || kernel[i].isUnknown()) {
      continue;
    }
    Size stride = w.strides[i], full = stride * (spatial[i] - 1) + (*extra)[i] + w.openReach(i);
    if (wanted.empty() && !mode.starts_with("SAME")) {
      w.out[i] = full - w.before[i] - w.after[i];
    } else {
      w.out[i] = wanted.empty() ? spatial[i] * stride : Size(wanted[i]);
      distribute(w, i, max(Size(0), full - w.out[i]), mode == "SAME_UPPER");
    }
    if (failed(requireNotNegative(op, w.out[i]))) {
      return op->emitOpError("pads leave nothing of the output on axis ") << i + 2;
    }
  }
  return w;
}

std::optional<Sizes> kernelOf(Operation *op, Value weights) {
  auto attr = op->getAttrOfType<DenseI64ArrayAttr>("kernel_shape");
  if (attr && !attr.empty()) {
    return Sizes(attr.asArrayRef().begin(), attr.asArrayRef().end());
  }
  auto type = ranked(weights);
  if (!type || type.getRank() < 2) {
    return std::nullopt;
  }
  Sizes sizes = sizesOf(type);
  return Sizes(sizes.begin() + 2, sizes.end());
}

/// Kernels and fusions look at `pads` alone, so auto_pad goes as soon as the pads are numbers.
LogicalResult explicitPads(Operation *op, const Window &window, PatternRewriter &rewriter) {
  auto mode = op->getAttrOfType<StringAttr>("auto_pad");
  SmallVector<int64_t> pads;
  for (const Size &pad : llvm::concat<const Size>(window.before, window.after)) {
    if (!pad.isNumber()) {
      return failure();
    }
    pads.push_back(pad.number());
  }
  if (!mode || mode.getValue() == "NOTSET") {
    return failure();
  }
  rewriter.modifyOpInPlace(op, [&] {
    op->removeAttr("auto_pad");
    op->setAttr("pads", rewriter.getDenseI64ArrayAttr(pads));
  });
  return success();
}

ElementsAttr constantThrough(Value v) {
  auto argument = dyn_cast_or_null<BlockArgument>(v);
  if (!argument) {
    return constantOf(v);
  }
  // An argument of a loop, which is not isolated, only begins with the operand.
  Operation *parent = argument.getOwner()->getParentOp();
  return parent && parent->hasTrait<OpTrait::IsIsolatedFromAbove>() &&
                 argument.getArgNumber() < parent->getNumOperands()
             ? constantThrough(parent->getOperand(argument.getArgNumber()))
             : ElementsAttr();
}

} // namespace ingot::onnx
