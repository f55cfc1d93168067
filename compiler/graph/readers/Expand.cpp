// Reads the shape of an Expand: 1 leaves an axis as it is; beside an axis that is not 1 there may only be its size.
#include "compiler/graph/SizeReader.h"
#include "compiler/onnx/ops/Move.h"

using namespace mlir;
using ingot::onnx::Size;
using ingot::onnx::Sizes;

namespace ingot::graph {
namespace {

class ExpandReader : SizeReader {
public:
  explicit ExpandReader(const SizeReader &reader) : SizeReader(reader) {}

  bool run(onnx::ExpandOp expand) {
    Value list = expand.getShape();
    auto length = lengthOf(list);
    if (!length || !onnx::isSized(expand.getData())) {
      return false;
    }
    Sizes from = onnx::sizesOf(onnx::ranked(expand.getData())), sizes;
    int64_t shift = *length - static_cast<int64_t>(from.size());
    for (int64_t i = 0; i < *length; ++i) {
      Size size = i < shift ? Size(1) : from[i - shift], to = known({list, i});
      Size bound = size.mayBeOne() ? Size::unknown() : size;
      if (to.isUnknown() && !mayRead(bound)) {
        return false;
      }
      if (to.isUnknown()) {
        Value number = element({list, i});
        if (!size.is(1)) {
          Value same = f.op("Equal", {number, one(1, number)});
          number = f.op("Where", {same, one(size, number), number});
        }
        to = read(number, bound);
      }
      sizes.push_back(to);
    }
    setOperand(1, sizes);
    return true;
  }
};

struct ExpandSizes : ReadsSizes::ExternalModel<ExpandSizes, onnx::ExpandOp> {
  bool readSizes(Operation *op, SizeReader &reader) const { return ExpandReader(reader).run(cast<onnx::ExpandOp>(op)); }
};

} // namespace

void attachExpand(MLIRContext &context) { onnx::ExpandOp::attachInterface<ExpandSizes>(context); }

} // namespace ingot::graph
