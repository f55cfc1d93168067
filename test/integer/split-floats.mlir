// Products of floats by weights of few bits become ones of bytes for the device that computes them, where it has a dot product of four; elsewhere weights that
// many rows meet are dequantized while compiling.
// RUN: %ingot-opt --integer-use-integers --graph-simplify --partition-place=target=znver5 --integer-choose-forms=target=znver5 --split-input-file %s | FileCheck %s --check-prefixes=CHECK,QUADS
// RUN: %ingot-opt --integer-use-integers --graph-simplify --partition-place=target=x86-64-v3 --integer-choose-forms=target=x86-64-v3 --split-input-file %s | FileCheck %s --check-prefixes=CHECK,PAIRS
// RUN: %ingot-opt --integer-use-integers --graph-simplify --split-input-file %s | FileCheck %s --check-prefix=KEPT

// Rows become three digits beside weights of few bits. 40 columns are not two blocks of 32: zeros are put behind them.
// CHECK-LABEL: @few_bits
// CHECK-DAG: onnx.Pad
// CHECK: formats.SplitIntegerMatMul {{.*}} {bits = 4 : i64, block = 32 : i64{{.*}}} : (tensor<1x64xi8>, tensor<1x64xi8>, tensor<1x64xi8>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<8x32xi32>, tensor<2x32xf32>, none)
func.func @few_bits(%x: tensor<1x40xf32>) -> tensor<1x32xf32> {
  %w = onnx.Constant dense<5> : tensor<8x32xi32>
  %s = onnx.Constant dense<0.25> : tensor<2x32xf32>
  %none = onnx.None : none
  %0 = formats.FewBitsMatMul %x, %w, %s, %none {bits = 4 : i64, block = 32 : i64, k = 40 : i64, zero = 8 : i64} : (tensor<1x40xf32>, tensor<8x32xi32>, tensor<2x32xf32>, none) -> tensor<1x32xf32>
  return %0 : tensor<1x32xf32>
}

// -----

// Where the model lets it, a row becomes one digit, a byte, for any number of rows; the product of the scale of the row's block is all that is left to do.
// CHECK-LABEL: @byte_rows
// CHECK: formats.SplitIntegerMatMul {{.*}} {bits = 4 : i64, block = 32 : i64{{.*}}} : (tensor<40x64xi8>, none, none, none, tensor<40x2xf32>, tensor<40x2xf32>, tensor<8x32xi32>, tensor<2x32xf32>, none)
func.func @byte_rows(%x: tensor<40x64xf32>) -> tensor<40x32xf32> {
  %w = onnx.Constant dense<5> : tensor<8x32xi32>
  %s = onnx.Constant dense<0.25> : tensor<2x32xf32>
  %none = onnx.None : none
  %0 = formats.FewBitsMatMul %x, %w, %s, %none {bits = 4 : i64, block = 32 : i64, bytesA, k = 64 : i64, zero = 8 : i64} : (tensor<40x64xf32>, tensor<8x32xi32>, tensor<2x32xf32>, none) -> tensor<40x32xf32>
  return %0 : tensor<40x32xf32>
}

// -----

// So it does where the weights are dequantized in front of a product.
// CHECK-LABEL: @byte_rows_by_dequantized
// CHECK: formats.SplitIntegerMatMul {{.*}} : (tensor<40x64xi8>, none, none, none, {{.*}} tensor<8x32xi32>, tensor<2x32xf32>, none) -> tensor<40x32xf32>
func.func @byte_rows_by_dequantized(%x: tensor<40x64xf32>) -> tensor<40x32xf32> {
  %w = onnx.Constant dense<-5> : tensor<32x64xi4>
  %s = onnx.Constant dense<0.25> : tensor<32x2xf32>
  %none = onnx.None : none
  %0 = onnx.DequantizeLinear %w, %s, %none {axis = 1 : i64, block_size = 32 : i64, onnx.factor_may_be_bytes} : (tensor<32x64xi4>, tensor<32x2xf32>, none) -> tensor<32x64xf32>
  %1 = onnx.Transpose %0 {perm = array<i64: 1, 0>} : (tensor<32x64xf32>) -> tensor<64x32xf32>
  %2 = onnx.MatMul %x, %1 : (tensor<40x64xf32>, tensor<64x32xf32>) -> tensor<40x32xf32>
  return %2 : tensor<40x32xf32>
}

// -----

// A block so large that sums of a digit's products are no exact floats.
// CHECK-LABEL: @large_block
// CHECK-NOT: formats.SplitIntegerMatMul
// CHECK: formats.FewBitsMatMul
func.func @large_block(%x: tensor<1x1024xf32>) -> tensor<1x32xf32> {
  %w = onnx.Constant dense<5> : tensor<256x32xi32>
  %s = onnx.Constant dense<0.25> : tensor<1x32xf32>
  %none = onnx.None : none
  %0 = formats.FewBitsMatMul %x, %w, %s, %none {bits = 8 : i64, block = 1024 : i64, k = 1024 : i64, zero = 128 : i64} : (tensor<1x1024xf32>, tensor<256x32xi32>, tensor<1x32xf32>, none) -> tensor<1x32xf32>
  return %0 : tensor<1x32xf32>
}

// -----

// What dequantizes blocks along K is a part of the product, which many rows meet; signed numbers are moved into unsigned ones.
// CHECK-LABEL: @dequantized_blocks
// KEPT-LABEL: @dequantized_blocks
// KEPT: onnx.DequantizeLinear {{.*}}onnx.kept
// KEPT: onnx.MatMul
// CHECK-NOT: onnx.DequantizeLinear
// PAIRS: onnx.MatMul %arg0, %{{.*}} : (tensor<40x64xf32>, tensor<64x32xf32>)
// QUADS: formats.SplitIntegerMatMul {{.*}} {bits = 4 : i64, block = 32 : i64{{.*}}} : (tensor<40x64xi8>, {{.*}} tensor<8x32xi32>, tensor<2x32xf32>, none) -> tensor<40x32xf32>
func.func @dequantized_blocks(%x: tensor<40x64xf32>) -> tensor<40x32xf32> {
  %w = onnx.Constant dense<-5> : tensor<32x64xi4>
  %s = onnx.Constant dense<0.25> : tensor<32x2xf32>
  %none = onnx.None : none
  %0 = onnx.DequantizeLinear %w, %s, %none {axis = 1 : i64, block_size = 32 : i64} : (tensor<32x64xi4>, tensor<32x2xf32>, none) -> tensor<32x64xf32>
  %1 = onnx.Transpose %0 {perm = array<i64: 1, 0>} : (tensor<32x64xf32>) -> tensor<64x32xf32>
  %2 = onnx.MatMul %x, %1 : (tensor<40x64xf32>, tensor<64x32xf32>) -> tensor<40x32xf32>
  return %2 : tensor<40x32xf32>
}

// -----

// Not where there are so few columns that the rows would take longer than the products, nor for several rows where a machine has no dot product of four bytes.
// CHECK-LABEL: @few_columns
// CHECK: formats.FewBitsMatMul {{.*}} tensor<8x31xi32>
// PAIRS: formats.FewBitsMatMul {{.*}} tensor<8x32xi32>
// QUADS: formats.SplitIntegerMatMul {{.*}} tensor<8x32xi32>
func.func @few_columns(%x: tensor<2x64xf32>) -> (tensor<2x31xf32>, tensor<2x32xf32>) {
  %w = onnx.Constant dense<5> : tensor<8x31xi32>
  %v = onnx.Constant dense<5> : tensor<8x32xi32>
  %s = onnx.Constant dense<0.25> : tensor<2x31xf32>
  %t = onnx.Constant dense<0.25> : tensor<2x32xf32>
  %none = onnx.None : none
  %0 = formats.FewBitsMatMul %x, %w, %s, %none {bits = 4 : i64, block = 32 : i64, bytesA, k = 64 : i64, zero = 8 : i64} : (tensor<2x64xf32>, tensor<8x31xi32>, tensor<2x31xf32>, none) -> tensor<2x31xf32>
  %1 = formats.FewBitsMatMul %x, %v, %t, %none {bits = 4 : i64, block = 32 : i64, k = 64 : i64, zero = 8 : i64} : (tensor<2x64xf32>, tensor<8x32xi32>, tensor<2x32xf32>, none) -> tensor<2x32xf32>
  return %0, %1 : tensor<2x31xf32>, tensor<2x32xf32>
}
