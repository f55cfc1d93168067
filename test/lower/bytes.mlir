// Sums of products of bytes, by the instruction that a machine has for four products, for two, or for one; where sums of two quads' pairs are known to fit 16 bits, by two sums of
// products of bytes (SHORT), in sixteen bits together.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=cascadelake --layout-assign=target=cascadelake --lower-kernels=target=cascadelake --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,QUADS
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,PAIRS
// RUN: %ingot-opt --graph-simplify --quantize-short-sums --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,SHORT
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=armv8-a --layout-assign=target=armv8-a --lower-kernels=target=armv8-a --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,PLAIN

// 7 rows of 19 columns; five steps of k are a quad, packed as a word, and one byte of the next, which is not read beyond its end.
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
  %0 = onnx.IntegerMatMul %x, %w : (tensor<7x5xui8>, tensor<5x19xi8>) -> tensor<7x19xi32>
  return %0 : tensor<7x19xi32>
}

// -----

// Around the image lies the zero point: the frame of the buffer holds it.
// CHECK-LABEL: func.func private @reorder_
// CHECK: arith.constant dense<7> : vector<{{.*}}xi8>
// CHECK-LABEL: func.func private @integerconv_
// QUADS: vpdpbusd.512
// PAIRS: pmadd.wd
// SHORT: pmadd.ub.sw
// SHORT: arith.addi {{.*}} : vector<16xi16>
// SHORT: pmadd.wd
// PLAIN: arith.muli {{.*}} : vector<4xi32>
func.func @convolution(%x: tensor<1x17x6x6xui8>) -> tensor<1x20x6x6xi32> {
  %w = onnx.Constant dense<3> : tensor<20x17x3x3xi8>
  %none = onnx.None : none
  %0 = onnx.IntegerConv %x, %w, %none {pads = array<i64: 1, 1, 1, 1>, padding = 7 : i64} : (tensor<1x17x6x6xui8>, tensor<20x17x3x3xi8>, none) -> tensor<1x20x6x6xi32>
  return %0 : tensor<1x20x6x6xi32>
}
