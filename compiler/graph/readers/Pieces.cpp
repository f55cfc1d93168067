// Reads how many pieces of strings there are: as many as any of the strings has.
#include "compiler/graph/SizeReader.h"
#include "compiler/onnx/ops/Text.h"
#include "compiler/onnx/text/Texts.h"
#include "runtime_support/include/ingot.h"

using namespace mlir;
using ingot::onnx::Size;
using ingot::onnx::Sizes;

namespace ingot::graph {
namespace {

class PieceReader : SizeReader {
public:
  explicit PieceReader(const SizeReader &reader) : SizeReader(reader) {}

  bool readPieces(onnx::PiecesOp pieces) {
    auto most = static_cast<int64_t>(pieces.getMost()), more = static_cast<int64_t>(pieces.getMore());
    auto number = static_cast<int64_t>(pieces.getNumber());
    Size bound = most >= 0 ? Size(most) : Size::unknown();
    if (!onnx::isSized(pieces.getX()) || !mayRead(bound)) {
      return false;
    }
    auto call = [&](ArrayRef<Value> xs, StringRef does, int64_t to, std::optional<Size> tail) {
      return onnx::makeText(f, xs, {does, to, {}, number, tail, /*rows=*/false, pieces.getTable()});
    };
    Value counts = call({pieces.getX()}, pieces.getCounts(), INGOT_INT64, std::nullopt);
    // Without strings there are 0.
    Value all = f.op("Concat", {f.reshape(counts, {-1}), list({0})}, {f.integer("axis", 0)});
    Value found = f.reduce("ReduceMax", all, {0}, /*keepdims=*/false);
    if (more) {
      found = f.add(found, f.mul(f.op("Min", {found, f.scalar(1)}), f.scalar(more)));
    }
    Value y = call({pieces.getX(), counts}, pieces.getDoes(), INGOT_STRING, read(found, bound));
    pieces.getY().replaceAllUsesWith(y);
    pieces.getCount().replaceAllUsesWith(counts);
    pieces->erase();
    return true;
  }
};

struct PieceCount : ReadsSizes::ExternalModel<PieceCount, onnx::PiecesOp> {
  bool readSizes(Operation *op, SizeReader &reader) const {
    return PieceReader(reader).readPieces(cast<onnx::PiecesOp>(op));
  }
};

} // namespace

void attachPieces(MLIRContext &context) { onnx::PiecesOp::attachInterface<PieceCount>(context); }

} // namespace ingot::graph
