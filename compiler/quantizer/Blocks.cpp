#include "compiler/quantizer/Blocks.h"
#include "compiler/importer/ElementType.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Parallel.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace ingot::quantizer {
namespace {

int64_t blocksOf(int64_t rows, BlockForm form) { return (rows + form.rows - 1) / form.rows; }

/// How the weights of a block are represented: (q - zero) * scale.
struct Grid {
  float scale = 1, zero = 0, most = 0; ///< the largest q
  float step(float value) const {
    constexpr float kRounder =
        12582912; // 1.5 * 2^23: a sum with it has no fraction, and vectors have no other rounding
    return std::clamp(value / scale + zero, 0.0f, most) + kRounder - kRounder;
  }
  float error(float value) const { return value - (step(value) - zero) * scale; }
};

/// Returns the grid of a range, whose zero point is an integer.
Grid gridOf(float low, float high, float most) {
  float scale = (high - low) / most;
  return {scale, std::clamp(std::nearbyint(-low / scale), 0.0f, most), most};
}

/// Whether a range is too small for a scale: all of its values are 0 then.
bool isEmpty(float low, float high, float most) { return high - low < std::numeric_limits<float>::min() * most; }

/// Finds the grid that loses least by the squares of errors, of some about as wide as the block's extremes. Narrower
/// ones would lose less by that measure, but more of a model: what they cut off are its largest weights, all towards 0,
/// and such errors add up.
Grid gridOf(llvm::ArrayRef<float> weights, float largest) {
  auto [least, most] = std::minmax_element(weights.begin(), weights.end());
  float low = std::min(*least, 0.0f), high = std::max(*most, 0.0f);
  if (isEmpty(low, high, largest)) {
    return {};
  }
  Grid best;
  float lowest = HUGE_VALF;
  for (float part : {1.0f, 0.98f, 0.99f, 1.01f, 1.02f, 1.03f, 1.04f}) {
    Grid grid = gridOf(low * part, high * part, largest);
    float loss = 0;
    for (float weight : weights) {
      float error = grid.error(weight);
      loss += error * error;
    }
    if (loss < lowest) {
      lowest = loss, best = grid;
    }
  }
  return best;
}

/// Fits the grids of the block of rows from `row` to `last`, for all columns.
void fitBlock(llvm::ArrayRef<float> weights, int64_t row, int64_t last, int64_t columns, float most,
              llvm::MutableArrayRef<Grid> grids) {
  llvm::parallelFor(0, size_t(columns), [&](size_t c) {
    std::vector<float> own;
    for (int64_t r = row; r < last; ++r) {
      own.push_back(weights[size_t(r * columns) + c]);
    }
    grids[c] = gridOf(own, most);
  });
}

BlockWeights emptyBlocks(int64_t rows, int64_t columns, BlockForm form) {
  auto blocks = size_t(blocksOf(rows, form) * columns);
  return {form, std::vector<uint8_t>(size_t(rows * columns)), std::vector<float>(blocks), std::vector<uint8_t>(blocks)};
}

void noteGrids(llvm::ArrayRef<Grid> grids, size_t first, BlockWeights &to) {
  for (auto [c, grid] : llvm::enumerate(grids)) {
    to.scales[first + c] = grid.scale, to.zeros[first + c] = uint8_t(grid.zero);
  }
}

} // namespace

BlockWeights roundBlocks(llvm::ArrayRef<float> weights, int64_t rows, int64_t columns, BlockForm form) {
  int64_t block = form.rows;
  BlockWeights result = emptyBlocks(rows, columns, form);
  std::vector<Grid> grids(static_cast<size_t>(columns));
  for (int64_t first = 0; first < rows; first += block) {
    int64_t last = std::min(rows, first + block);
    fitBlock(weights, first, last, columns, form.most(), grids);
    noteGrids(grids, size_t(first / block * columns), result);
    for (int64_t i = first * columns; i < last * columns; ++i) {
      result.values[size_t(i)] = uint8_t(grids[size_t(i % columns)].step(weights[size_t(i)]));
    }
  }
  return result;
}

double lossOfBlocks(llvm::ArrayRef<float> weights, int64_t rows, int64_t columns, BlockForm form,
                    llvm::ArrayRef<double> power, llvm::ArrayRef<float> by) {
  int64_t block = form.rows;
  double sum = 0;
  std::vector<float> lows, highs;
  for (int64_t first = 0; first < rows; first += block) {
    int64_t last = std::min(rows, first + block);
    lows.assign(size_t(columns), 0), highs.assign(size_t(columns), 0);
    for (int64_t row = first; row < last; ++row) {
      for (int64_t c = 0; c < columns; ++c) {
        float value = weights[size_t(row * columns + c)] * by[size_t(row)];
        lows[size_t(c)] = std::min(lows[size_t(c)], value), highs[size_t(c)] = std::max(highs[size_t(c)], value);
      }
    }
    for (int64_t row = first; row < last; ++row) {
      double squares = 0;
      for (int64_t c = 0; c < columns; ++c) {
        float low = lows[size_t(c)], high = highs[size_t(c)];
        float error = isEmpty(low, high, form.most())
                          ? 0
                          : gridOf(low, high, form.most()).error(weights[size_t(row * columns + c)] * by[size_t(row)]);
        squares += double(error) * double(error);
      }
      sum += squares * power[size_t(row)] / (double(by[size_t(row)]) * double(by[size_t(row)]));
    }
  }
  return sum;
}

BlockWeights compensateBlocks(llvm::ArrayRef<float> given, int64_t rows, int64_t columns, BlockForm form,
                              llvm::ArrayRef<double> factor) {
  int64_t block = form.rows;
  std::vector<float> weights(given), errors(size_t(block * columns));
  BlockWeights result = emptyBlocks(rows, columns, form);
  std::vector<Grid> grids(static_cast<size_t>(columns));
  auto spread = [&](int64_t row, const float *error, int64_t to) {
    auto part = float(factor[size_t(row * rows + to)]);
    float *weight = &weights[size_t(to * columns)];
    for (int64_t c = 0; c < columns; ++c) {
      weight[c] -= part * error[c];
    }
  };
  for (int64_t first = 0; first < rows; first += block) {
    int64_t last = std::min(rows, first + block);
    fitBlock(weights, first, last, columns, form.most(), grids);
    noteGrids(grids, size_t(first / block * columns), result);
    for (int64_t row = first; row < last; ++row) {
      float *error = &errors[size_t((row - first) * columns)];
      auto own = float(factor[size_t(row * rows + row)]);
      for (int64_t c = 0; c < columns; ++c) {
        float value = weights[size_t(row * columns + c)];
        const Grid &grid = grids[size_t(c)];
        result.values[size_t(row * columns + c)] = uint8_t(grid.step(value));
        error[c] = grid.error(value) / own;
      }
      for (int64_t to = row + 1; to < last; ++to) { // rows of the block change at once, the others behind it together
        spread(row, error, to);
      }
    }
    llvm::parallelFor(size_t(last), size_t(rows), [&](size_t to) {
      for (int64_t row = first; row < last; ++row) {
        spread(row, &errors[size_t((row - first) * columns)], int64_t(to));
      }
    });
  }
  return result;
}

/// Returns a symmetric matrix from its upper triangle, with a hundredth of the diagonal's mean added to the diagonal.
static std::vector<float> wholeMatrix(llvm::ArrayRef<float> triangle, int64_t n) {
  constexpr double kDamping = 0.01;
  std::vector<float> whole(triangle);
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    sum += double(whole[size_t(i * n + i)]);
    for (int64_t j = 0; j < i; ++j) {
      whole[size_t(i * n + j)] = whole[size_t(j * n + i)];
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    whole[size_t(i * n + i)] += float(kDamping * sum / double(n));
  }
  return whole;
}

namespace {

/// Some columns of weights, next to each other so that vectors hold them.
class Refinement {
public:
  static constexpr int64_t kColumns = 16;
  Refinement(BlockWeights &blocks, llvm::ArrayRef<float> moments, int64_t rows, int64_t columns, int64_t first)
      : blocks(blocks), moments(moments), rows(rows), columns(columns), first(first),
        count(std::min(kColumns, columns - first)), errors(size_t(rows * kColumns)), gradients(errors.size()) {}

  void run(llvm::ArrayRef<float> weights) {
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t c = 0; c < count; ++c) {
        size_t own = at(row, c);
        float value = float(int(blocks.values[own]) - int(blocks.zeros[gridAt(row, c)])) * scale(row, c);
        errors[size_t(row * kColumns + c)] = weights[own] - value;
      }
    }
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t other = 0; other < rows; ++other) {
        add(row, moments[size_t(row * rows + other)], &errors[size_t(other * kColumns)]);
      }
    }
    for (int64_t row = 0; row < rows; ++row) {
      refine(row);
    }
  }

private:
  size_t at(int64_t row, int64_t c) const { return size_t(row * columns + first + c); }
  size_t gridAt(int64_t row, int64_t c) const { return at(row / blocks.form.rows, c); }
  float scale(int64_t row, int64_t c) const { return blocks.scales[gridAt(row, c)]; }

  void add(int64_t row, float factor, const float *values) {
    float *gradient = &gradients[size_t(row * kColumns)];
    for (int64_t c = 0; c < kColumns; ++c) {
      gradient[c] += factor * values[c];
    }
  }

  void refine(int64_t row) {
    float own = moments[size_t(row * rows + row)], steps[kColumns] = {};
    bool isChanged = false;
    for (int64_t c = 0; c < count; ++c) {
      uint8_t &value = blocks.values[at(row, c)];
      float better = float(value) + gradients[size_t(row * kColumns + c)] / own / scale(row, c);
      bool isKnown = std::isfinite(better); // sums of huge weights and moments may not be
      auto next = isKnown ? uint8_t(std::clamp(std::nearbyint(better), 0.0f, blocks.form.most())) : value;
      steps[c] = float(int(value) - int(next)) * scale(row, c);
      isChanged |= next != value;
      value = next;
    }
    for (int64_t other = row + 1; other < rows && isChanged; ++other) { // rows in front are not asked again
      add(other, moments[size_t(row * rows + other)], steps);
    }
  }

  BlockWeights &blocks;
  llvm::ArrayRef<float> moments;
  int64_t rows, columns, first, count;
  std::vector<float> errors, gradients; ///< of each row and column of these
};

} // namespace

void refineBlocks(BlockWeights &blocks, llvm::ArrayRef<float> weights, int64_t rows, int64_t columns,
                  llvm::ArrayRef<float> moments) {
  std::vector<float> whole = wholeMatrix(moments, rows);
  auto parts = size_t((columns + Refinement::kColumns - 1) / Refinement::kColumns);
  llvm::parallelFor(0, parts, [&](size_t part) {
    Refinement(blocks, whole, rows, columns, int64_t(part) * Refinement::kColumns).run(weights);
  });
}

int64_t rowsOf(const Layer &layer) { return layer.dims[size_t(layer.inputAxis())]; }
int64_t columnsOf(const Layer &layer) { return layer.dims[size_t(layer.axis)]; }

BlockForm fitted(BlockForm form, const Layer &layer) {
  constexpr int64_t kStep = 16;
  int64_t rows = rowsOf(layer), blocks = std::max<int64_t>(1, blocksOf(rows, form));
  if (rows % (blocks * kStep) == 0) {
    form.rows = rows / blocks;
  }
  return form;
}

int64_t bytesOf(const Layer &layer, BlockForm form) {
  int64_t matrix = rowsOf(layer) * columnsOf(layer);
  int64_t blocks = (matrix ? layer.values() / matrix : 0) * blocksOf(rowsOf(layer), form) * columnsOf(layer);
  return llvm::divideCeil(layer.values() * form.bits, 8) + blocks * int64_t(sizeof(float)) +
         llvm::divideCeil(blocks * form.bits, 8);
}

/// Transposes a matrix.
template <typename T> static std::vector<T> transposed(llvm::ArrayRef<T> values, int64_t rows, int64_t columns) {
  std::vector<T> result(values.size());
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      result[size_t(j * rows + i)] = values[size_t(i * columns + j)];
    }
  }
  return result;
}

std::vector<float> rowsByColumns(const Layer &layer, llvm::ArrayRef<float> values) {
  return layer.axis > 0 ? values.vec() : transposed(values, layer.dims[0], layer.dims[1]);
}

BlockWeights blocksByMatrix(const Layer &layer, llvm::ArrayRef<float> weights,
                            llvm::function_ref<BlockWeights(llvm::ArrayRef<float>)> round) {
  auto each = size_t(rowsOf(layer) * columnsOf(layer));
  BlockWeights all = round(weights.take_front(each));
  for (size_t first = each; first < weights.size(); first += each) {
    BlockWeights own = round(weights.slice(first, each));
    llvm::append_range(all.values, own.values);
    llvm::append_range(all.scales, own.scales);
    llvm::append_range(all.zeros, own.zeros);
  }
  return all;
}

BlockWeights roundBlocks(const Layer &layer, llvm::ArrayRef<float> weights, BlockForm form) {
  return blocksByMatrix(layer, weights, [&](llvm::ArrayRef<float> matrix) {
    return roundBlocks(matrix, rowsOf(layer), columnsOf(layer), form);
  });
}

std::vector<float> valuesOf(const BlockWeights &weights, const Layer &layer) {
  int64_t rows = rowsOf(layer), columns = columnsOf(layer), blocks = blocksOf(rows, weights.form);
  std::vector<float> values(weights.values.size());
  for (size_t own = 0; own < values.size(); ++own) {
    int64_t row = int64_t(own) / columns, block = row / rows * blocks + row % rows / weights.form.rows;
    size_t grid = size_t(block * columns) + own % size_t(columns);
    values[own] = float(int(weights.values[own]) - int(weights.zeros[grid])) * weights.scales[grid];
  }
  return layer.axis > 0 ? values : transposed<float>(values, rows, columns);
}

/// Packs integers as ONNX does: the first one has the lowest bits of a byte.
static std::string packed(llvm::ArrayRef<uint8_t> values, int bits) {
  auto each = size_t(8 / bits);
  std::string bytes((values.size() + each - 1) / each, '\0');
  for (auto [i, value] : llvm::enumerate(values)) {
    bytes[i / each] = char(uint8_t(bytes[i / each]) | value << (i % each * size_t(bits)));
  }
  return bytes;
}

static int32_t typeOf(BlockForm form) {
  return form.bits == 2 ? importer::kUInt2 : form.bits == 4 ? importer::kUInt4 : importer::kUInt8;
}

void writeBlocks(Model &model, llvm::ArrayRef<Layer> layers, llvm::ArrayRef<BlockWeights> weights) {
  for (auto [number, graph] : llvm::enumerate(model.graphs())) {
    Names names(model.proto);
    Edits edits(*graph);
    std::map<std::string, std::string> tables; // for each weight the name of its one dequantized table
    for (const auto &[layer, own] : llvm::zip(layers, weights)) {
      if (layer.graph != int(number)) {
        continue;
      }
      if (auto known = tables.find(layer.weight); known != tables.end() && isTable(layer)) {
        graph->mutable_node(layer.node)->set_input(0, known->second);
        continue;
      }
      BlockForm form = own.form;
      int64_t rows = rowsOf(layer), columns = columnsOf(layer), blocks = blocksOf(rows, form);
      std::string values = names.fresh(layer.weight + "_int" + std::to_string(form.bits)),
                  scale = names.fresh(layer.weight + "_scale"), zero = names.fresh(layer.weight + "_zero_point");
      bool asIs = layer.axis > 0;
      *graph->add_initializer() =
          tensorOf(values, typeOf(form), layer.dims,
                   packed(asIs ? own.values : transposed<uint8_t>(own.values, rows, columns), form.bits));
      std::vector<int64_t> dims = layer.dims;
      dims[size_t(layer.inputAxis())] = blocks;
      *graph->add_initializer() = tensorOf<float>(scale, importer::kFloat, dims,
                                                  asIs ? own.scales : transposed<float>(own.scales, blocks, columns));
      *graph->add_initializer() =
          tensorOf(zero, typeOf(form), dims,
                   packed(asIs ? own.zeros : transposed<uint8_t>(own.zeros, blocks, columns), form.bits));
      std::string result = names.fresh(layer.weight + "_dequantized");
      pb::NodeProto &node = makeNode(edits.before(layer.node), "DequantizeLinear",
                                     names.fresh(layer.weight + "_DequantizeLinear"), {values, scale, zero}, {result});
      setInt(node, "axis", layer.inputAxis());
      setInt(node, "block_size", form.rows);
      graph->mutable_node(layer.node)->set_input(isTable(layer) ? 0 : 1, result);
      if (isTable(layer)) {
        tables[layer.weight] = result;
      }
    }
  }
  model.dropUnused();
}

} // namespace ingot::quantizer
