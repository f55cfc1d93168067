// Describes weights of few bits that stay so in memory. Models have them in several forms (MatMulNBits,
// GatherBlockQuantized, DequantizeLinear in front of a product or a Gather); here they are unsigned numbers with scales
// and zero points, and become products (FewBitsMatMul in formats/Products.td) and tables of rows.
#pragma once
#include "compiler/onnx/rewriting/Formula.h"

namespace ingot::onnx {

/// A matrix of unsigned numbers of 2, 4 or 8 bits, of which each row has a scale, and perhaps a zero point, for each
/// block of so many columns.
struct FewBitsWeights {
  int64_t bits = 0, block = 0, rows = 0, columns = 0;
  std::vector<char> numbers; ///< [rows][columns], each in a byte
  mlir::ElementsAttr scales; ///< [rows, blocks()]
  mlir::ElementsAttr zeros;  ///< [rows, blocks()], of uint8 or floats; null: all are `zero`
  int64_t zero = 0;
  bool bytesA = false; ///< whether the model lets a kernel round what they are multiplied with to bytes, by block

  int64_t blocks() const { return llvm::divideCeil(columns, block); }
};

/// Whether kernels read numbers of so many bits by such blocks.
bool isBlockOfFewBits(int64_t bits, int64_t block);
/// Whether rows of `a` are of a type that such weights are multiplied with.
bool isForFewBits(mlir::Value a);
/// Returns how many rows `a` has, of all its matrices.
support::Size rowCountOf(mlir::Value a);
/// Whether there are few rows, or an open number, so that reading the weights is what takes time: even where
/// products with them are slower than those of floats.
bool hasFewRows(mlir::Value a);

/// Returns the product of `a` with the transposed weights.
mlir::Value productOfFewBits(Formula &f, mlir::Value a, const FewBitsWeights &weights);
/// Returns the rows of a table by their indices, as floats of the scales' type. Bits stay packed in memory: a byte has
/// numbers from several parts of its row.
mlir::Value rowsOfFewBits(Formula &f, const FewBitsWeights &table, mlir::Value indices);

} // namespace ingot::onnx
