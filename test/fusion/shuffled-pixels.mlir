// A ConvTranspose whose kernel is as large as its strides, and which has few channels, is a Conv of one tap and a rearrangement.
// RUN: %ingot-opt --fusion-fuse --graph-simplify --split-input-file %s | FileCheck %s

// Weights [inputs][outputs][kernel] become [outputs x kernel][inputs], the bias of an output that of all its places.
// CHECK-LABEL: @blocks
// CHECK-DAG: %[[B:.*]] = onnx.Constant dense<5.000000e-01> : tensor<2xf32>
// CHECK-DAG: %[[W:.*]] = onnx.Constant dense<{{\[\[}}[1.000000e+00], [3.000000e+00]], {{\[}}[2.000000e+00], [4.000000e+00]]]> : tensor<2x2x1xf32>
// CHECK: %[[C:.*]] = onnx.Conv %arg0, %[[W]], %[[B]]
// CHECK: onnx.Reshape %[[C]]
// CHECK: onnx.Transpose {{.*}} {perm = array<i64: 0, 1, 3, 2>}
// CHECK: onnx.Reshape {{.*}} -> tensor<?x1x14xf32
func.func @blocks(%x: tensor<?x2x7xf32, #onnx.sizes<"n", 2, 7>>) -> tensor<?x1x14xf32, #onnx.sizes<"n", 1, 14>> {
  %w = onnx.Constant dense<[[[1.0, 2.0]], [[3.0, 4.0]]]> : tensor<2x1x2xf32>
  %b = onnx.Constant dense<0.5> : tensor<1xf32>
  %0 = onnx.ConvTranspose %x, %w, %b {strides = array<i64: 2>} : (tensor<?x2x7xf32, #onnx.sizes<"n", 2, 7>>, tensor<2x1x2xf32>, tensor<1xf32>) -> tensor<?x1x14xf32, #onnx.sizes<"n", 1, 14>>
  return %0 : tensor<?x1x14xf32, #onnx.sizes<"n", 1, 14>>
}

// -----

// Not where outputs overlap or are cut away, nor with many channels, which fill vectors.
// CHECK-LABEL: @kept
// CHECK-COUNT-3: onnx.ConvTranspose
// CHECK-NOT: onnx.Conv %
func.func @kept(%x: tensor<1x2x7xf32>) -> (tensor<1x1x15xf32>, tensor<1x1x12xf32>, tensor<1x8x14xf32>) {
  %none = onnx.None : none
  %w3 = onnx.Constant dense<1.0> : tensor<2x1x3xf32>
  %w2 = onnx.Constant dense<1.0> : tensor<2x1x2xf32>
  %w8 = onnx.Constant dense<1.0> : tensor<2x8x2xf32>
  %0 = onnx.ConvTranspose %x, %w3, %none {strides = array<i64: 2>} : (tensor<1x2x7xf32>, tensor<2x1x3xf32>, none) -> tensor<1x1x15xf32>
  %1 = onnx.ConvTranspose %x, %w2, %none {strides = array<i64: 2>, pads = array<i64: 1, 1>} : (tensor<1x2x7xf32>, tensor<2x1x2xf32>, none) -> tensor<1x1x12xf32>
  %2 = onnx.ConvTranspose %x, %w8, %none {strides = array<i64: 2>} : (tensor<1x2x7xf32>, tensor<2x8x2xf32>, none) -> tensor<1x8x14xf32>
  return %0, %1, %2 : tensor<1x1x15xf32>, tensor<1x1x12xf32>, tensor<1x8x14xf32>
}
