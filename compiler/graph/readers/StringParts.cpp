// Reads how many parts strings are cut into: as many as any of the strings has.
#include "compiler/graph/SizeReader.h"
#include "compiler/onnx/ops/Text.h"
#include "compiler/onnx/text/Texts.h"
#include "runtime_support/include/ingot.h"

using namespace mlir;
using ingot::onnx::Size;
using ingot::onnx::Sizes;

namespace ingot::graph {
namespace {

class StringPartsReader : SizeReader {
public:
  explicit StringPartsReader(const SizeReader &reader) : SizeReader(reader) {}

  bool run(onnx::StringPartsOp parts) {
    auto most = static_cast<int64_t>(parts.getMost()), more = static_cast<int64_t>(parts.getMore());
    auto number = static_cast<int64_t>(parts.getNumber());
    Size bound = most >= 0 ? Size(most) : Size::unknown();
    if (!onnx::isSized(parts.getX()) || !mayRead(bound)) {
      return false;
    }
    auto call = [&](ArrayRef<Value> xs, StringRef does, int64_t to, std::optional<Size> tail) {
      return onnx::makeText(f, xs, {does, to, {}, number, tail, /*rows=*/false, parts.getTable()});
    };
    Value counts = call({parts.getX()}, parts.getCounts(), INGOT_INT64, std::nullopt);
    // Without strings there are 0.
    Value all = f.op("Concat", {f.reshape(counts, {-1}), list({0})}, {f.integer("axis", 0)});
    Value found = f.reduce("ReduceMax", all, {0}, /*keepdims=*/false);
    if (more) {
      found = f.add(found, f.mul(f.op("Min", {found, f.scalar(1)}), f.scalar(more)));
    }
    Value y = call({parts.getX(), counts}, parts.getDoes(), INGOT_STRING, read(found, bound));
    parts.getY().replaceAllUsesWith(y);
    parts.getCount().replaceAllUsesWith(counts);
    parts->erase();
    return true;
  }
};

struct StringPartsCount : ReadsSizes::ExternalModel<StringPartsCount, onnx::StringPartsOp> {
  bool readSizes(Operation *op, SizeReader &reader) const {
    return StringPartsReader(reader).run(cast<onnx::StringPartsOp>(op));
  }
};

} // namespace

void attachStringParts(MLIRContext &context) { onnx::StringPartsOp::attachInterface<StringPartsCount>(context); }

} // namespace ingot::graph
