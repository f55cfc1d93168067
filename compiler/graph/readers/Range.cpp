// Reads the bounds of a Range, whose result is as long as they say.
#include "compiler/graph/SizeReader.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/ops/Find.h"
#include "compiler/onnx/ops/Shape.h"

using namespace mlir;
using ingot::onnx::Size;
using ingot::onnx::Sizes;

namespace ingot::graph {
namespace {

class RangeReader : SizeReader {
public:
  explicit RangeReader(const SizeReader &reader) : SizeReader(reader) {}

  bool run(onnx::RangeOp range) {
    if (makeNumbers({0, 1, 2})) {
      return true;
    }
    if (reading != onnx::SizeReading::Any || !llvm::all_of(range->getOperands(), [](Value v) {
          return onnx::isStatic(v) && onnx::ranked(v).getNumElements() == 1;
        })) {
      return false;
    }
    Operation *finder = onnx::createOp(f.b, f.loc, onnx::RangeSizeOp::getOperationName(), range->getOperands());
    Size length = *onnx::dataDependentSizeOf(finder);
    Type element = onnx::elementOf(range.getStart());
    Value numbers = f.cast(f.countTo(f.scalar(length)), element, onnx::numberOfElement(element));
    f.b.setInsertionPoint(op);
    Value y = f.add(f.mul(numbers, f.reshape(range.getDelta(), {})), f.reshape(range.getStart(), {}));
    range.getY().replaceAllUsesWith(y);
    range->erase();
    return true;
  }
};

struct RangeLength : ReadsSizes::ExternalModel<RangeLength, onnx::RangeOp> {
  bool readSizes(Operation *op, SizeReader &reader) const { return RangeReader(reader).run(cast<onnx::RangeOp>(op)); }
};

} // namespace

void attachRange(MLIRContext &context) { onnx::RangeOp::attachInterface<RangeLength>(context); }

} // namespace ingot::graph
