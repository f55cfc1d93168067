// Reverses the rows and columns of the matrix, which is L L' then (Cholesky); the inverse of L in reverse order is U.
// Both steps go over blocks of rows, so that nearly all of their n^3 / 3 multiplications are products of blocks, in
// loops that compilers make vectors of and that threads share. No sum depends on the number of threads or on the length
// of vectors, so that the same model gives the same file on every machine.
#include "compiler/quantizer/InverseFactor.h"
#include "llvm/Support/Parallel.h"
#include <algorithm>
#include <cmath>

namespace ingot::quantizer {
namespace {

constexpr int64_t kBlock = 64;
constexpr int64_t kTileRows = 4, kTileColumns = 8; ///< the sums of a tile stay in registers

/// A part of a row-major matrix of doubles.
struct Part {
  double *at;
  int64_t stride;
  double &operator()(int64_t row, int64_t column) const { return at[row * stride + column]; }
  Part from(int64_t row, int64_t column) const { return {&(*this)(row, column), stride}; }
};

/// Subtracts one tile of a product with k terms: c -= a b.
template <int64_t Rows, int64_t Columns>
[[gnu::always_inline]] inline void subtractTile(Part c, Part a, Part b, int64_t k) {
  double sums[Rows][Columns] = {};
  for (int64_t step = 0; step < k; ++step) {
    const double *right = &b(step, 0);
    for (int64_t i = 0; i < Rows; ++i) {
      double left = a(i, step);
      for (int64_t j = 0; j < Columns; ++j) {
        sums[i][j] += left * right[j];
      }
    }
  }
  for (int64_t i = 0; i < Rows; ++i) {
    for (int64_t j = 0; j < Columns; ++j) {
      c(i, j) -= sums[i][j];
    }
  }
}

/// Subtracts a product of matrices of rows by k and k by columns: c -= a b. The body for AVX2 gives the same bits,
/// since AVX2 has no fused multiply-add.
#ifdef INGOT_HAS_AVX2_CLONES
[[gnu::target_clones("avx2", "default")]]
#endif
void subtractProduct(Part c, Part a, Part b, int64_t rows, int64_t columns, int64_t k) {
  int64_t wholeRows = rows - rows % kTileRows, wholeColumns = columns - columns % kTileColumns;
  for (int64_t j = 0; j < wholeColumns; j += kTileColumns) {
    for (int64_t i = 0; i < wholeRows; i += kTileRows) {
      subtractTile<kTileRows, kTileColumns>(c.from(i, j), a.from(i, 0), b.from(0, j), k);
    }
    for (int64_t i = wholeRows; i < rows; ++i) {
      subtractTile<1, kTileColumns>(c.from(i, j), a.from(i, 0), b.from(0, j), k);
    }
  }
  for (int64_t j = wholeColumns; j < columns; ++j) {
    for (int64_t i = 0; i < rows; ++i) {
      subtractTile<1, 1>(c.from(i, j), a.from(i, 0), b.from(0, j), k);
    }
  }
}

void forBlocks(int64_t first, int64_t last, llvm::function_ref<void(int64_t begin, int64_t end)> body) {
  int64_t count = first < last ? (last - first + kBlock - 1) / kBlock : 0;
  llvm::parallelFor(0, size_t(count), [&](size_t block) {
    int64_t begin = first + int64_t(block) * kBlock;
    body(begin, std::min(begin + kBlock, last));
  });
}

/// Computes the rows from `first` to `last` of L in place. Their columns from `first` on hold the matrix without the
/// part that the columns before make up. False: the matrix is not positive.
bool factorDiagonal(Part a, int64_t first, int64_t last) {
  for (int64_t i = first; i < last; ++i) {
    for (int64_t j = first; j <= i; ++j) {
      double sum = a(i, j);
      for (int64_t k = first; k < j; ++k) {
        sum -= a(i, k) * a(j, k);
      }
      if (i == j && !(sum > 0)) {
        return false;
      }
      a(i, j) = i == j ? std::sqrt(sum) : sum / a(j, j);
    }
  }
  return true;
}

/// Makes the lower triangle of `a` L. False: the matrix is not positive.
bool factor(Part a, int64_t n) {
  std::vector<double> transposed(size_t(kBlock * n));
  Part right{transposed.data(), n}; // a block of L's columns, written as rows
  for (int64_t first = 0; first < n; first += kBlock) {
    int64_t last = std::min(first + kBlock, n);
    if (!factorDiagonal(a, first, last)) {
      return false;
    }
    forBlocks(last, n, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        for (int64_t j = first; j < last; ++j) {
          double sum = a(i, j);
          for (int64_t k = first; k < j; ++k) {
            sum -= a(i, k) * a(j, k);
          }
          right(j - first, i) = a(i, j) = sum / a(j, j);
        }
      }
    });
    forBlocks(last, n, [&](int64_t begin, int64_t end) {
      subtractProduct(a.from(begin, last), a.from(begin, first), right.from(0, last), end - begin, end - last,
                      last - first);
    });
  }
  return true;
}

/// Makes the lower triangle of `a`, which is L, its inverse M. A block of rows of M follows from L M = 1: the product
/// of its rows of L with the rows of M before it is subtracted first, and then its own rows are.
void invert(Part a, int64_t n) {
  std::vector<double> rows(size_t(kBlock * n));
  Part left{rows.data(), n};
  for (int64_t first = 0; first < n; first += kBlock) {
    int64_t last = std::min(first + kBlock, n);
    for (int64_t i = first; i < last; ++i) {
      std::copy_n(&a(i, 0), last, &left(i - first, 0));
      std::fill_n(&a(i, 0), last, 0.0);
      a(i, i) = 1;
    }
    forBlocks(0, last, [&](int64_t begin, int64_t end) {
      if (begin < first) {
        subtractProduct(a.from(first, begin), left.from(0, begin), a.from(begin, begin), last - first, end - begin,
                        first - begin);
      }
      for (int64_t i = first; i < last; ++i) {
        for (int64_t k = first; k < i; ++k) {
          for (int64_t j = begin; j < end; ++j) {
            a(i, j) -= left(i - first, k) * a(k, j);
          }
        }
        for (int64_t j = begin; j < end; ++j) {
          a(i, j) /= left(i - first, i);
        }
      }
    });
  }
}

} // namespace

std::vector<double> inverseFactor(llvm::ArrayRef<float> matrix, int64_t n) {
  double mean = 0;
  for (int64_t i = 0; i < n; ++i) {
    mean += double(matrix[size_t(i * n + i)]) / double(n);
  }
  std::vector<double> result;
  for (double damping = 0.01; damping < 1e6; damping *= 10) {
    result.assign(matrix.rbegin(), matrix.rend()); // in reverse order the upper triangle is the lower one
    Part a{result.data(), n};
    for (int64_t i = 0; i < n; ++i) {
      a(i, i) += damping * mean + 1e-12;
    }
    if (factor(a, n)) {
      invert(a, n);
      std::reverse(result.begin(), result.end());
      return result;
    }
  }
  result.assign(size_t(n * n), 0);
  for (int64_t i = 0; i < n; ++i) {
    result[size_t(i * n + i)] = 1;
  }
  return result;
}

} // namespace ingot::quantizer
