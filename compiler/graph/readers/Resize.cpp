// Reads the sizes of a Resize: they are in data, or follow from scales in data, or from constants whose products with
// open sizes no expression gives. The scales stay operands, since positions depend on them.
#include "compiler/onnx/ops/Resize.h"
#include "compiler/graph/SizeReader.h"
#include <cmath>

using namespace mlir;
using ingot::onnx::Size;
using ingot::onnx::Sizes;

namespace ingot::graph {
namespace {

class ScaleReader : SizeReader {
public:
  explicit ScaleReader(const SizeReader &reader) : SizeReader(reader) {}

  bool readScales(onnx::ResizeOp resize) {
    Value scales = resize.getScales();
    auto type = onnx::ranked(resize.getData()), sizes = onnx::ranked(resize.getSizes());
    auto known = onnx::present(scales) ? onnx::floatsOf(scales) : std::nullopt;
    bool given = onnx::present(scales) && onnx::isStatic(scales) && onnx::isSized(resize.getData()) &&
                 (known || mayRead(Size::unknown()));
    if (!given || (sizes && sizes.getNumElements() != 0)) {
      return false;
    }
    auto all = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
    ArrayRef<int64_t> axes = resize.getAxes().value_or(all);
    if (onnx::ranked(scales).getNumElements() != static_cast<int64_t>(axes.size())) {
      return false;
    }
    Sizes results;
    for (auto [i, number] : llvm::enumerate(axes)) {
      auto axis = onnx::normalAxis(number, type.getRank());
      if (!axis) {
        return false;
      }
      Size to = onnx::sizeOf(onnx::ranked(resize.getY()), *axis), from = onnx::sizeOf(type, *axis);
      Size most = known ? mostScaled(from, (*known)[i]) : Size::unknown();
      results.push_back(to.isUnknown() ? scaled(scales, static_cast<int64_t>(i), from, most) : to);
    }
    resize.getSizesMutable().assign(list(results));
    return true;
  }

private:
  /// Reads `from` multiplied by an element of the scales, in single precision and rounded down. It is at most `most`,
  /// where that is known.
  Size scaled(Value scales, int64_t i, const Size &from, const Size &most) {
    Type f32 = f.b.getF32Type();
    Value scale = f.cast(f.op("Gather", {scales, onnx::makeInteger(f.b, f.loc, i)}, {f.integer("axis", 0)}), f32, 1);
    Value length = f.op("Floor", {f.mul(f.cast(f.scalar(from), f32, 1), scale)});
    if (!most.isUnknown()) {
      return read(i64(length), most);
    }
    Value good = f.op("And", {f.op("Greater", {scale, f.number(0, scale)}),
                              f.op("LessOrEqual", {length, f.number(static_cast<double>(1LL << 40), scale)})});
    return read(i64(where(good, length, f.number(-1, scale))), most);
  }
  /// Returns a bound of that: the length and the product are each rounded by less than a part in 2^23.
  static Size mostScaled(const Size &from, double scale) {
    int shift = std::clamp(20 - std::ilogb(scale), 0, 40);
    auto part = static_cast<int64_t>(std::ceil(std::ldexp(scale * (1 + std::ldexp(1, -22)), shift)));
    return floorDiv(from * Size(part), Size(int64_t(1) << shift));
  }
};

struct ResizeSizes : ReadsSizes::ExternalModel<ResizeSizes, onnx::ResizeOp> {
  bool readSizes(Operation *op, SizeReader &reader) const {
    return reader.readList(3) || ScaleReader(reader).readScales(cast<onnx::ResizeOp>(op));
  }
};

} // namespace

void attachResize(MLIRContext &context) { onnx::ResizeOp::attachInterface<ResizeSizes>(context); }

} // namespace ingot::graph
