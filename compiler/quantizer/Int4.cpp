#include "compiler/quantizer/Int4.h"
#include "compiler/importer/ElementType.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Parallel.h"
#include <algorithm>
#include <cmath>

namespace ingot::quantizer {
namespace {

constexpr float kLeast = -8, kMost = 7;

int64_t blocksOf(int64_t rows, int64_t block) { return (rows + block - 1) / block; }

/// Computes the scales of the block of rows from `row` to `last`, for all columns: they are as small as its largest
/// values allow.
void scaleBlock(llvm::ArrayRef<float> weights, int64_t row, int64_t last, int64_t columns, float *scales) {
  std::fill(scales, scales + columns, 0.0f);
  for (; row < last; ++row) {
    for (int64_t c = 0; c < columns; ++c) {
      float value = weights[size_t(row * columns + c)];
      scales[c] = std::max(scales[c], value > 0 ? value / kMost : value / kLeast);
    }
  }
  std::replace(scales, scales + columns, 0.0f, 1.0f);
}

int8_t rounded(float value, float scale) { return int8_t(std::clamp(std::nearbyint(value / scale), kLeast, kMost)); }

} // namespace

BlockWeights roundBlocks(llvm::ArrayRef<float> weights, int64_t rows, int64_t columns, int64_t block) {
  BlockWeights result{std::vector<int8_t>(weights.size()), std::vector<float>(size_t(blocksOf(rows, block) * columns))};
  for (int64_t first = 0; first < rows; first += block) {
    float *scales = &result.scales[size_t(first / block * columns)];
    int64_t last = std::min(rows, first + block);
    scaleBlock(weights, first, last, columns, scales);
    for (int64_t i = first * columns; i < last * columns; ++i) {
      result.values[size_t(i)] = rounded(weights[size_t(i)], scales[i % columns]);
    }
  }
  return result;
}

BlockWeights compensateBlocks(llvm::ArrayRef<float> given, int64_t rows, int64_t columns, int64_t block,
                              llvm::ArrayRef<double> factor) {
  std::vector<float> weights(given), errors(size_t(block * columns));
  BlockWeights result{std::vector<int8_t>(weights.size()), std::vector<float>(size_t(blocksOf(rows, block) * columns))};
  auto spread = [&](int64_t row, const float *error, int64_t to) {
    auto part = float(factor[size_t(row * rows + to)]);
    float *weight = &weights[size_t(to * columns)];
    for (int64_t c = 0; c < columns; ++c) {
      weight[c] -= part * error[c];
    }
  };
  for (int64_t first = 0; first < rows; first += block) {
    int64_t last = std::min(rows, first + block);
    float *scales = &result.scales[size_t(first / block * columns)];
    scaleBlock(weights, first, last, columns, scales);
    for (int64_t row = first; row < last; ++row) {
      float *error = &errors[size_t((row - first) * columns)];
      auto own = float(factor[size_t(row * rows + row)]);
      for (int64_t c = 0; c < columns; ++c) {
        float value = weights[size_t(row * columns + c)];
        int8_t q = rounded(value, scales[c]);
        result.values[size_t(row * columns + c)] = q;
        error[c] = (value - float(q) * scales[c]) / own;
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
      std::string values = names.fresh(layer.weight + "_int4"), scale = names.fresh(layer.weight + "_scale");
      bool asIs = layer.axis == 1;
      *graph->add_initializer() = tensorOf(values, importer::kInt4, layer.dims,
                                           packed(asIs ? own.values : transposed<int8_t>(own.values, rows, columns)));
      std::vector<int64_t> dims{asIs ? blocks : columns, asIs ? columns : blocks};
      *graph->add_initializer() = tensorOf<float>(scale, importer::kFloat, dims,
                                                  asIs ? own.scales : transposed<float>(own.scales, blocks, columns));
      std::string result = names.fresh(layer.weight + "_dequantized");
      pb::NodeProto &node = makeNode(edits.before(layer.node), "DequantizeLinear",
                                     names.fresh(layer.weight + "_DequantizeLinear"), {values, scale}, {result});
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
