// Reads the ends of a Slice: negative ones count from the end, and all are cut to the axis.
#include "compiler/graph/RowSlice.h"
#include "compiler/graph/SizeReader.h"
#include "compiler/onnx/ops/Move.h"

using namespace mlir;
using ingot::onnx::Size;
using ingot::onnx::Sizes;

namespace ingot::graph {
namespace {

class SliceReader : SizeReader {
public:
  explicit SliceReader(const SizeReader &reader) : SizeReader(reader) {}

  bool run(onnx::SliceOp slice) {
    if (auto axis = rowAxis(slice)) {
      readRow(slice, *axis);
      return true;
    }
    auto data = onnx::ranked(slice.getData());
    auto starts = lengthIn(slice.getStarts()), ends = lengthIn(slice.getEnds());
    auto axes = onnx::integersOf(slice.getAxes()), steps = onnx::integersOf(slice.getSteps());
    bool given = (!onnx::present(slice.getAxes()) || axes) && (!onnx::present(slice.getSteps()) || steps);
    if (!onnx::isSized(slice.getData()) || !starts || starts != ends || !given ||
        (onnx::sizesIn(slice.getStarts()) && onnx::sizesIn(slice.getEnds())) ||
        (axes && static_cast<int64_t>(axes->size()) != *starts) ||
        (steps && llvm::any_of(*steps, [](int64_t step) { return step <= 0; }))) {
      return readAny(slice);
    }
    Sizes dims;
    for (int64_t i = 0; i < *starts; ++i) {
      auto axis = onnx::normalAxis(axes ? (*axes)[i] : i, data.getRank());
      if (!axis) {
        return false;
      }
      dims.push_back(onnx::sizeOf(data, *axis));
    }
    for (unsigned operand : {1, 2}) {
      if (!onnx::sizesIn(op->getOperand(operand))) {
        readEnds(operand, dims);
      }
    }
    return true;
  }

private:
  /// Replaces a slice of one row by a Gather of one row or none, as many as there are.
  void readRow(onnx::SliceOp slice, int64_t axis) {
    Value d = f.scalar(onnx::sizeOf(onnx::ranked(slice.getData()), axis)), zero = f.scalar(0);
    Value given = number({slice.getStarts(), 0});
    Value row = where(f.op("Less", {given, zero}), f.add(given, d), given);
    Value inside = f.op("And", {f.op("GreaterOrEqual", {row, zero}), f.op("Less", {row, d})});
    Value isLast = f.op("Equal", {given, f.scalar(-1)}); // the slice ends at 0, which is before -1
    Size count = read(i64(f.op("And", {inside, f.op("Not", {isLast})})), 1);
    Value rows = f.add(f.countTo(f.scalar(count)), row);
    slice.getY().replaceAllUsesWith(f.op("Gather", {slice.getData(), rows}, {f.integer("axis", axis)}));
    slice->erase();
  }
  static std::optional<int64_t> lengthIn(Value v) {
    auto sizes = onnx::sizesIn(v);
    return sizes ? static_cast<int64_t>(sizes->size()) : lengthOf(v);
  }

  /// Writes a slice whose steps or axes are data, or whose steps go backwards, as gathers: along each axis rows are
  /// picked by their numbers.
  bool readAny(onnx::SliceOp slice) {
    auto starts = onnx::ranked(slice.getStarts()), type = onnx::ranked(slice.getData());
    if (!onnx::isSized(slice.getData()) || !starts || !onnx::isSized(slice.getStarts()) || type.getRank() == 0) {
      return false;
    }
    Sizes sizes = onnx::sizesOf(type);
    Size count = support::product(onnx::sizesOf(starts));
    bool given = onnx::present(slice.getAxes());
    Axes axes = axesIn(given ? slice.getAxes() : Value(), count, type.getRank());
    Value bad = f.op("Or", {axes.outside, namedTwice(axes)});
    Value named = f.op("Greater", {axes.named, f.scalar(0)});
    auto along = [&](Value v) {
      Value column = f.reshapeTo(i64(v), {count, 1});
      return f.reduce("ReduceSum", f.mul(axes.each, column), {0}, /*keepdims=*/false);
    };
    Value d = list(sizes), last = f.sub(d, f.scalar(1)), zero = f.scalar(0), step = f.scalar(1), back;
    if (onnx::present(slice.getSteps())) {
      Value most = f.op("Max", {d, step}); // a longer step ends as soon as this one
      step = where(named, along(slice.getSteps()), step);
      bad = f.op("Or", {bad, any(f.op("Equal", {step, zero}))});
      step = f.op("Max", {f.op("Min", {step, most}), f.sub(zero, most)});
    } else {
      step = f.op("Add", {f.mul(axes.named, zero), step});
    }
    back = f.op("Less", {step, zero});
    auto fromFront = [&](Value v) { return where(f.op("Less", {v, zero}), f.add(v, d), v); };
    auto clamp = [&](Value v, Value low, Value high) { return f.op("Max", {f.op("Min", {v, high}), low}); };
    Value high = where(back, last, d), lowest = where(back, f.scalar(-1), zero);
    Value start = clamp(fromFront(along(slice.getStarts())), where(back, f.op("Min", {last, zero}), zero), high);
    Value end = where(named, clamp(fromFront(along(slice.getEnds())), lowest, high), d);
    Value size = f.op("Max", {f.abs(step), f.scalar(1)}), way = where(back, f.sub(start, end), f.sub(end, start));
    Value places = f.op("Max", {f.div(f.add(way, f.sub(size, f.scalar(1))), size), zero});
    pick(slice, sizes, start, step, orNegative(bad, places));
    return true;
  }

  /// Replaces the slice by gathers: along each of its axes the rows `start`, `start + step` and so on are picked. Their
  /// number is that of the slice's type, or where this is unknown it is read from `places`.
  void pick(onnx::SliceOp slice, ArrayRef<Size> sizes, Value start, Value step, Value places) {
    auto known = onnx::integersOf(slice.getAxes());
    SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, static_cast<int64_t>(sizes.size())));
    if (onnx::present(slice.getAxes()) && known) {
      llvm::erase_if(axes, [&](int64_t axis) {
        return llvm::none_of(*known, [&](int64_t k) { return onnx::normalAxis(k, sizes.size()) == axis; });
      });
    }
    Value y = slice.getData();
    Sizes cut = onnx::sizesOf(onnx::ranked(slice.getY()));
    for (int64_t axis : axes) {
      Size count = cut[axis].isUnknown() ? read(element({places, axis}), sizes[axis]) : cut[axis];
      Value rows = f.countTo(f.scalar(count));
      rows = f.add(f.mul(rows, element({step, axis})), element({start, axis}));
      y = f.op("Gather", {y, rows}, {f.integer("axis", axis)});
    }
    slice.getY().replaceAllUsesWith(y);
    slice->erase();
  }

  void readEnds(unsigned operand, ArrayRef<Size> dims) {
    Value list = op->getOperand(operand);
    Sizes sizes;
    for (auto [i, d] : llvm::enumerate(dims)) {
      Element e{list, static_cast<int64_t>(i)};
      Size size = known(e);
      if (size.isUnknown()) {
        Value number = element(e), zero = one(0, number), last = one(d, number);
        number = f.op("Where", {f.op("Less", {number, zero}), f.add(number, last), number});
        size = read(f.op("Min", {f.op("Max", {number, zero}), last}), d);
      }
      sizes.push_back(size);
    }
    setOperand(operand, sizes);
  }
};

struct SliceSizes : ReadsSizes::ExternalModel<SliceSizes, onnx::SliceOp> {
  bool readSizes(Operation *op, SizeReader &reader) const { return SliceReader(reader).run(cast<onnx::SliceOp>(op)); }
};

} // namespace

void attachSlice(MLIRContext &context) { onnx::SliceOp::attachInterface<SliceSizes>(context); }

} // namespace ingot::graph
