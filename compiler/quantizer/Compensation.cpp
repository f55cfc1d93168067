// With H the sum of x^ x^' and C that of x^ x', the weights V with which x^' V is nearest to x' W are H^-1 C W, which
// is W + H^-1 (C - H) W. GPTQ then rounds V by H. The inverse is U' U, of a matrix with a larger diagonal, so that what
// few samples say of rare directions moves no weight far.
#include "compiler/quantizer/Compensation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Parallel.h"
#include <algorithm>
#include <cmath>

namespace ingot::quantizer {

void ReadMoments::add(llvm::ArrayRef<float> exact, llvm::ArrayRef<float> rounded) {
  auto n = size_t(channels);
  auto isFinite = [](float value) { return std::isfinite(value); };
  std::vector<float> kept, missing; // rows of x^, and of x - x^
  bool isExact = exact.data() == rounded.data();
  for (size_t row = 0; row + n <= rounded.size(); row += n) {
    llvm::ArrayRef<float> a = exact.slice(row, n), b = rounded.slice(row, n);
    if (!llvm::all_of(a, isFinite) || !llvm::all_of(b, isFinite)) {
      continue;
    }
    llvm::append_range(kept, b);
    for (size_t i = 0; i < n && !isExact; ++i) {
      missing.push_back(a[i] - b[i]);
    }
  }
  own.addMoments(kept, channels);
  if (missing.empty()) {
    return;
  }
  cross.resize(n * n);
  llvm::parallelFor(0, n, [&](size_t i) {
    float *sum = &cross[i * n];
    for (size_t row = 0; row < kept.size(); row += n) {
      for (size_t j = 0; j < n; ++j) {
        sum[j] += kept[row + i] * missing[row + j];
      }
    }
  });
}

void ReadMoments::add(const ReadMoments &other) {
  own.addMoments(other.own);
  cross.resize(std::max(cross.size(), other.cross.size()));
  for (auto [sum, more] : llvm::zip(cross, other.cross)) {
    sum += more;
  }
}

std::vector<float> ReadMoments::missing(llvm::ArrayRef<float> weights, int64_t columns) const {
  auto n = size_t(channels), count = size_t(columns);
  std::vector<float> sums(weights.size());
  llvm::parallelFor(0, cross.empty() ? 0 : n, [&](size_t row) {
    float *sum = &sums[row * count];
    for (size_t k = 0; k < n; ++k) {
      float factor = cross[row * n + k];
      for (size_t c = 0; c < count; ++c) {
        sum[c] += factor * weights[k * count + c];
      }
    }
  });
  return sums;
}

double ReadMoments::loss(llvm::ArrayRef<float> weights, llvm::ArrayRef<float> values, int64_t columns) const {
  auto n = size_t(channels), count = size_t(columns);
  std::vector<float> errors(weights.size()), sums = missing(weights, columns);
  for (size_t i = 0; i < errors.size(); ++i) {
    errors[i] = weights[i] - values[i];
  }
  llvm::ArrayRef<float> triangle = moments();
  std::vector<double> losses(n); // of rows: e' H e + 2 e' (C - H) w
  llvm::parallelFor(0, n, [&](size_t row) {
    std::vector<double> gradient(count);
    for (size_t c = 0; c < count; ++c) {
      gradient[c] = 2 * double(sums[row * count + c]);
    }
    for (size_t k = 0; k < n; ++k) {
      double factor = double(triangle[std::min(row, k) * n + std::max(row, k)]);
      for (size_t c = 0; c < count; ++c) {
        gradient[c] += factor * double(errors[k * count + c]);
      }
    }
    for (size_t c = 0; c < count; ++c) {
      losses[row] += gradient[c] * double(errors[row * count + c]);
    }
  });
  double sum = 0;
  for (double own : losses) {
    sum += own;
  }
  return sum;
}

/// Returns a product of U, which is upper triangular, or of its transpose, with a matrix.
static std::vector<float> byTriangle(llvm::ArrayRef<double> factor, llvm::ArrayRef<float> matrix, size_t n,
                                     bool isTransposed) {
  size_t count = matrix.size() / n;
  std::vector<float> product(matrix.size());
  llvm::parallelFor(0, n, [&](size_t row) {
    float *sum = &product[row * count];
    for (size_t k = isTransposed ? 0 : row; k < (isTransposed ? row + 1 : n); ++k) {
      auto part = float(isTransposed ? factor[k * n + row] : factor[row * n + k]);
      for (size_t c = 0; c < count; ++c) {
        sum[c] += part * matrix[k * count + c];
      }
    }
  });
  return product;
}

BlockWeights compensated(const ReadMoments &read, llvm::ArrayRef<float> weights, int64_t rows, int64_t columns,
                         BlockForm form, llvm::ArrayRef<double> factor) {
  std::vector<float> wanted = byTriangle(factor, read.missing(weights, columns), size_t(rows), false);
  wanted = byTriangle(factor, wanted, size_t(rows), true);
  bool isKnown = llvm::all_of(wanted, [](float value) { return std::isfinite(value); });
  for (auto [value, own] : llvm::zip(wanted, weights)) {
    value = isKnown ? value + own : own; // sums of huge activations may not be finite
  }
  BlockWeights blocks = compensateBlocks(wanted, rows, columns, form, factor);
  if (read.hasMoments()) {
    refineBlocks(blocks, wanted, rows, columns, read.moments());
  }
  return blocks;
}

} // namespace ingot::quantizer
