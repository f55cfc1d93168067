// Rows of digits by weights of few bits: four or two bytes at a time, with the words, scales and zero points of FewBitsMatMul.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=cascadelake --layout-assign=target=cascadelake --lower-kernels=target=cascadelake --split-input-file %s | FileCheck %s
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck --check-prefix=PAIRS %s

// One row, 19 columns, a block of 32: four words of eight numbers each, three digits, two vectors, the second one with three columns. The scales are packed as a
// fifth row of the strip. AVX2 has three vectors, two at a time: eight pairs are added up in int16, and three products with constants make two sums of int32.
// CHECK-LABEL: func.func private @splitintegermatmul_
// CHECK-SAME: memref<160xi32>
// CHECK: memref.prefetch
// CHECK: arith.andi {{.*}} : vector<16xi32>
// CHECK-COUNT-48: vpdpbusd.512
// CHECK-NOT: vpdpbusd.512
// CHECK: arith.sitofp
// CHECK: vector.maskedstore
// PAIRS-LABEL: func.func private @splitintegermatmul_
// PAIRS-SAME: memref<120xi32>
// PAIRS-COUNT-48: pmadd.ub.sw
// PAIRS-NOT: pmadd.ub.sw
// PAIRS-COUNT-6: pmadd.wd
// PAIRS-NOT: pmadd.wd
// PAIRS: arith.bitcast {{.*}} : vector<8xi32> to vector<8xf32>
// PAIRS: pmadd.ub.sw
func.func @row(%a: tensor<1x32xi8>, %unit: tensor<1x1xf32>) -> tensor<1x19xf32> {
  %w = onnx.Constant dense<3> : tensor<4x19xi32>
  %s = onnx.Constant dense<0.5> : tensor<1x19xf32>
  %none = onnx.None : none
  %0 = formats.SplitIntegerMatMul %a, %a, %a, %unit, %unit, %unit, %w, %s, %none {bits = 4 : i64, block = 32 : i64} : (tensor<1x32xi8>, tensor<1x32xi8>, tensor<1x32xi8>, tensor<1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>, tensor<4x19xi32>, tensor<1x19xf32>, none) -> tensor<1x19xf32>
  return %0 : tensor<1x19xf32>
}

// -----

// Two rows at a time take two vectors, or one where there are 16 registers; four bytes are a word as they are; zero points of bytes become floats. Two digits:
// an instruction less for each. Scales that are no float32 stay where they are.
// CHECK-LABEL: func.func private @splitintegermatmul_
// CHECK-NOT: arith.andi {{.*}} : vector<16xi32>
// CHECK-COUNT-32: vpdpbusd.512
// CHECK-NOT: vpdpbusd.512
// CHECK: arith.uitofp {{.*}} : vector<16xi8> to vector<16xf32>
// PAIRS-LABEL: func.func private @splitintegermatmul_
func.func @rows(%a: tensor<2x16xi8>, %unit: tensor<2x1xf32>) -> tensor<2x32xf32> {
  %w = onnx.Constant dense<3> : tensor<4x32xi32>
  %s = onnx.Constant dense<0.5> : tensor<1x32xf16>
  %z = onnx.Constant dense<7> : tensor<1x32xui8>
  %none = onnx.None : none
  %0 = formats.SplitIntegerMatMul %a, %a, %none, %unit, %unit, %unit, %w, %s, %z {bits = 8 : i64, block = 16 : i64} : (tensor<2x16xi8>, tensor<2x16xi8>, none, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<4x32xi32>, tensor<1x32xf16>, tensor<1x32xui8>) -> tensor<2x32xf32>
  return %0 : tensor<2x32xf32>
}

// -----

// One digit: four rows share a vector of bytes, also where there are 16 registers. An instruction for each row and group of four bytes, and one product with
// ones for each row where pairs are added up.
// CHECK-LABEL: func.func private @splitintegermatmul_
// CHECK-COUNT-32: vpdpbusd.512
// CHECK-NOT: vpdpbusd.512
// PAIRS-LABEL: func.func private @splitintegermatmul_
// PAIRS-COUNT-32: pmadd.ub.sw
// PAIRS-NOT: pmadd.ub.sw
// PAIRS-COUNT-4: pmadd.wd
// PAIRS-NOT: pmadd.wd
func.func @bytes(%a: tensor<4x32xi8>, %unit: tensor<4x1xf32>) -> tensor<4x8xf32> {
  %w = onnx.Constant dense<3> : tensor<4x8xi32>
  %s = onnx.Constant dense<0.5> : tensor<1x8xf32>
  %none = onnx.None : none
  %0 = formats.SplitIntegerMatMul %a, %none, %none, %none, %unit, %unit, %w, %s, %none {bits = 4 : i64, block = 32 : i64} : (tensor<4x32xi8>, none, none, none, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x8xi32>, tensor<1x8xf32>, none) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
