// Weights of a few bits are dequantized in registers: one that is not the last of its word without a shift.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v4 --layout-assign=target=x86-64-v4 --lower-kernels=target=x86-64-v4 --split-input-file %s | FileCheck %s

// One row: seven numbers of each word are masked where they stand, the eighth is shifted. The elements are multiplied
// by powers of two before; their sum times the zero point is subtracted from a block's sums.
// CHECK-LABEL: func.func private @fewbitsmatmul_
// CHECK-SAME: memref<40xf32>{{.*}}memref<128xi32>{{.*}}memref<32xf32>
// CHECK: dense<[1.000000e+00, 3.906250e-03, {{.*}}, 9.53674316E-7, 1.000000e+00, 1.000000e+00, 3.906250e-03
// CHECK: arith.constant dense<251658240> : vector<16xi32>
// CHECK: arith.shrui
// CHECK: vector.shuffle
// CHECK: arith.negf
// CHECK: vector.maskedstore
func.func @row(%x: tensor<1x40xf32>) -> tensor<1x10xf32> {
  %w = onnx.Constant dense<3> : tensor<8x10xi32>
  %s = onnx.Constant dense<0.5> : tensor<2x10xf32>
  %none = onnx.None : none
  %0 = formats.FewBitsMatMul %x, %w, %s, %none {bits = 4 : i64, block = 32 : i64, k = 40 : i64, zero = 8 : i64} : (tensor<1x40xf32>, tensor<8x10xi32>, tensor<2x10xf32>, none) -> tensor<1x10xf32>
  return %0 : tensor<1x10xf32>
}

// -----

// More rows: the zero point is subtracted from the numbers, once for all rows.
// CHECK-LABEL: func.func private @fewbitsmatmul_
// CHECK-NOT: vector.shuffle
// CHECK: arith.uitofp {{.*}} : vector<16xi8> to vector<16xf32>
// CHECK: arith.sitofp {{.*}} : vector<16xi32> to vector<16xf32>
// CHECK-NOT: vector.shuffle
func.func @rows(%x: tensor<3x32xf32>) -> tensor<3x16xf32> {
  %w = onnx.Constant dense<3> : tensor<8x16xi32>
  %s = onnx.Constant dense<0.5> : tensor<2x16xf32>
  %z = onnx.Constant dense<7> : tensor<2x16xui8>
  %0 = formats.FewBitsMatMul %x, %w, %s, %z {bits = 8 : i64, block = 16 : i64, k = 32 : i64} : (tensor<3x32xf32>, tensor<8x16xi32>, tensor<2x16xf32>, tensor<2x16xui8>) -> tensor<3x16xf32>
  return %0 : tensor<3x16xf32>
}
