// Writes the tensor computations in front of an op that turn numbers of its operands into sizes (see the header). What
// exporters computed by Concat and reshapes is followed to its origin first, so that numbers which are known already,
// or
// are read elsewhere, are not read once more.
#include "compiler/onnx/sizes/SizesInData.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/ops/Find.h"
#include "compiler/onnx/ops/Gather.h"
#include "compiler/onnx/ops/Move.h"
#include "compiler/onnx/ops/Shape.h"

using namespace mlir;

namespace ingot::onnx {

SizesInData::SizesInData(Operation *op, OpBuilder &b) : op(op), f(b, op->getLoc()), reading(sizeReadingIn(op)) {
  b.setInsertionPoint(op);
}

/// Returns the element of another tensor that `e` is a copy of, by way of the ops with which exporters assemble shapes:
/// Concat, Reshape, Squeeze, Unsqueeze and Identity. Returns `e` itself where another op computes it.
static SizesInData::Element originOf(SizesInData::Element e) {
  while (Operation *op = e.tensor.getDefiningOp()) {
    if (auto concat = dyn_cast<ConcatOp>(op)) {
      if (ranked(op->getResult(0)).getRank() != 1 || !llvm::all_of(concat.getXs(), isStatic)) {
        break;
      }
      for (Value x : concat.getXs()) {
        int64_t length = ranked(x).getNumElements();
        if (e.index < length) {
          e.tensor = x;
          break;
        }
        e.index -= length;
      }
    } else if (isa<ReshapeOp, SqueezeOp, UnsqueezeOp, IdentityOp>(op) && isStatic(op->getOperand(0)) &&
               (ranked(op->getOperand(0)).getRank() <= 1 || ranked(op->getOperand(0)).getNumElements() == 1)) {
      e.tensor = op->getOperand(0);
    } else {
      break;
    }
  }
  return e;
}

Size SizesInData::known(Element e) {
  e = originOf(e);
  auto sizes = sizesIn(e.tensor);
  return sizes ? (*sizes)[e.index] : Size::unknown();
}

// More than 64 elements are not read: a shape or a list of axes has fewer, and each would become a size of its own.
std::optional<int64_t> SizesInData::lengthOf(Value v) {
  bool readable =
      present(v) && isStatic(v) && !sizesIn(v) && elementOf(v).isInteger() && ranked(v).getNumElements() <= 64;
  return readable ? std::optional(ranked(v).getNumElements()) : std::nullopt;
}

Value SizesInData::i64(Value v) {
  Type type = f.b.getI64Type();
  return f.cast(v, type, numberOfElement(type));
}

Value SizesInData::element(Element e) {
  e = originOf(e);
  if (ranked(e.tensor).getNumElements() == 1) {
    return i64(e.tensor);
  }
  for (Operation *user : e.tensor.getUsers()) {
    bool before = user->getBlock() == op->getBlock() && user->isBeforeInBlock(op);
    if (isa<GatherOp>(user) && before && user->getOperand(0) == e.tensor && isStatic(user->getResult(0)) &&
        ranked(user->getResult(0)).getNumElements() == 1 && splatNumber(user->getOperand(1)) == e.index) {
      return i64(user->getResult(0));
    }
  }
  return i64(f.op("Gather", {e.tensor, makeInteger(f.b, f.loc, e.index)}, {f.integer("axis", 0)}));
}

Size SizesInData::read(Value number, const Size &bound) {
  SmallVector<NamedAttribute> attributes;
  if (!bound.isUnknown()) {
    attributes.push_back(f.sizes("sizes", {bound}));
  }
  Operation *finder = createOp(f.b, f.loc, ReadSizeOp::getOperationName(), {number}, attributes);
  return *dataDependentSizeOf(finder);
}

Sizes SizesInData::readAll(Value list, ArrayRef<Size> bounds) {
  Sizes sizes;
  for (auto [i, bound] : llvm::enumerate(bounds)) {
    sizes.push_back(read(element({list, static_cast<int64_t>(i)}), bound));
  }
  return sizes;
}

Value SizesInData::any(Value conditions) {
  return f.op("Greater", {f.reduce("ReduceMax", i64(conditions), {0}, /*keepdims=*/false), f.scalar(0)});
}

// A negative size ends the run, and ReadSize gives one where `bad` holds. Reshape to that size, and back, makes the
// result depend on it, so that the check cannot be removed as unused.
Value SizesInData::failIf(Value bad, Value x) {
  Sizes sizes = sizesOf(ranked(x));
  Size count = product(sizes), found = read(orNegative(bad, f.scalar(count)), count);
  Value same = f.op("Reshape", {x, list({found})}, {f.integer("allowzero", 1)});
  return f.op("Reshape", {same, list(sizes)}, {f.integer("allowzero", 1)});
}

// These read lists of axes, as tensors: entry by axis matrices of zeros and ones, and sums of them.

SizesInData::Axes SizesInData::axesIn(Value axes, const Size &count, int64_t rank) {
  Value given = axes ? f.reshapeTo(i64(axes), {count}) : f.countTo(f.scalar(count));
  Value normal = where(f.op("Less", {given, f.scalar(0)}), f.add(given, f.scalar(rank)), given);
  SmallVector<int64_t> numbers = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  Value same = f.op("Equal", {f.reshapeTo(normal, {count, 1}), makeIntegers(f.b, f.loc, numbers)});
  Value each = i64(same), named = f.reduce("ReduceSum", each, {0}, /*keepdims=*/false);
  Value found = f.reduce("ReduceSum", named, {0}, /*keepdims=*/false);
  return {each, named, f.op("Not", {f.op("Equal", {found, f.scalar(count)})})};
}

Value SizesInData::namedTwice(const Axes &axes) {
  return f.op("Greater", {f.reduce("ReduceMax", axes.named, {0}, /*keepdims=*/false), f.scalar(1)});
}

Value SizesInData::rankAmongUnnamed(Value named) {
  Value free = i64(f.op("Equal", {named, f.scalar(0)}));
  return f.op("CumSum", {free, f.scalar(0)}, {f.integer("exclusive", 1)});
}

Sizes SizesInData::unnamed(const Axes &axes, ArrayRef<Size> sizes, int64_t count, Value bad) {
  SmallVector<int64_t> numbers = llvm::to_vector(llvm::seq<int64_t>(0, count));
  Value place = f.op("Equal", {rankAmongUnnamed(axes.named), f.reshape(makeIntegers(f.b, f.loc, numbers), {count, 1})});
  Value free = f.op("Equal", {axes.named, f.scalar(0)});
  Value all = f.op("Where", {f.op("And", {place, free}), list(sizes), f.scalar(0)});
  Value left = f.reduce("ReduceSum", all, {1}, /*keepdims=*/false);
  Sizes bounds;
  // Of n sizes `count` are left, in their order: entry i is one of sizes[i] to sizes[i + n - count].
  for (int64_t i = 0; i < count; ++i) {
    Size most = sizes[i];
    for (const Size &size : sizes.slice(i + 1, sizes.size() - count)) {
      most = max(most, size);
    }
    bounds.push_back(most);
  }
  return readAll(orNegative(bad, left), bounds);
}

} // namespace ingot::onnx
