// Reads operands that are sizes as they are, or counts of elements along an axis.
#include "compiler/graph/SizeReader.h"
#include "compiler/onnx/ops/Gather.h"
#include "compiler/onnx/ops/Image.h"
#include "compiler/onnx/ops/Move.h"
#include "compiler/onnx/ops/Rearrange.h"
#include "compiler/onnx/ops/ReplaceRows.h"
#include "compiler/onnx/ops/Shape.h"
#include "compiler/onnx/ops/Spread.h"
#include "compiler/onnx/ops/TopK.h"

using namespace mlir;

namespace ingot::graph {
namespace {

/// Reads an operand that is a list of sizes as they are.
template <typename Op, unsigned operand> struct ListOf : ReadsSizes::ExternalModel<ListOf<Op, operand>, Op> {
  bool readSizes(Operation *, SizeReader &reader) const { return reader.readList(operand); }
};

struct TopKCount : ReadsSizes::ExternalModel<TopKCount, onnx::TopKOp> {
  bool readSizes(Operation *op, SizeReader &reader) const {
    return reader.makeNumbers({1}) || reader.readAlong(cast<onnx::TopKOp>(op).getAxis());
  }
};

struct SplitSizes : ReadsSizes::ExternalModel<SplitSizes, onnx::SplitOp> {
  bool readSizes(Operation *op, SizeReader &reader) const {
    return reader.readAlong(cast<onnx::SplitOp>(op).getAxis());
  }
};

struct OneHotDepth : ReadsSizes::ExternalModel<OneHotDepth, onnx::OneHotOp> {
  bool readSizes(Operation *op, SizeReader &reader) const {
    auto oneHot = cast<onnx::OneHotOp>(op);
    if (reader.makeNumbers({1})) {
      return true;
    }
    if (!onnx::elementOf(oneHot.getDepth()).isInteger() && reader.mayRead(onnx::Size::unknown())) {
      oneHot.getDepthMutable().assign(reader.i64(oneHot.getDepth()));
    }
    return reader.readList(1);
  }
};

struct Col2ImSizes : ReadsSizes::ExternalModel<Col2ImSizes, onnx::Col2ImOp> {
  bool readSizes(Operation *, SizeReader &reader) const {
    bool image = reader.readList(1);
    // Blocks get no bounds of their own, which would multiply to far too much memory.
    return reader.readList(2) || image;
  }
};

struct ReplaceRowsSizes : ReadsSizes::ExternalModel<ReplaceRowsSizes, onnx::ReplaceRowsOp> {
  bool readSizes(Operation *op, SizeReader &reader) const {
    auto data = cast<onnx::ReplaceRowsOp>(op).getData();
    return onnx::isSized(data) && reader.readList(3, onnx::sizesOf(onnx::ranked(data)).front());
  }
};

} // namespace

void attachLists(MLIRContext &context) {
  onnx::ConstantOfShapeOp::attachInterface<ListOf<onnx::ConstantOfShapeOp, 0>>(context);
  onnx::TileOp::attachInterface<ListOf<onnx::TileOp, 1>>(context);
  onnx::DecodeImageOp::attachInterface<ListOf<onnx::DecodeImageOp, 1>>(context);
  onnx::MaxUnpoolOp::attachInterface<ListOf<onnx::MaxUnpoolOp, 2>>(context);
  onnx::TopKOp::attachInterface<TopKCount>(context);
  onnx::SplitOp::attachInterface<SplitSizes>(context);
  onnx::OneHotOp::attachInterface<OneHotDepth>(context);
  onnx::Col2ImOp::attachInterface<Col2ImSizes>(context);
  onnx::ReplaceRowsOp::attachInterface<ReplaceRowsSizes>(context);
}

} // namespace ingot::graph
