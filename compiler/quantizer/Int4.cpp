#include "compiler/quantizer/Int4.h"
#include "compiler/importer/ElementType.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Parallel.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace ingot::quantizer {
namespace {

constexpr float kMost = 15;

int64_t blocksOf(int64_t rows, int64_t block) { return (rows + block - 1) / block; }

/// How the weights of a block are represented: (q - zero) * scale.
struct Grid {
  float scale = 1, zero = 0;
  float step(float value) const {
    constexpr float kRounder =
        12582912; // 1.5 * 2^23: a sum with it has no fraction, and vectors have no other rounding
    return std::clamp(value / scale + zero, 0.0f, kMost) + kRounder - kRounder;
  }
  float error(float value) const { return value - (step(value) - zero) * scale; }
};

/// Returns the grid of a range, whose zero point is an integer.
Grid gridOf(float low, float high) {
  float scale = (high - low) / kMost;
  return {scale, std::clamp(std::nearbyint(-low / scale), 0.0f, kMost)};
}

/// Whether a range is too small for a scale: all of its values are 0 then.
bool isEmpty(float low, float high) { return high - low < std::numeric_limits<float>::min() * kMost; }

/// Finds the grid that loses least by the squares of errors, of some about as wide as the block's extremes. Narrower
/// ones would lose less by that measure, but more of a model: what they cut off are its largest weights, all towards 0,
/// and such errors add up.
Grid gridOf(llvm::ArrayRef<float> weights) {
  auto [least, most] = std::minmax_element(weights.begin(), weights.end());
  float low = std::min(*least, 0.0f), high = std::max(*most, 0.0f);
  if (isEmpty(low, high)) {
    return {};
  }
  Grid best;
  float lowest = HUGE_VALF;
  for (float part : {1.0f, 0.98f, 0.99f, 1.01f, 1.02f, 1.03f, 1.04f}) {
    Grid grid = gridOf(low * part, high * part);
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
void fitBlock(llvm::ArrayRef<float> weights, int64_t row, int64_t last, int64_t columns,
              llvm::MutableArrayRef<Grid> grids) {
  llvm::parallelFor(0, size_t(columns), [&](size_t c) {
    std::vector<float> own;
    for (int64_t r = row; r < last; ++r) {
      own.push_back(weights[size_t(r * columns) + c]);
    }
    grids[c] = gridOf(own);
  });
}

BlockWeights emptyBlocks(int64_t rows, int64_t columns, int64_t block) {
  auto blocks = size_t(blocksOf(rows, block) * columns);
  return {std::vector<int8_t>(size_t(rows * columns)), std::vector<float>(blocks), std::vector<int8_t>(blocks)};
}

void noteGrids(llvm::ArrayRef<Grid> grids, size_t first, BlockWeights &to) {
  for (auto [c, grid] : llvm::enumerate(grids)) {
    to.scales[first + c] = grid.scale, to.zeros[first + c] = int8_t(grid.zero);
  }
}

} // namespace

BlockWeights roundBlocks(llvm::ArrayRef<float> weights, int64_t rows, int64_t columns, int64_t block) {
  BlockWeights result = emptyBlocks(rows, columns, block);
  std::vector<Grid> grids(static_cast<size_t>(columns));
  for (int64_t first = 0; first < rows; first += block) {
    int64_t last = std::min(rows, first + block);
    fitBlock(weights, first, last, columns, grids);
    noteGrids(grids, size_t(first / block * columns), result);
    for (int64_t i = first * columns; i < last * columns; ++i) {
      result.values[size_t(i)] = int8_t(grids[size_t(i % columns)].step(weights[size_t(i)]));
    }
  }
  return result;
}

double lossOfBlocks(llvm::ArrayRef<float> weights, int64_t rows, int64_t columns, int64_t block,
                    llvm::ArrayRef<double> power, llvm::ArrayRef<float> by) {
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
        float error =
            isEmpty(low, high) ? 0 : gridOf(low, high).error(weights[size_t(row * columns + c)] * by[size_t(row)]);
        squares += double(error) * double(error);
      }
      sum += squares * power[size_t(row)] / (double(by[size_t(row)]) * double(by[size_t(row)]));
    }
  }
  return sum;
}

BlockWeights compensateBlocks(llvm::ArrayRef<float> given, int64_t rows, int64_t columns, int64_t block,
                              llvm::ArrayRef<double> factor) {
  std::vector<float> weights(given), errors(size_t(block * columns));
  BlockWeights result = emptyBlocks(rows, columns, block);
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
    fitBlock(weights, first, last, columns, grids);
    noteGrids(grids, size_t(first / block * columns), result);
    for (int64_t row = first; row < last; ++row) {
      float *error = &errors[size_t((row - first) * columns)];
      auto own = float(factor[size_t(row * rows + row)]);
      for (int64_t c = 0; c < columns; ++c) {
        float value = weights[size_t(row * columns + c)];
        const Grid &grid = grids[size_t(c)];
        result.values[size_t(row * columns + c)] = int8_t(grid.step(value));
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

int64_t rowsOf(const Layer &layer) { return layer.dims[size_t(1 - layer.axis)]; }
int64_t columnsOf(const Layer &layer) { return layer.dims[size_t(layer.axis)]; }

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
  return layer.axis == 1 ? values.vec() : transposed(values, layer.dims[0], layer.dims[1]);
}

static std::string packed(llvm::ArrayRef<int8_t> values) {
  std::string bytes((values.size() + 1) / 2, '\0');
  for (auto [i, value] : llvm::enumerate(values)) {
    bytes[i / 2] = char(uint8_t(bytes[i / 2]) | (value & 15) << (i % 2 * 4));
  }
  return bytes;
}

void writeInt4(Model &model, llvm::ArrayRef<Layer> layers, llvm::ArrayRef<BlockWeights> weights, int64_t block) {
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
      int64_t rows = rowsOf(layer), columns = columnsOf(layer), blocks = blocksOf(rows, block);
      std::string values = names.fresh(layer.weight + "_int4"), scale = names.fresh(layer.weight + "_scale"),
                  zero = names.fresh(layer.weight + "_zero_point");
      bool asIs = layer.axis == 1;
      *graph->add_initializer() = tensorOf(values, importer::kUInt4, layer.dims,
                                           packed(asIs ? own.values : transposed<int8_t>(own.values, rows, columns)));
      std::vector<int64_t> dims{asIs ? blocks : columns, asIs ? columns : blocks};
      *graph->add_initializer() = tensorOf<float>(scale, importer::kFloat, dims,
                                                  asIs ? own.scales : transposed<float>(own.scales, blocks, columns));
      *graph->add_initializer() = tensorOf(zero, importer::kUInt4, dims,
                                           packed(asIs ? own.zeros : transposed<int8_t>(own.zeros, blocks, columns)));
      std::string result = names.fresh(layer.weight + "_dequantized");
      pb::NodeProto &node = makeNode(edits.before(layer.node), "DequantizeLinear",
                                     names.fresh(layer.weight + "_DequantizeLinear"), {values, scale, zero}, {result});
      setInt(node, "axis", 1 - layer.axis);
      setInt(node, "block_size", block);
      graph->mutable_node(layer.node)->set_input(isTable(layer) ? 0 : 1, result);
      if (isTable(layer)) {
        tables[layer.weight] = result;
      }
    }
  }
  model.dropUnused();
}

} // namespace ingot::quantizer
