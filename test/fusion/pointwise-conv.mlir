// A convolution of one tap, of an image that the caller gives row-major, to few channels is a product of matrices.
// RUN: %ingot-opt --fusion-fuse --graph-simplify --split-input-file %s | FileCheck %s

// CHECK-LABEL: @product
// CHECK-DAG: %[[W:.*]] = onnx.Constant dense<5.000000e-01> : tensor<2x8xf32>
// CHECK-DAG: %[[X:.*]] = onnx.Reshape %arg0, {{.*}} -> tensor<?x8x12xf32, #onnx.sizes<"n", 8, 12>>
// CHECK: %[[P:.*]] = onnx.MatMul %[[W]], %[[X]]
// CHECK: %[[S:.*]] = onnx.Add %[[P]], {{.*}} -> tensor<?x2x12xf32, #onnx.sizes<"n", 2, 12>>
// CHECK: onnx.Reshape %[[S]], {{.*}} -> tensor<?x2x3x4xf32, #onnx.sizes<"n", 2, 3, 4>>
func.func @product(%x: tensor<?x8x3x4xf32, #onnx.sizes<"n", 8, 3, 4>>) -> tensor<?x2x3x4xf32, #onnx.sizes<"n", 2, 3, 4>> {
  %w = onnx.Constant dense<0.5> : tensor<2x8x1x1xf32>
  %b = onnx.Constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = onnx.Conv %x, %w, %b : (tensor<?x8x3x4xf32, #onnx.sizes<"n", 8, 3, 4>>, tensor<2x8x1x1xf32>, tensor<2xf32>) -> tensor<?x2x3x4xf32, #onnx.sizes<"n", 2, 3, 4>>
  return %0 : tensor<?x2x3x4xf32, #onnx.sizes<"n", 2, 3, 4>>
}

// -----

// Channels that are each multiplied by a weight of their own are elementwise.
// CHECK-LABEL: @scaled
// CHECK: %[[P:.*]] = onnx.Mul %arg0, {{.*}} : (tensor<1x2x3xf32>, tensor<2x1xf32>)
// CHECK: onnx.Add %[[P]], {{.*}} : (tensor<1x2x3xf32>, tensor<2x1xf32>)
func.func @scaled(%x: tensor<1x2x3xf32>) -> tensor<1x2x3xf32> {
  %w = onnx.Constant dense<[[[2.0]], [[3.0]]]> : tensor<2x1x1xf32>
  %b = onnx.Constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = onnx.Conv %x, %w, %b {group = 2 : i64} : (tensor<1x2x3xf32>, tensor<2x1x1xf32>, tensor<2xf32>) -> tensor<1x2x3xf32>
  return %0 : tensor<1x2x3xf32>
}

// -----

// Few channels from a row-major image to a row-major result are a product as well.
// CHECK-LABEL: @few
// CHECK: onnx.MatMul
// CHECK: onnx.Relu
func.func @few(%x: tensor<1x8x3x4xf32>) -> tensor<1x9x3x4xf32> {
  %none = onnx.None : none
  %w = onnx.Constant dense<0.5> : tensor<9x8x1x1xf32>
  %0 = onnx.Conv %x, %w, %none : (tensor<1x8x3x4xf32>, tensor<9x8x1x1xf32>, none) -> tensor<1x9x3x4xf32>
  %1 = onnx.Relu %0 : (tensor<1x9x3x4xf32>) -> tensor<1x9x3x4xf32>
  return %1 : tensor<1x9x3x4xf32>
}

// -----

// Not where channels are many, where there are other taps, strides or pads, nor behind another convolution.
// CHECK-LABEL: @kept
// CHECK-NOT: onnx.MatMul
// CHECK-COUNT-5: onnx.Conv
func.func @kept(%x: tensor<1x8x3x4xf32>) -> (tensor<1x40x3x4xf32>, tensor<1x2x2x2xf32>, tensor<1x2x5x6xf32>, tensor<1x2x3x4xf32>) {
  %none = onnx.None : none
  %w1 = onnx.Constant dense<0.5> : tensor<40x8x1x1xf32>
  %w2 = onnx.Constant dense<0.5> : tensor<2x8x1x1xf32>
  %w8 = onnx.Constant dense<0.5> : tensor<8x8x3x3xf32>
  %0 = onnx.Conv %x, %w1, %none : (tensor<1x8x3x4xf32>, tensor<40x8x1x1xf32>, none) -> tensor<1x40x3x4xf32>
  %1 = onnx.Conv %x, %w2, %none {strides = array<i64: 2, 2>} : (tensor<1x8x3x4xf32>, tensor<2x8x1x1xf32>, none) -> tensor<1x2x2x2xf32>
  %2 = onnx.Conv %x, %w2, %none {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x3x4xf32>, tensor<2x8x1x1xf32>, none) -> tensor<1x2x5x6xf32>
  %3 = onnx.Conv %x, %w8, %none {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x3x4xf32>, tensor<8x8x3x3xf32>, none) -> tensor<1x8x3x4xf32>
  %4 = onnx.Conv %3, %w2, %none : (tensor<1x8x3x4xf32>, tensor<2x8x1x1xf32>, none) -> tensor<1x2x3x4xf32>
  return %0, %1, %2, %4 : tensor<1x40x3x4xf32>, tensor<1x2x2x2xf32>, tensor<1x2x5x6xf32>, tensor<1x2x3x4xf32>
}
