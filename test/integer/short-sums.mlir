// Weights are so small that sums of pairs of their products by bytes fit 16 bits: of two dot products of four, of one, or not; then the factor becomes int16. Channels of groups count from the first of all.
// RUN: %ingot-opt --partition-place=target=x86-64-v3 --integer-choose-forms=target=x86-64-v3 --split-input-file %s | FileCheck %s

// CHECK-LABEL: @two_quads
// CHECK: formats.Int8MatMul {{.*}}ingot.int16_dots = 2 : i64{{.*}}(tensor<2x8xui8>
func.func @two_quads(%x: tensor<2x8xui8>) -> tensor<2x3xi32> {
  %w = onnx.Constant dense<32> : tensor<8x3xi8>
  %0 = formats.Int8MatMul %x, %w : (tensor<2x8xui8>, tensor<8x3xi8>) -> tensor<2x3xi32>
  return %0 : tensor<2x3xi32>
}

// -----

// CHECK-LABEL: @one_quad
// CHECK: formats.Int8MatMul {{.*}}ingot.int16_dots = 1 : i64{{.*}}(tensor<2x8xui8>
func.func @one_quad(%x: tensor<2x8xui8>) -> tensor<2x3xi32> {
  %w = onnx.Constant dense<-33> : tensor<8x3xi8>
  %0 = formats.Int8MatMul %x, %w : (tensor<2x8xui8>, tensor<8x3xi8>) -> tensor<2x3xi32>
  return %0 : tensor<2x3xi32>
}

// -----

// The largest sum is one of positive weights or one of negative ones, not both: 127 and -128 fit.
// CHECK-LABEL: @both_signs
// CHECK: formats.Int8MatMul {{.*}}ingot.int16_dots = 1 : i64{{.*}}(tensor<2x4xui8>
func.func @both_signs(%x: tensor<2x4xui8>) -> tensor<2x1xi32> {
  %w = onnx.Constant dense<[[127], [-128], [-128], [127]]> : tensor<4x1xi8>
  %0 = formats.Int8MatMul %x, %w : (tensor<2x4xui8>, tensor<4x1xi8>) -> tensor<2x1xi32>
  return %0 : tensor<2x1xi32>
}

// -----

// CHECK-LABEL: @none
// CHECK: onnx.Cast {{.*}} -> tensor<2x4xi16>
// CHECK-NOT: ingot.int16_dots
func.func @none(%x: tensor<2x4xui8>) -> tensor<2x1xi32> {
  %w = onnx.Constant dense<[[65], [64], [0], [0]]> : tensor<4x1xi8>
  %0 = formats.Int8MatMul %x, %w : (tensor<2x4xui8>, tensor<4x1xi8>) -> tensor<2x1xi32>
  return %0 : tensor<2x1xi32>
}

// -----

// What reads the same factor wants it in the same form.
// CHECK-LABEL: @not_both
// CHECK: onnx.Cast {{.*}} -> tensor<2x4xi16>
// CHECK-NOT: ingot.int16_dots
func.func @not_both(%x: tensor<2x4xui8>) -> (tensor<2x1xi32>, tensor<2x1xi32>) {
  %w = onnx.Constant dense<100> : tensor<4x1xi8>
  %u = onnx.Constant dense<1> : tensor<4x1xi8>
  %0 = formats.Int8MatMul %x, %w : (tensor<2x4xui8>, tensor<4x1xi8>) -> tensor<2x1xi32>
  %1 = formats.Int8MatMul %x, %u : (tensor<2x4xui8>, tensor<4x1xi8>) -> tensor<2x1xi32>
  return %0, %1 : tensor<2x1xi32>, tensor<2x1xi32>
}

// -----

// Groups of three channels: 0 1 2 and 3 4 5. Channel 1 is multiplied with channel 0, channel 3 with none of its own group.
// CHECK-LABEL: @groups
// CHECK: formats.Int8Conv {{.*}}ingot.int16_dots = 1 : i64
func.func @groups(%x: tensor<1x6x4x4xui8>) -> tensor<1x2x4x4xi32> {
  %w = onnx.Constant dense<[[[[64]], [[64]], [[127]]], [[[127]], [[64]], [[64]]]]> : tensor<2x3x1x1xi8>
  %none = onnx.None : none
  %0 = formats.Int8Conv %x, %w, %none {group = 2 : i64} : (tensor<1x6x4x4xui8>, tensor<2x3x1x1xi8>, none) -> tensor<1x2x4x4xi32>
  return %0 : tensor<1x2x4x4xi32>
}
