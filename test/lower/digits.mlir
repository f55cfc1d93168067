// Rows of digits by weights of few bits: quads of bytes, with the words, scales and zero points of FewBitsMatMul.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=cascadelake --layout-assign=target=cascadelake --lower-kernels=target=cascadelake --split-input-file %s | FileCheck %s

// One row, 19 columns, a block of 32: four words of two quads each, three digits, two vectors, the second one with three columns.
// CHECK-LABEL: func.func private @digitmatmul_
// CHECK-SAME: memref<128xi32>{{.*}}memref<32xf32>
// CHECK: arith.andi {{.*}} : vector<16xi32>
// CHECK-COUNT-48: vpdpbusd.512
// CHECK-NOT: vpdpbusd.512
// CHECK: arith.sitofp
// CHECK: vector.maskedstore
func.func @row(%a: tensor<1x32xi8>, %unit: tensor<1x1xf32>) -> tensor<1x19xf32> {
  %w = onnx.Constant dense<3> : tensor<4x19xi32>
  %s = onnx.Constant dense<0.5> : tensor<1x19xf32>
  %none = onnx.None : none
  %0 = onnx.DigitMatMul %a, %a, %a, %unit, %unit, %w, %s, %none {bits = 4 : i64, block = 32 : i64, zero = 8 : i64} : (tensor<1x32xi8>, tensor<1x32xi8>, tensor<1x32xi8>, tensor<1x1xf32>, tensor<1x1xf32>, tensor<4x19xi32>, tensor<1x19xf32>, none) -> tensor<1x19xf32>
  return %0 : tensor<1x19xf32>
}

// -----

// Two rows at a time take two vectors; bytes are quads as they are; zero points of bytes become floats.
// CHECK-LABEL: func.func private @digitmatmul_
// CHECK-NOT: arith.andi {{.*}} : vector<16xi32>
// CHECK-COUNT-48: vpdpbusd.512
// CHECK: arith.uitofp {{.*}} : vector<16xi8> to vector<16xf32>
func.func @rows(%a: tensor<2x16xi8>, %unit: tensor<2x1xf32>) -> tensor<2x32xf32> {
  %w = onnx.Constant dense<3> : tensor<4x32xi32>
  %s = onnx.Constant dense<0.5> : tensor<1x32xf32>
  %z = onnx.Constant dense<7> : tensor<1x32xui8>
  %0 = onnx.DigitMatMul %a, %a, %a, %unit, %unit, %w, %s, %z {bits = 8 : i64, block = 16 : i64} : (tensor<2x16xi8>, tensor<2x16xi8>, tensor<2x16xi8>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<4x32xi32>, tensor<1x32xf32>, tensor<1x32xui8>) -> tensor<2x32xf32>
  return %0 : tensor<2x32xf32>
}
