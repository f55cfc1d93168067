// Reads the shape of a Reshape: 0 copies the size of an axis, and -1 is what is left.
#include "compiler/graph/SizeReader.h"
#include "compiler/onnx/ops/Shape.h"

using namespace mlir;
using ingot::onnx::Size;
using ingot::onnx::Sizes;

namespace ingot::graph {
namespace {

class ReshapeReader : SizeReader {
public:
  explicit ReshapeReader(const SizeReader &reader) : SizeReader(reader) {}

  bool run(onnx::ReshapeOp reshape) {
    Value list = reshape.getShape();
    auto length = lengthOf(list);
    if (!length || !onnx::isSized(reshape.getX())) {
      return false;
    }
    Sizes from = onnx::sizesOf(onnx::ranked(reshape.getX())), sizes;
    SmallVector<int64_t> missing;
    bool rest = false; // whether an element is known to be -1
    for (int64_t i = 0; i < *length; ++i) {
      Size size = known({list, i});
      if (size.is(0) && !reshape.getAllowzero() && i < static_cast<int64_t>(from.size())) {
        size = from[i];
      }
      rest |= size.is(-1);
      if (size.isUnknown()) {
        missing.push_back(i);
      }
      sizes.push_back(size);
    }
    Size bound = Size::unknown();
    if (missing.size() == 1 && !rest) { // the number of elements tells the size
      Sizes others = sizes;
      others[missing.front()] = 1;
      bound = floorDiv(support::product(from), support::product(others));
    }
    if (!mayRead(bound)) {
      return false;
    }
    Value resolved = rest ? list : resolve(reshape, from);
    for (int64_t i : missing) {
      sizes[i] = read(element({resolved, i}), bound);
    }
    setOperand(1, sizes);
    reshape.setAllowzero(true); // all sizes are what they say
    return true;
  }

private:
  /// Returns the numbers of a shape with sizes in place of 0 and -1; a number that cannot be is negative.
  Value resolve(onnx::ReshapeOp reshape, ArrayRef<Size> from) {
    Value list = i64(reshape.getShape());
    auto type = onnx::ranked(list);
    auto all = [&](int64_t n) { return onnx::makeSizes(f.b, f.loc, Sizes(type.getNumElements(), n), type); };
    if (!reshape.getAllowzero()) {
      Sizes copied(from);
      copied.resize(type.getNumElements(), -2);
      list = f.op("Where", {f.op("Equal", {list, all(0)}), onnx::makeSizes(f.b, f.loc, copied, type), list});
    }
    Value open = f.op("Equal", {list, all(-1)});
    Value given = f.reduce("ReduceProd", f.op("Where", {open, all(1), list}), {0}, /*keepdims=*/true);
    Value one = onnx::makeIntegers(f.b, f.loc, {1}), count = onnx::makeSizes(f.b, f.loc, {support::product(from)});
    Value left = f.div(count, f.op("Max", {given, one}));
    return f.op("Where", {open, left, list});
  }
};

struct ReshapeSizes : ReadsSizes::ExternalModel<ReshapeSizes, onnx::ReshapeOp> {
  bool readSizes(Operation *op, SizeReader &reader) const {
    return ReshapeReader(reader).run(cast<onnx::ReshapeOp>(op));
  }
};

} // namespace

void attachReshape(MLIRContext &context) { onnx::ReshapeOp::attachInterface<ReshapeSizes>(context); }

} // namespace ingot::graph
