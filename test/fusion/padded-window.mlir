// A Pad before a convolution or a pool becomes the op's own padding.
// RUN: %ingot-opt --fusion-fuse --split-input-file %s | FileCheck %s

// CHECK-LABEL: @conv
// CHECK: onnx.Conv %arg0, {{.*}} {pads = array<i64: 1, 3, 2, 2>}
// CHECK-SAME: (tensor<1x1x4x4xf32>
func.func @conv(%x: tensor<1x1x4x4xf32>, %w: tensor<2x1x3x3xf32>) -> tensor<1x2x5x7xf32> {
  %none = onnx.None : none
  %pads = onnx.Constant dense<[0, 0, 0, 2, 0, 0, 1, 1]> : tensor<8xi64>
  %0 = onnx.Pad %x, %pads, %none, %none : (tensor<1x1x4x4xf32>, tensor<8xi64>, none, none) -> tensor<1x1x5x7xf32>
  %1 = onnx.Conv %0, %w, %none {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x1x5x7xf32>, tensor<2x1x3x3xf32>, none) -> tensor<1x2x5x7xf32>
  return %1 : tensor<1x2x5x7xf32>
}

// -----

// Other values than zero, other modes, channels, and cuts stay.
// CHECK-LABEL: @keptBeforeConv
// CHECK-COUNT-4: onnx.Pad
func.func @keptBeforeConv(%x: tensor<1x1x4xf32>, %w: tensor<2x1x1xf32>, %w2: tensor<2x2x1xf32>)
    -> (tensor<1x2x6xf32>, tensor<1x2x6xf32>, tensor<1x2x4xf32>, tensor<1x2x3xf32>) {
  %none = onnx.None : none
  %one = onnx.Constant dense<1.0> : tensor<f32>
  %pads = onnx.Constant dense<[0, 0, 1, 0, 0, 1]> : tensor<6xi64>
  %channel = onnx.Constant dense<[0, 1, 0, 0, 0, 0]> : tensor<6xi64>
  %cut = onnx.Constant dense<[0, 0, -1, 0, 0, 0]> : tensor<6xi64>
  %0 = onnx.Pad %x, %pads, %one, %none : (tensor<1x1x4xf32>, tensor<6xi64>, tensor<f32>, none) -> tensor<1x1x6xf32>
  %1 = onnx.Pad %x, %pads, %none, %none {mode = "edge"} : (tensor<1x1x4xf32>, tensor<6xi64>, none, none) -> tensor<1x1x6xf32>
  %2 = onnx.Pad %x, %channel, %none, %none : (tensor<1x1x4xf32>, tensor<6xi64>, none, none) -> tensor<1x2x4xf32>
  %3 = onnx.Pad %x, %cut, %none, %none : (tensor<1x1x4xf32>, tensor<6xi64>, none, none) -> tensor<1x1x3xf32>
  %c0 = onnx.Conv %0, %w, %none : (tensor<1x1x6xf32>, tensor<2x1x1xf32>, none) -> tensor<1x2x6xf32>
  %c1 = onnx.Conv %1, %w, %none : (tensor<1x1x6xf32>, tensor<2x1x1xf32>, none) -> tensor<1x2x6xf32>
  %c2 = onnx.Conv %2, %w2, %none : (tensor<1x2x4xf32>, tensor<2x2x1xf32>, none) -> tensor<1x2x4xf32>
  %c3 = onnx.Conv %3, %w, %none : (tensor<1x1x3xf32>, tensor<2x1x1xf32>, none) -> tensor<1x2x3xf32>
  return %c0, %c1, %c2, %c3 : tensor<1x2x6xf32>, tensor<1x2x6xf32>, tensor<1x2x4xf32>, tensor<1x2x3xf32>
}

// -----

// -inf is nothing to a maximum; zeros are nothing behind a Relu, but something where numbers may be negative.
// CHECK-LABEL: @maxPool
func.func @maxPool(%x: tensor<1x1x4xf32>) -> (tensor<1x1x4xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>) {
  // CHECK: %[[R:.*]] = onnx.Relu
  // CHECK: onnx.MaxPool %arg0 {kernel_shape = array<i64: 3>, pads = array<i64: 1, 1>}
  // CHECK: onnx.MaxPool %[[R]] {kernel_shape = array<i64: 3>, pads = array<i64: 1, 1>}
  // CHECK: onnx.MaxPool %{{.*}} {kernel_shape = array<i64: 3>} : (tensor<1x1x6xf32>)
  %none = onnx.None : none
  %lowest = onnx.Constant dense<0xFF800000> : tensor<f32>
  %pads = onnx.Constant dense<[0, 0, 1, 0, 0, 1]> : tensor<6xi64>
  %r = onnx.Relu %x : (tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
  %0 = onnx.Pad %x, %pads, %lowest, %none : (tensor<1x1x4xf32>, tensor<6xi64>, tensor<f32>, none) -> tensor<1x1x6xf32>
  %1 = onnx.Pad %r, %pads, %none, %none : (tensor<1x1x4xf32>, tensor<6xi64>, none, none) -> tensor<1x1x6xf32>
  %2 = onnx.Pad %x, %pads, %none, %none : (tensor<1x1x4xf32>, tensor<6xi64>, none, none) -> tensor<1x1x6xf32>
  %y0, %i0 = onnx.MaxPool %0 {kernel_shape = array<i64: 3>} : (tensor<1x1x6xf32>) -> (tensor<1x1x4xf32>, tensor<1x1x4xi64>)
  %y1, %i1 = onnx.MaxPool %1 {kernel_shape = array<i64: 3>} : (tensor<1x1x6xf32>) -> (tensor<1x1x4xf32>, tensor<1x1x4xi64>)
  %y2, %i2 = onnx.MaxPool %2 {kernel_shape = array<i64: 3>} : (tensor<1x1x6xf32>) -> (tensor<1x1x4xf32>, tensor<1x1x4xi64>)
  return %y0, %y1, %y2 : tensor<1x1x4xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>
}

// -----

// Positions count the padding, and a window of padding only has no maximum.
// CHECK-LABEL: @keptBeforeMaxPool
// CHECK-COUNT-2: onnx.Pad
func.func @keptBeforeMaxPool(%x: tensor<1x1x4xf32>) -> (tensor<1x1x4xi64>, tensor<1x1x9xf32>) {
  %none = onnx.None : none
  %lowest = onnx.Constant dense<0xFF800000> : tensor<f32>
  %pads = onnx.Constant dense<[0, 0, 1, 0, 0, 1]> : tensor<6xi64>
  %wide = onnx.Constant dense<[0, 0, 3, 0, 0, 3]> : tensor<6xi64>
  %0 = onnx.Pad %x, %pads, %lowest, %none : (tensor<1x1x4xf32>, tensor<6xi64>, tensor<f32>, none) -> tensor<1x1x6xf32>
  %1 = onnx.Pad %x, %wide, %lowest, %none : (tensor<1x1x4xf32>, tensor<6xi64>, tensor<f32>, none) -> tensor<1x1x10xf32>
  %y0, %i0 = onnx.MaxPool %0 {kernel_shape = array<i64: 3>} : (tensor<1x1x6xf32>) -> (tensor<1x1x4xf32>, tensor<1x1x4xi64>)
  %y1, %i1 = onnx.MaxPool %1 {kernel_shape = array<i64: 2>} : (tensor<1x1x10xf32>) -> (tensor<1x1x9xf32>, tensor<1x1x9xi64>)
  return %i0, %y1 : tensor<1x1x4xi64>, tensor<1x1x9xf32>
}

// -----

// Zeros count; with padding that does not count they cannot be told apart.
// CHECK-LABEL: @averagePool
func.func @averagePool(%x: tensor<1x1x4xf32>) -> (tensor<1x1x4xf32>, tensor<1x1x6xf32>) {
  // CHECK: onnx.AveragePool %arg0 {count_include_pad = 1 : i64, kernel_shape = array<i64: 3>, pads = array<i64: 1, 1>}
  // CHECK: onnx.AveragePool %{{.*}} : (tensor<1x1x6xf32>)
  %none = onnx.None : none
  %pads = onnx.Constant dense<[0, 0, 1, 0, 0, 1]> : tensor<6xi64>
  %0 = onnx.Pad %x, %pads, %none, %none : (tensor<1x1x4xf32>, tensor<6xi64>, none, none) -> tensor<1x1x6xf32>
  %1 = onnx.AveragePool %0 {kernel_shape = array<i64: 3>} : (tensor<1x1x6xf32>) -> tensor<1x1x4xf32>
  %2 = onnx.AveragePool %0 {kernel_shape = array<i64: 3>, pads = array<i64: 1, 1>} : (tensor<1x1x6xf32>) -> tensor<1x1x6xf32>
  return %1, %2 : tensor<1x1x4xf32>, tensor<1x1x6xf32>
}
