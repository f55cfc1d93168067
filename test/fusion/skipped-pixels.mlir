// A convolution of one tap that reads one pixel of eight or more reads a slice of them.
// RUN: %ingot-opt --fusion-fuse --graph-simplify --split-input-file %s | FileCheck %s

// CHECK-LABEL: @skipped
// CHECK-DAG: %[[STEPS:.*]] = onnx.Constant dense<3> : tensor<2xi64>
// CHECK: %[[S:.*]] = onnx.Slice %arg0, {{.*}}, %[[STEPS]] {{.*}} -> tensor<1x4x3x2xf32>
// CHECK: onnx.Conv %[[S]], {{.*}} {group = 2 : i64} {{.*}} -> tensor<1x6x3x2xf32>
func.func @skipped(%x: tensor<1x4x8x6xf32>) -> tensor<1x6x3x2xf32> {
  %none = onnx.None : none
  %w = onnx.Constant dense<1.0> : tensor<6x2x1x1xf32>
  %0 = onnx.Conv %x, %w, %none {strides = array<i64: 3, 3>, group = 2 : i64} : (tensor<1x4x8x6xf32>, tensor<6x2x1x1xf32>, none) -> tensor<1x6x3x2xf32>
  return %0 : tensor<1x6x3x2xf32>
}

// -----

// Not where one of four is read, nor where padding is.
// CHECK-LABEL: @kept
// CHECK-NOT: onnx.Slice
func.func @kept(%x: tensor<1x4x8x6xf32>) -> (tensor<1x6x4x3xf32>, tensor<1x6x4x3xf32>) {
  %none = onnx.None : none
  %w = onnx.Constant dense<1.0> : tensor<6x4x1x1xf32>
  %0 = onnx.Conv %x, %w, %none {strides = array<i64: 2, 2>} : (tensor<1x4x8x6xf32>, tensor<6x4x1x1xf32>, none) -> tensor<1x6x4x3xf32>
  %1 = onnx.Conv %x, %w, %none {strides = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x4x8x6xf32>, tensor<6x4x1x1xf32>, none) -> tensor<1x6x4x3xf32>
  return %0, %1 : tensor<1x6x4x3xf32>, tensor<1x6x4x3xf32>
}
