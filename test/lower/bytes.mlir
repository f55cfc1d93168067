// Sums of products of bytes, by the instruction that a machine has for four products, for two, or for one; where sums of pairs of eight bytes are known to fit 16 bits, by two sums of
// products of bytes (SHORT), in sixteen bits together.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=cascadelake --layout-assign=target=cascadelake --lower-kernels=target=cascadelake --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,QUADS
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,PAIRS
// RUN: %ingot-opt --graph-simplify --partition-place=target=x86-64-v3 --integer-choose-forms=target=x86-64-v3 --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,SHORT
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=armv8-a --layout-assign=target=armv8-a --lower-kernels=target=armv8-a --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,PLAIN

// 7 rows of 19 columns; five steps of k are four bytes, packed as a word, and one byte of the next, which is not read beyond its end.
// CHECK-LABEL: func.func private @matmul_
// QUADS-SAME: memref<35xi8>{{.*}}memref<256xi8>
// QUADS-COUNT-14: vpdpbusd.512
// QUADS: vector.load {{.*}} : memref<{{.*}}xi32>, vector<16xi32>
// QUADS: arith.extui {{.*}} : i8 to i32
// QUADS-COUNT-14: vpdpbusd.512
// PAIRS-SAME: memref<35xi8>{{.*}}memref<{{.*}}xi8>
// PAIRS: pmadd.wd
// SHORT: pmadd.ub.sw
// SHORT: pmadd.ub.sw
// SHORT: arith.addi {{.*}} : vector<16xi16>
// SHORT: pmadd.wd
// PLAIN: arith.extui {{.*}} : i8 to i32
// PLAIN: arith.muli {{.*}} : vector<4xi32>
// CHECK: vector.{{(masked)?}}store
func.func @product(%x: tensor<7x5xui8>) -> tensor<7x19xi32> {
  %w = onnx.Constant dense<3> : tensor<5x19xi8>
  %0 = formats.Int8MatMul %x, %w : (tensor<7x5xui8>, tensor<5x19xi8>) -> tensor<7x19xi32>
  return %0 : tensor<7x19xi32>
}

// -----

// Around the image lies the zero point: the frame of the buffer holds it.
// CHECK-LABEL: func.func private @reorder_
// CHECK: arith.constant dense<7> : vector<{{.*}}xi8>
// CHECK-LABEL: func.func private @int8conv_
// QUADS: vpdpbusd.512
// PAIRS: pmadd.wd
// SHORT: pmadd.ub.sw
// SHORT: arith.addi {{.*}} : vector<16xi16>
// SHORT: pmadd.wd
// PLAIN: arith.muli {{.*}} : vector<4xi32>
func.func @convolution(%x: tensor<1x17x6x6xui8>) -> tensor<1x20x6x6xi32> {
  %w = onnx.Constant dense<3> : tensor<20x17x3x3xi8>
  %none = onnx.None : none
  %0 = formats.Int8Conv %x, %w, %none {pads = array<i64: 1, 1, 1, 1>, padding = 7 : i64} : (tensor<1x17x6x6xui8>, tensor<20x17x3x3xi8>, none) -> tensor<1x20x6x6xi32>
  return %0 : tensor<1x20x6x6xi32>
}

// -----

// An image of three channels is read as it is given: its rows are copied with four bytes for each pixel, the zero point around it, and taps are real loops. Sums begin with
// what is added to them.
// CHECK-LABEL: func.func private @int8conv_
// QUADS: arith.constant dense<7> : vector<16xi8>
// QUADS: vector.maskedload {{.*}} : memref<{{.*}}xi8>, vector<16xi1>, vector<16xi8> into vector<16xi8>
// QUADS: vector.shuffle
// QUADS: vector.load {{.*}} : memref<16xi32>, vector<16xi32>
// QUADS: scf.for {{.*}} -> (vector<16xi32>
// QUADS-COUNT-20: vpdpbusd.512
// QUADS-NOT: vpdpbusd.512
// QUADS-NOT: arith.addi {{.*}} : vector<16xi32>
// QUADS: arith.sitofp
func.func @stem(%x: tensor<1x3x9x20xui8>) -> tensor<1x16x9x20xf32> {
  %w = onnx.Constant dense<3> : tensor<16x3x3x3xi8>
  %b = onnx.Constant dense<[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]> : tensor<16xi32>
  %none = onnx.None : none
  %shape = onnx.Constant dense<[1, 16, 1, 1]> : tensor<4xi64>
  %c = onnx.Reshape %b, %shape {allowzero = 0 : i64} : (tensor<16xi32>, tensor<4xi64>) -> tensor<1x16x1x1xi32>
  %0 = formats.Int8Conv %x, %w, %none {pads = array<i64: 1, 1, 1, 1>, padding = 7 : i64} : (tensor<1x3x9x20xui8>, tensor<16x3x3x3xi8>, none) -> tensor<1x16x9x20xi32>
  %1 = onnx.Add %0, %c : (tensor<1x16x9x20xi32>, tensor<1x16x1x1xi32>) -> tensor<1x16x9x20xi32>
  %2 = onnx.Cast %1 {to = 1 : i64} : (tensor<1x16x9x20xi32>) -> tensor<1x16x9x20xf32>
  return %2 : tensor<1x16x9x20xf32>
}
