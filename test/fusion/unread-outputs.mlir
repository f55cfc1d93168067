// Outputs of a convolution that only Slices read are made as far as these read them.
// RUN: %ingot-opt --fusion-fuse --graph-simplify --split-input-file %s | FileCheck %s

// A causal convolution of any length, with a function behind it: the padding behind goes, and the Slice.
// CHECK-LABEL: @causal
// CHECK: %[[Y:.*]] = onnx.Conv {{.*}} {pads = array<i64: 2, 0>}
// CHECK: %[[R:.*]] = onnx.Relu %[[Y]]
// CHECK-NOT: onnx.Slice
// CHECK: return %[[R]]
func.func @causal(%x: tensor<1x2x?xf32, #onnx.sizes<1, 2, "t">>) -> tensor<1x1x?xf32, #onnx.sizes<1, 1, "t">> {
  %none = onnx.None : none
  %w = onnx.Constant dense<1.0> : tensor<1x2x3xf32>
  %0 = onnx.Conv %x, %w, %none {pads = array<i64: 2, 2>} : (tensor<1x2x?xf32, #onnx.sizes<1, 2, "t">>, tensor<1x2x3xf32>, none) -> tensor<1x1x?xf32, #onnx.sizes<1, 1, "t+2">>
  %1 = onnx.Relu %0 : (tensor<1x1x?xf32, #onnx.sizes<1, 1, "t+2">>) -> tensor<1x1x?xf32, #onnx.sizes<1, 1, "t+2">>
  %start = onnx.Constant dense<0> : tensor<1xi64>
  %end = onnx.Constant dense<-2> : tensor<1xi64>
  %axis = onnx.Constant dense<2> : tensor<1xi64>
  %2 = onnx.Slice %1, %start, %end, %axis, %none : (tensor<1x1x?xf32, #onnx.sizes<1, 1, "t+2">>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, none) -> tensor<1x1x?xf32, #onnx.sizes<1, 1, "t">>
  return %2 : tensor<1x1x?xf32, #onnx.sizes<1, 1, "t">>
}

// -----

// Channels 1 to 3 of five, in two parts: the weights and biases of the others go, and the parts keep their places.
// CHECK-LABEL: @channels
// CHECK: onnx.Conv {{.*}} : (tensor<1x1x4xf32>, tensor<3x1x1xf32>, tensor<3xf32>) -> tensor<1x3x4xf32>
// CHECK: onnx.Slice {{.*}} -> tensor<1x1x4xf32>
// CHECK: onnx.Slice {{.*}} -> tensor<1x2x4xf32>
func.func @channels(%x: tensor<1x1x4xf32>) -> (tensor<1x1x4xf32>, tensor<1x2x4xf32>) {
  %none = onnx.None : none
  %w = onnx.Constant dense<[[[1.0]], [[2.0]], [[3.0]], [[4.0]], [[5.0]]]> : tensor<5x1x1xf32>
  %b = onnx.Constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>
  %0 = onnx.Conv %x, %w, %b {} : (tensor<1x1x4xf32>, tensor<5x1x1xf32>, tensor<5xf32>) -> tensor<1x5x4xf32>
  %one = onnx.Constant dense<1> : tensor<1xi64>
  %two = onnx.Constant dense<2> : tensor<1xi64>
  %last = onnx.Constant dense<-1> : tensor<1xi64>
  %1 = onnx.Slice %0, %one, %two, %one, %none : (tensor<1x5x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, none) -> tensor<1x1x4xf32>
  %2 = onnx.Slice %0, %two, %last, %one, %none : (tensor<1x5x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, none) -> tensor<1x2x4xf32>
  return %1, %2 : tensor<1x1x4xf32>, tensor<1x2x4xf32>
}

// -----

// Nothing changes: the first place reads the image and not only padding, and somebody else reads all of it.
// CHECK-LABEL: @needed
// CHECK: onnx.Conv {{.*}} {pads = array<i64: 1, 1>, strides = array<i64: 2>}
// CHECK: onnx.Conv {{.*}} {pads = array<i64: 2, 2>}
func.func @needed(%x: tensor<1x1x8xf32>) -> (tensor<1x1x3xf32>, tensor<1x1x8xf32>, tensor<1x1x10xf32>) {
  %none = onnx.None : none
  %w = onnx.Constant dense<[[[1.0, 2.0, 3.0]]]> : tensor<1x1x3xf32>
  %v = onnx.Constant dense<[[[3.0, 2.0, 1.0]]]> : tensor<1x1x3xf32>
  %0 = onnx.Conv %x, %w, %none {pads = array<i64: 1, 1>, strides = array<i64: 2>} : (tensor<1x1x8xf32>, tensor<1x1x3xf32>, none) -> tensor<1x1x4xf32>
  %1 = onnx.Conv %x, %v, %none {pads = array<i64: 2, 2>} : (tensor<1x1x8xf32>, tensor<1x1x3xf32>, none) -> tensor<1x1x10xf32>
  %one = onnx.Constant dense<1> : tensor<1xi64>
  %far = onnx.Constant dense<100> : tensor<1xi64>
  %zero = onnx.Constant dense<0> : tensor<1xi64>
  %less = onnx.Constant dense<-2> : tensor<1xi64>
  %axis = onnx.Constant dense<2> : tensor<1xi64>
  %2 = onnx.Slice %0, %one, %far, %axis, %none : (tensor<1x1x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, none) -> tensor<1x1x3xf32>
  %3 = onnx.Slice %1, %zero, %less, %axis, %none : (tensor<1x1x10xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, none) -> tensor<1x1x8xf32>
  return %2, %3, %1 : tensor<1x1x3xf32>, tensor<1x1x8xf32>, tensor<1x1x10xf32>
}
