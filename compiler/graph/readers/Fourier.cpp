// Reads the axis, the length and the frames of Fourier transforms that data gives.
#include "compiler/graph/SizeReader.h"
#include "compiler/onnx/Control.h"
#include "compiler/onnx/ops/Signal.h"

using namespace mlir;
using ingot::onnx::Size;
using ingot::onnx::Sizes;

namespace ingot::graph {
namespace {

class AxisReader : SizeReader {
public:
  explicit AxisReader(const SizeReader &reader) : SizeReader(reader) {}

  /// Writes a branch for each axis that may be transformed, which are few.
  bool readAxis(onnx::DFTOp transform) {
    auto type = onnx::ranked(transform.getX());
    if (lengthOf(transform.getAxis()) != 1 || !onnx::isSized(transform.getX()) || type.getRank() < 2) {
      return false;
    }
    Value axis = f.reshape(element({transform.getAxis(), 0}), {});
    axis = where(f.op("Less", {axis, f.scalar(0)}), f.add(axis, f.scalar(type.getRank())), axis);
    Value y = transformedAlong(transform, axis, 0);
    transform.getY().replaceAllUsesWith(y);
    transform->erase();
    return true;
  }

private:
  /// Writes the transform along an `axis` that only the run knows: an If chooses among the axes from `least` on, each
  /// of which has a transform of its own.
  Value transformedAlong(onnx::DFTOp transform, Value axis, int64_t least) {
    OpBuilder::InsertionGuard guard(f.b);
    Value is = f.op("Equal", {axis, f.scalar(least)});
    Type unknown = onnx::unrankedOf(onnx::elementOf(transform.getX()));
    auto branch = onnx::IfOp::create(f.b, f.loc, TypeRange{unknown}, is);
    auto yield = [&](Region &region, llvm::function_ref<Value()> value) {
      f.b.setInsertionPointToEnd(&region.emplaceBlock());
      onnx::YieldOp::create(f.b, f.loc, value());
    };
    yield(branch.getThenBranch(), [&] {
      return f.op("DFT", {transform.getX(), transform.getDftLength(), onnx::makeInteger(f.b, f.loc, least)},
                  {f.integer("inverse", static_cast<int64_t>(transform.getInverse())),
                   f.integer("onesided", static_cast<int64_t>(transform.getOnesided()))});
    });
    if (least + 2 < onnx::ranked(transform.getX()).getRank()) {
      yield(branch.getElseBranch(), [&] { return transformedAlong(transform, axis, least + 1); });
    } else {
      onnx::failInstead(branch.getElseBranch().emplaceBlock(), "the axis is none that can be transformed");
    }
    return succeeded(onnx::updateTypes(branch)) ? branch.getResult(0) : Value();
  }
};

class FrameReader : SizeReader {
public:
  explicit FrameReader(const SizeReader &reader) : SizeReader(reader) {}

  /// Returns the step or length of frames, which is 1 at least; a step (`cut`) beyond the signal's end makes no
  /// difference.
  bool readFrames(unsigned operand, bool cut) {
    Value number = op->getOperand(operand);
    auto signal = onnx::ranked(op->getOperand(0));
    if (lengthOf(number) != 1 || !onnx::isSized(op->getOperand(0)) || signal.getRank() != 3) {
      return false;
    }
    Size most = max(onnx::sizeOf(signal, 1), 1);
    Value n = element({number, 0});
    Value inside = cut ? f.op("Min", {n, one(most, n)}) : n;
    setOperand(operand, {read(where(f.op("Less", {n, one(1, n)}), one(-1, n), inside), most)});
    return true;
  }
};

struct TransformLength : ReadsSizes::ExternalModel<TransformLength, onnx::DFTOp> {
  bool readSizes(Operation *op, SizeReader &reader) const {
    return reader.readList(1) || AxisReader(reader).readAxis(cast<onnx::DFTOp>(op));
  }
};

struct FrameSizes : ReadsSizes::ExternalModel<FrameSizes, onnx::STFTOp> {
  bool readSizes(Operation *op, SizeReader &reader) const {
    FrameReader frames(reader);
    bool step = frames.readFrames(1, /*cut=*/true);
    return frames.readFrames(3, /*cut=*/false) || step;
  }
};

} // namespace

void attachFourier(MLIRContext &context) {
  onnx::DFTOp::attachInterface<TransformLength>(context);
  onnx::STFTOp::attachInterface<FrameSizes>(context);
}

} // namespace ingot::graph
