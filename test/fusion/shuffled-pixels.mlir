// A ConvTranspose whose kernel is a multiple of its strides, and which has few channels, is a Conv and a rearrangement.
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

// Where each output is of two pixels, the Conv has two taps, the last one first; what the pads take away is cut.
// CHECK-LABEL: @overlapping
// CHECK-DAG: %[[W:.*]] = onnx.Constant dense<{{\[\[}}[3.000000e+00, 1.000000e+00]], {{\[}}[4.000000e+00, 2.000000e+00]]]> : tensor<2x1x2xf32>
// CHECK: %[[C:.*]] = onnx.Conv %arg0, %[[W]], {{.*}} {pads = array<i64: 1, 1>} {{.*}} -> tensor<1x2x8xf32>
// CHECK: onnx.Transpose {{.*}} -> tensor<1x1x8x2xf32>
// CHECK: %[[ALL:.*]] = onnx.Reshape {{.*}} -> tensor<1x1x16xf32>
// CHECK: onnx.Slice %[[ALL]], {{.*}} -> tensor<1x1x13xf32>
func.func @overlapping(%x: tensor<1x1x7xf32>) -> tensor<1x1x13xf32> {
  %none = onnx.None : none
  %w = onnx.Constant dense<[[[1.0, 2.0, 3.0, 4.0]]]> : tensor<1x1x4xf32>
  %0 = onnx.ConvTranspose %x, %w, %none {strides = array<i64: 2>, pads = array<i64: 1, 2>} : (tensor<1x1x7xf32>, tensor<1x1x4xf32>, none) -> tensor<1x1x13xf32>
  return %0 : tensor<1x1x13xf32>
}

// -----

// A kernel that is no multiple has zeros behind it, and what they make is cut.
// CHECK-LABEL: @no_multiple
// CHECK-DAG: %[[W:.*]] = onnx.Constant dense<{{\[\[}}[3.000000e+00, 1.000000e+00]], {{\[}}[0.000000e+00, 2.000000e+00]]]> : tensor<2x1x2xf32>
// CHECK: %[[C:.*]] = onnx.Conv %arg0, %[[W]], {{.*}} {pads = array<i64: 1, 1>} {{.*}} -> tensor<1x2x8xf32>
// CHECK: %[[ALL:.*]] = onnx.Reshape {{.*}} -> tensor<1x1x16xf32>
// CHECK: onnx.Slice %[[ALL]], {{.*}} -> tensor<1x1x15xf32>
func.func @no_multiple(%x: tensor<1x1x7xf32>) -> tensor<1x1x15xf32> {
  %none = onnx.None : none
  %w = onnx.Constant dense<[[[1.0, 2.0, 3.0]]]> : tensor<1x1x3xf32>
  %0 = onnx.ConvTranspose %x, %w, %none {strides = array<i64: 2>} : (tensor<1x1x7xf32>, tensor<1x1x3xf32>, none) -> tensor<1x1x15xf32>
  return %0 : tensor<1x1x15xf32>
}

// -----

// Where the kernel is smaller than the stride, the Conv makes the places that have taps, and the others are the bias.
// CHECK-LABEL: @gaps
// CHECK-DAG: %[[W:.*]] = onnx.Constant dense<{{\[\[}}[1.000000e+00]], {{\[}}[2.000000e+00]]]> : tensor<2x1x1xf32>
// CHECK: %[[C:.*]] = onnx.Conv %arg0, %[[W]], %{{.*}} : (tensor<1x1x7xf32>, tensor<2x1x1xf32>, none) -> tensor<1x2x7xf32>
// CHECK: onnx.Transpose {{.*}} -> tensor<1x1x7x2xf32>
// CHECK: onnx.Pad {{.*}} -> tensor<1x1x7x5xf32>
// CHECK: %[[ALL:.*]] = onnx.Reshape {{.*}} -> tensor<1x1x35xf32>
// CHECK: %[[CUT:.*]] = onnx.Slice %[[ALL]], {{.*}} -> tensor<1x1x32xf32>
// CHECK: onnx.Add %[[CUT]], {{.*}} -> tensor<1x1x32xf32>
func.func @gaps(%x: tensor<1x1x7xf32>) -> tensor<1x1x32xf32> {
  %w = onnx.Constant dense<[[[1.0, 2.0]]]> : tensor<1x1x2xf32>
  %b = onnx.Constant dense<0.5> : tensor<1xf32>
  %0 = onnx.ConvTranspose %x, %w, %b {strides = array<i64: 5>} : (tensor<1x1x7xf32>, tensor<1x1x2xf32>, tensor<1xf32>) -> tensor<1x1x32xf32>
  return %0 : tensor<1x1x32xf32>
}

// -----

// Strides of 1 need no rearrangement, whatever the channels are.
// CHECK-LABEL: @dense
// CHECK: onnx.Conv %arg0, {{.*}} {pads = array<i64: 2, 2>}
// CHECK-NOT: onnx.Transpose
// CHECK-NOT: onnx.ConvTranspose
func.func @dense(%x: tensor<1x2x7xf32>) -> tensor<1x8x9xf32> {
  %none = onnx.None : none
  %w = onnx.Constant dense<1.0> : tensor<2x8x3xf32>
  %0 = onnx.ConvTranspose %x, %w, %none {strides = array<i64: 1>} : (tensor<1x2x7xf32>, tensor<2x8x3xf32>, none) -> tensor<1x8x9xf32>
  return %0 : tensor<1x8x9xf32>
}

// -----

// Not with outputs that no pixel makes, nor with many channels, which fill vectors.
// CHECK-LABEL: @kept
// CHECK-COUNT-2: onnx.ConvTranspose
// CHECK-NOT: onnx.Conv %
func.func @kept(%x: tensor<1x2x7xf32>) -> (tensor<1x1x15xf32>, tensor<1x8x14xf32>) {
  %none = onnx.None : none
  %w2 = onnx.Constant dense<1.0> : tensor<2x1x2xf32>
  %w8 = onnx.Constant dense<1.0> : tensor<2x8x2xf32>
  %0 = onnx.ConvTranspose %x, %w2, %none {strides = array<i64: 2>, output_padding = array<i64: 1>} : (tensor<1x2x7xf32>, tensor<2x1x2xf32>, none) -> tensor<1x1x15xf32>
  %1 = onnx.ConvTranspose %x, %w8, %none {strides = array<i64: 2>} : (tensor<1x2x7xf32>, tensor<2x8x2xf32>, none) -> tensor<1x8x14xf32>
  return %0, %1 : tensor<1x1x15xf32>, tensor<1x8x14xf32>
}
