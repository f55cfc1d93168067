// The schedule. A value is computed where it is read, unless that would compute it several times over: then it is
// stored, in strips of rows of the one function that reads it, or whole where there are several. Innermost axes are
// vectors; where the innermost one is shorter than a vector (colours, mostly) the one before it is.
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
      pipeline.outputs.push_back(stored.count(v) ? stored[v] : store(v));
    }
    for (size_t i = 0; i < pipeline.outputs.size(); ++i) {
      boundOutput(pipeline.outputs[i], sizesOf(piece.values[piece.outputs[i]]));
    }
    return std::move(pipeline);
  }

private:
  const Piece &piece;
  int lanes;
  Pipeline pipeline;
  std::map<int32_t, Tensor> tensors;
  std::map<int32_t, Func> stored;
  std::map<int32_t, int> readers;

  void countReaders() {
    for (const PieceOp &op : piece.ops) {
      for (int32_t v : op.operands) {
        ++readers[v];
      }
    }
  }

  /// A tensor in memory: dense, row-major, so that its last axis is Halide's first.
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

  /// Numbers become a part of the code, where they are few; others are read when the model runs.
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
    constexpr double worthStoring = 2; // loads that are saved for each element, by one store and one load
    int32_t x = op.operands[0];
    bool isComputed = !piece.values[x].isConstant() && !stored.count(x) &&
                      std::find(piece.inputs.begin(), piece.inputs.end(), x) == piece.inputs.end();
    if (isComputed && made.redundancy > 1.1 && tensors.at(x).loads * (made.redundancy - 1) > worthStoring) {
      store(x);
      made = row.make(toMake(op));
    }
    int32_t y = op.results[0];
    tensors[y] = made.result;
    if (readers[y] > 1 && made.result.loads * (readers[y] - 1) > worthStoring) {
      store(y);
    }
  }

  /// Makes a function of a value, which from now on is read from memory.
  Func store(int32_t v) {
    Tensor &tensor = tensors.at(v);
    Func func("f" + std::to_string(v));
    std::vector<Var> vars;
    vars.reserve(tensor.sizes.size());
    for (int i = 0; i < tensor.rank(); ++i) {
      vars.emplace_back("x" + std::to_string(i));
    }
    func(vars) = tensor.at(Ixs(vars.rbegin(), vars.rend()));
    func.compute_root();
    vectorize(func, vars, tensor.sizes);
    tensor = {tensor.sizes, [func](const Ixs &at) { return func(Ixs(at.rbegin(), at.rend())); }};
    stored[v] = func;
    return func;
  }

  void vectorize(Func &func, const std::vector<Var> &vars, const std::vector<int> &sizes) {
    for (size_t i = 0; i < vars.size(); ++i) {
      func.bound(vars[i], 0, sizes[sizes.size() - 1 - i]);
    }
    int inner = sizes.empty() ? 0 : sizes.back(), outer = sizes.size() < 2 ? 0 : sizes[sizes.size() - 2];
    if (inner >= lanes) {
      func.vectorize(vars[0], lanes);
    } else if (outer >= lanes && inner <= 4) {
      func.reorder(vars[0], vars[1]).unroll(vars[0]).vectorize(vars[1], lanes);
    } else if (inner > 1) {
      func.vectorize(vars[0], inner);
    }
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
