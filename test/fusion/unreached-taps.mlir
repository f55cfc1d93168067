// Outer taps that read only padding are cut off the kernel, with their padding.
// RUN: %ingot-opt --fusion-fuse --graph-simplify --split-input-file %s | FileCheck %s

// A dilation beyond the image leaves the middle; the channels' batch may be open.
// CHECK-LABEL: @middle
// CHECK: onnx.Constant dense<{{.*}}> : tensor<1x1x1x1xf32>
// CHECK: onnx.Conv %arg0, {{.*}} {dilations = array<i64: 24, 12>, kernel_shape = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>}
// CHECK-SAME: -> tensor<?x1x14x12xf32
func.func @middle(%x: tensor<?x1x14x12xf32, #onnx.sizes<"n", 1, 14, 12>>) -> tensor<?x1x14x12xf32, #onnx.sizes<"n", 1, 14, 12>> {
  %none = onnx.None : none
  %w = onnx.Constant dense<[[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]]> : tensor<1x1x3x3xf32>
  %0 = onnx.Conv %x, %w, %none {dilations = array<i64: 24, 12>, pads = array<i64: 24, 12, 24, 12>} : (tensor<?x1x14x12xf32, #onnx.sizes<"n", 1, 14, 12>>, tensor<1x1x3x3xf32>, none) -> tensor<?x1x14x12xf32, #onnx.sizes<"n", 1, 14, 12>>
  return %0 : tensor<?x1x14x12xf32, #onnx.sizes<"n", 1, 14, 12>>
}

// -----

// One side only, by the stride: the first tap is cut off with its padding, the last one reads the image at the end.
// CHECK-LABEL: @oneSide
// CHECK: onnx.Constant dense<{{.*}}2.000000e+00, 3.000000e+00{{.*}}> : tensor<1x1x2xf32>
// CHECK: onnx.Conv {{.*}} {dilations = array<i64: 3>, kernel_shape = array<i64: 2>, pads = array<i64: 1, 0>}
func.func @oneSide(%x: tensor<1x1x3xf32>) -> tensor<1x1x1xf32> {
  %none = onnx.None : none
  %w = onnx.Constant dense<[[[1.0, 2.0, 3.0]]]> : tensor<1x1x3xf32>
  %0 = onnx.Conv %x, %w, %none {dilations = array<i64: 3>, pads = array<i64: 4, 0>} : (tensor<1x1x3xf32>, tensor<1x1x3xf32>, none) -> tensor<1x1x1xf32>
  return %0 : tensor<1x1x1xf32>
}

// -----

// A ConvTranspose writes with its outer taps what the pads cut away.
// CHECK-LABEL: @transposed
// CHECK: onnx.ConvTranspose {{.*}} {dilations = array<i64: 4>, kernel_shape = array<i64: 1>, pads = array<i64: 0, 0>}
// CHECK-SAME: -> tensor<1x1x3xf32>
func.func @transposed(%x: tensor<1x1x3xf32>) -> tensor<1x1x3xf32> {
  %none = onnx.None : none
  %w = onnx.Constant dense<[[[1.0, 2.0, 3.0]]]> : tensor<1x1x3xf32>
  %0 = onnx.ConvTranspose %x, %w, %none {dilations = array<i64: 4>, pads = array<i64: 4, 4>} : (tensor<1x1x3xf32>, tensor<1x1x3xf32>, none) -> tensor<1x1x3xf32>
  return %0 : tensor<1x1x3xf32>
}

// -----

// These stay: a tap that reads the image for one output, an open size, weights that are computed or that others read.
// CHECK-LABEL: @kept
// CHECK-COUNT-5: tensor<1x1x3xf32>, none)
func.func @kept(%x: tensor<1x1x3xf32>, %open: tensor<1x1x?xf32, #onnx.sizes<1, 1, "n">>, %v: tensor<1x1x3xf32>)
    -> (tensor<1x1x3xf32>, tensor<1x1x?xf32, #onnx.sizes<1, 1, "n">>, tensor<1x1x3xf32>, tensor<1x1x3xf32>, tensor<1x1x3xf32>) {
  %none = onnx.None : none
  %w = onnx.Constant dense<[[[1.0, 2.0, 3.0]]]> : tensor<1x1x3xf32>
  %w2 = onnx.Constant dense<[[[1.0, 2.0, 4.0]]]> : tensor<1x1x3xf32>
  %w3 = onnx.Constant dense<[[[1.0, 2.0, 5.0]]]> : tensor<1x1x3xf32>
  %0 = onnx.Conv %x, %w, %none {dilations = array<i64: 2>, pads = array<i64: 2, 2>} : (tensor<1x1x3xf32>, tensor<1x1x3xf32>, none) -> tensor<1x1x3xf32>
  %1 = onnx.Conv %open, %w2, %none {dilations = array<i64: 4>, pads = array<i64: 4, 4>} : (tensor<1x1x?xf32, #onnx.sizes<1, 1, "n">>, tensor<1x1x3xf32>, none) -> tensor<1x1x?xf32, #onnx.sizes<1, 1, "n">>
  %2 = onnx.Conv %x, %v, %none {dilations = array<i64: 4>, pads = array<i64: 4, 4>} : (tensor<1x1x3xf32>, tensor<1x1x3xf32>, none) -> tensor<1x1x3xf32>
  %3 = onnx.Conv %x, %w3, %none {dilations = array<i64: 4>, pads = array<i64: 4, 4>} : (tensor<1x1x3xf32>, tensor<1x1x3xf32>, none) -> tensor<1x1x3xf32>
  %4 = onnx.Conv %x, %w3, %none {dilations = array<i64: 3>, pads = array<i64: 3, 3>} : (tensor<1x1x3xf32>, tensor<1x1x3xf32>, none) -> tensor<1x1x3xf32>
  return %0, %1, %2, %3, %4 : tensor<1x1x3xf32>, tensor<1x1x?xf32, #onnx.sizes<1, 1, "n">>, tensor<1x1x3xf32>, tensor<1x1x3xf32>, tensor<1x1x3xf32>
}
