// Makes the schedule. A value is computed where it is read, unless that would compute it several times over: then it is
// stored. The operand of a window is stored row by row, shortly before, with the padding around it; other values are
// stored whole. Innermost axes are vectors; where the innermost one is shorter than a vector (colours, mostly) the one
// before it is.
#include "Pipeline.h"
#include "Ops.h"
#include <algorithm>
#include <cstring>

using namespace Halide;
using ingot::target::ElementType;

namespace halide_target {

std::string unsupported(const Piece &piece, const PieceOp &op) {
  const OpRow *row = findOp(op.name);
  if (!row) {
    return "no row for " + op.name;
  }
  constexpr int64_t mostElements = int64_t(1) << 30; // Halide's indices have 32 bits
  for (const std::vector<int32_t> *values : {&op.operands, &op.results}) {
    for (int32_t v : *values) {
      if (v >= 0 && (!piece.values[v].isStatic() || piece.values[v].elements() > mostElements)) {
        return "only sizes that are numbers here, and not too large";
      }
    }
  }
  if (op.results[0] < 0) {
    return "its first result is left out";
  }
  return row->unsupported(piece, op);
}

namespace {

Type typeOf(const PieceValue &value) {
  switch (value.type) {
  case ElementType::UInt8:
    return UInt(8);
  case ElementType::Int32:
    return Int(32);
  default:
    return Float(32);
  }
}

class Builder {
public:
  Builder(const Piece &piece, int lanes) : piece(piece), lanes(lanes) {}

  Pipeline build() {
    countReaders();
    for (int32_t v : piece.inputs) {
      tensors[v] = input(v);
    }
    for (const PieceOp &op : piece.ops) {
      make(op);
    }
    for (int32_t v : piece.outputs) {
      pipeline.outputs.push_back(functions.at(v));
    }
    for (size_t i = 0; i < pipeline.outputs.size(); ++i) {
      boundOutput(pipeline.outputs[i], sizesOf(piece.values[piece.outputs[i]]));
    }
    return std::move(pipeline);
  }

private:
  const Piece &piece;
  int lanes;
  Param<void *> outputs{"outputs"}; ///< an argument of the function, see Object.cpp
  Pipeline pipeline;
  std::map<int32_t, Tensor> tensors;
  std::map<int32_t, Func> functions;
  std::map<int32_t, int> readers;

  void countReaders() {
    for (const PieceOp &op : piece.ops) {
      for (int32_t v : op.operands) {
        ++readers[v];
      }
    }
  }

  /// Returns a tensor in memory, which is dense and row-major, so that its last axis is Halide's first.
  Tensor input(int32_t v) {
    std::vector<int> sizes = sizesOf(piece.values[v]);
    ImageParam image(typeOf(piece.values[v]), int(sizes.size()), "v" + std::to_string(v));
    int stride = 1;
    for (size_t i = 0; i < sizes.size(); ++i) {
      int size = sizes[sizes.size() - 1 - i];
      image.dim(int(i)).set_bounds(0, size).set_stride(stride);
      stride *= size;
    }
    pipeline.inputs.push_back(image);
    return {sizes, [image](const Ixs &at) { return image(Ixs(at.rbegin(), at.rend())); }};
  }

  /// Makes numbers a part of the code, where they are few; others are read when the model runs.
  Tensor constant(int32_t v) {
    const PieceValue &value = piece.values[v];
    if (value.elements() == 1 && value.type == ElementType::Float32) {
      float number = 0;
      std::memcpy(&number, value.data, sizeof(number));
      return {sizesOf(value), [number](const Ixs &) { return Expr(number); }, 0};
    }
    Tensor tensor = input(v);
    pipeline.constants.push_back(v);
    return tensor;
  }

  Tensor operandOf(const PieceOp &op, size_t i) {
    int32_t v = op.operands[i];
    if (v < 0) {
      return {};
    }
    bool isRead = op.name != "Slice" || i == 0; // places are numbers of the schedule
    if (!tensors.count(v) && isRead) {
      tensors[v] = constant(v);
    }
    return isRead ? tensors.at(v) : Tensor{sizesOf(piece.values[v]), nullptr};
  }

  OpToMake toMake(const PieceOp &op) {
    OpToMake made{piece, op, {}};
    for (size_t i = 0; i < op.operands.size(); ++i) {
      made.operands.push_back(operandOf(op, i));
    }
    return made;
  }

  void make(const PieceOp &op) {
    const OpRow &row = *findOp(op.name);
    Made made = row.make(toMake(op));
    std::vector<Tensor> operands = toMake(op).operands;
    for (size_t i = 0; i < op.operands.size(); ++i) {
      const Tensor &x = operands[i];
      if (!x.lines.empty() && (!made.keepsRows || (made.redundancy <= 1 && x.sizes != made.result.sizes))) {
        store(op.operands[i]);
      }
    }
    int32_t x = op.operands[0];
    bool isStored = isWorthStoring(made.redundancy, tensors.at(x));
    if (isStored && !made.keepsRows) {
      store(x);
    }
    OpToMake wanted = toMake(op);
    if (made.outside.defined() || (isStored && made.keepsRows)) {
      wanted.operands[0] = lineOf(tensors.at(x), made.outside);
    }
    made = row.make(wanted);
    for (const Tensor &operand : wanted.operands) {
      std::vector<Func> &lines = made.result.lines;
      lines.insert(lines.end(), operand.lines.begin(), operand.lines.end());
    }
    int32_t y = op.results[0];
    tensors[y] = made.result;
    bool isOutput = std::find(piece.outputs.begin(), piece.outputs.end(), y) != piece.outputs.end();
    bool isShared = readers[y] > 1 && (!made.result.lines.empty() || isWorthStoring(readers[y], made.result));
    if (isOutput || isShared) {
      store(y);
    }
  }

  /// Whether a value that would be computed so often is better stored: for the loads that this saves, by one store and
  /// one load.
  static bool isWorthStoring(double times, const Tensor &tensor) {
    return times > 1.1 && tensor.loads > 1 && tensor.loads * (times - 1) > 2;
  }

  static std::vector<Var> axes(const Tensor &tensor) {
    std::vector<Var> vars;
    vars.reserve(tensor.sizes.size());
    for (int i = 0; i < tensor.rank(); ++i) {
      vars.emplace_back("x" + std::to_string(i));
    }
    return vars;
  }

  static Tensor stored(const Func &func, const std::vector<int> &sizes) {
    return {sizes, [func](const Ixs &at) { return func(Ixs(at.rbegin(), at.rend())); }};
  }

  /// Returns zero in a form that LLVM does not know: it would fill rows by calls of memset, which nobody has. No
  /// address has its highest bit set.
  Expr unknownZero() const { return cast<float>(reinterpret(UInt(64), Expr(outputs)) >> 63); }

  /// Returns a tensor as rows that are stored shortly before they are read, with what is around it. Its function is
  /// asked for more than that, too, as vectors are whole. The likely case is inside, where Halide then needs no check.
  Tensor lineOf(const Tensor &x, const Expr &outside) const {
    Func line("line");
    std::vector<Var> vars = axes(x);
    Ixs at(vars.rbegin(), vars.rend()), inside = at;
    Expr isInside = Internal::const_true();
    for (int axis = 0; axis < x.rank(); ++axis) {
      isInside = isInside && likely(at[axis] >= 0) && likely(at[axis] < x.sizes[axis]);
      inside[axis] = clamp(likely(at[axis]), 0, x.sizes[axis] - 1);
    }
    Expr around = outside.defined() && Internal::is_const_zero(outside) ? unknownZero() : outside;
    line(vars) = outside.defined() ? select(isInside, x.at(inside), around) : x.at(inside);
    Tensor rows = stored(line, x.sizes);
    rows.lines = x.lines;
    rows.lines.push_back(line);
    return rows;
  }

  /// Makes a function of a value, which from now on is read from memory.
  Func store(int32_t v) {
    Tensor &tensor = tensors.at(v);
    Func func("f" + std::to_string(v));
    std::vector<Var> vars = axes(tensor);
    func(vars) = tensor.at(Ixs(vars.rbegin(), vars.rend()));
    func.compute_root();
    bool hasRows = vectorize(func, vars, tensor.sizes);
    for (Func &line : tensor.lines) {
      if (hasRows) {
        line.store_at(func, vars[std::min<size_t>(2, vars.size() - 1)]).compute_at(func, vars[1]);
      } else {
        line.compute_root();
      }
      line.vectorize(line.args()[0], fitting(tensor.sizes.back()), TailStrategy::RoundUp);
    }
    tensor = stored(func, tensor.sizes);
    functions[v] = func;
    return func;
  }

  /// Returns the lanes of a vector, halved as often as needed to fit a row of `row` elements.
  int fitting(int row) const {
    int fits = lanes;
    while (fits > std::max(row, 1)) {
      fits /= 2;
    }
    return std::max(fits, 1);
  }

  /// Makes vectors, and returns whether the work goes row by row: the loop over the last axis but one is around that
  /// over the last one.
  bool vectorize(Func &func, const std::vector<Var> &vars, const std::vector<int> &sizes) {
    for (size_t i = 0; i < vars.size(); ++i) {
      func.bound(vars[i], 0, sizes[sizes.size() - 1 - i]);
    }
    int inner = sizes.empty() ? 0 : sizes.back(), outer = sizes.size() < 2 ? 0 : sizes[sizes.size() - 2];
    if (inner < lanes && outer >= lanes && inner <= 4) {
      func.reorder(vars[0], vars[1]).unroll(vars[0]).vectorize(vars[1], lanes, TailStrategy::ShiftInwards);
      return false;
    }
    if (inner > 1) {
      func.vectorize(vars[0], std::min(inner, lanes), TailStrategy::ShiftInwards);
    }
    return vars.size() >= 3;
  }

  static void boundOutput(Func &func, const std::vector<int> &sizes) {
    int stride = 1;
    for (size_t i = 0; i < sizes.size(); ++i) {
      int size = sizes[sizes.size() - 1 - i];
      func.output_buffer().dim(int(i)).set_bounds(0, size).set_stride(stride);
      stride *= size;
    }
  }
};

} // namespace

Pipeline buildPipeline(const Piece &piece, int lanes) { return Builder(piece, lanes).build(); }

} // namespace halide_target
