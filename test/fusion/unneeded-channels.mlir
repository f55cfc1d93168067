// Channels between two convolutions that make no difference are not made.
// RUN: %ingot-opt --fusion-fuse --split-input-file %s | FileCheck %s

// Twelve equal channels are one, whose weights are the sum of theirs.
// CHECK-LABEL: @equal
// CHECK: %[[W:.*]] = onnx.Constant dense<2.000000e+00> : tensor<1x1x3xf32>
// CHECK: %[[C:.*]] = onnx.Conv %{{.*}}, %[[W]], {{.*}} -> tensor<1x1x7xf32>
// CHECK: %[[R:.*]] = onnx.Tanh %[[C]]
// CHECK: %[[V:.*]] = onnx.Constant dense<3.600000e+01> : tensor<2x1x3xf32>
// CHECK: onnx.Conv %[[R]], %[[V]], {{.*}} {pads = array<i64: 1, 1>}
func.func @equal(%x: tensor<1x1x9xf32>) -> tensor<1x2x7xf32> {
  %none = onnx.None : none
  %w = onnx.Constant dense<2.0> : tensor<12x1x3xf32>
  %v = onnx.Constant dense<3.0> : tensor<2x12x3xf32>
  %0 = onnx.Conv %x, %w, %none {} : (tensor<1x1x9xf32>, tensor<12x1x3xf32>, none) -> tensor<1x12x7xf32>
  %1 = onnx.Tanh %0 : (tensor<1x12x7xf32>) -> tensor<1x12x7xf32>
  %2 = onnx.Conv %1, %v, %none {pads = array<i64: 1, 1>} : (tensor<1x12x7xf32>, tensor<2x12x3xf32>, none) -> tensor<1x2x7xf32>
  return %2 : tensor<1x2x7xf32>
}

// -----

// Constant ones, which are 2 behind the Relu, and 2 * 3 + 1 behind the depthwise convolution: twelve of them times 0.5
// are 42, and one channel is left, which nothing is made of.
// CHECK-LABEL: @constant
// CHECK: onnx.Conv {{.*}} -> tensor<1x1x9xf32>
// CHECK: onnx.Conv {{.*}} : (tensor<1x1x9xf32>, tensor<1x1x3xf32>, tensor<1xf32>) -> tensor<1x1x7xf32>
// CHECK: %[[V:.*]] = onnx.Constant dense<0.000000e+00> : tensor<2x1x1xf32>
// CHECK: %[[B:.*]] = onnx.Constant dense<4.200000e+01> : tensor<2xf32>
// CHECK: onnx.Conv %{{.*}}, %[[V]], %[[B]]
func.func @constant(%x: tensor<1x1x9xf32>) -> tensor<1x2x7xf32> {
  %none = onnx.None : none
  %w = onnx.Constant dense<0.0> : tensor<12x1x1xf32>
  %b = onnx.Constant dense<2.0> : tensor<12xf32>
  %u = onnx.Constant dense<1.0> : tensor<12x1x3xf32>
  %c = onnx.Constant dense<1.0> : tensor<12xf32>
  %v = onnx.Constant dense<0.5> : tensor<2x12x1xf32>
  %0 = onnx.Conv %x, %w, %b {} : (tensor<1x1x9xf32>, tensor<12x1x1xf32>, tensor<12xf32>) -> tensor<1x12x9xf32>
  %1 = onnx.Relu %0 : (tensor<1x12x9xf32>) -> tensor<1x12x9xf32>
  %2 = onnx.Conv %1, %u, %c {group = 12} : (tensor<1x12x9xf32>, tensor<12x1x3xf32>, tensor<12xf32>) -> tensor<1x12x7xf32>
  %3 = onnx.Conv %2, %v, %none {} : (tensor<1x12x7xf32>, tensor<2x12x1xf32>, none) -> tensor<1x2x7xf32>
  return %3 : tensor<1x2x7xf32>
}

// -----

// Those that differ only from the padding beside them are made, and those that somebody else reads; eight are a block,
// whatever they are.
// CHECK-LABEL: @needed
// CHECK: onnx.Conv {{.*}} -> tensor<1x12x9xf32>
// CHECK: onnx.Conv {{.*}} -> tensor<1x8x9xf32>
// CHECK: onnx.Conv {{.*}} -> tensor<1x11x9xf32>
func.func @needed(%x: tensor<1x1x9xf32>) -> (tensor<1x2x9xf32>, tensor<1x2x7xf32>, tensor<1x2x7xf32>, tensor<1x11x9xf32>) {
  %none = onnx.None : none
  %w = onnx.Constant dense<[[[0.0]], [[0.0]], [[0.0]], [[0.0]], [[0.0]], [[0.0]], [[0.0]], [[0.0]], [[0.0]], [[0.0]], [[0.0]], [[0.0]]]> : tensor<12x1x1xf32>
  %b = onnx.Constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0]> : tensor<12xf32>
  %v = onnx.Constant dense<3.0> : tensor<2x12x3xf32>
  %0 = onnx.Conv %x, %w, %b {} : (tensor<1x1x9xf32>, tensor<12x1x1xf32>, tensor<12xf32>) -> tensor<1x12x9xf32>
  %1 = onnx.Conv %0, %v, %none {pads = array<i64: 1, 1>} : (tensor<1x12x9xf32>, tensor<2x12x3xf32>, none) -> tensor<1x2x9xf32>
  %w8 = onnx.Constant dense<0.0> : tensor<8x1x1xf32>
  %v8 = onnx.Constant dense<3.0> : tensor<2x8x3xf32>
  %2 = onnx.Conv %x, %w8, %none {} : (tensor<1x1x9xf32>, tensor<8x1x1xf32>, none) -> tensor<1x8x9xf32>
  %3 = onnx.Conv %2, %v8, %none {} : (tensor<1x8x9xf32>, tensor<2x8x3xf32>, none) -> tensor<1x2x7xf32>
  %w11 = onnx.Constant dense<0.0> : tensor<11x1x1xf32>
  %v11 = onnx.Constant dense<3.0> : tensor<2x11x3xf32>
  %4 = onnx.Conv %x, %w11, %none {} : (tensor<1x1x9xf32>, tensor<11x1x1xf32>, none) -> tensor<1x11x9xf32>
  %5 = onnx.Conv %4, %v11, %none {} : (tensor<1x11x9xf32>, tensor<2x11x3xf32>, none) -> tensor<1x2x7xf32>
  return %1, %3, %5, %4 : tensor<1x2x9xf32>, tensor<1x2x7xf32>, tensor<1x2x7xf32>, tensor<1x11x9xf32>
}
