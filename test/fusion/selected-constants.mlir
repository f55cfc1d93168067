// Rows of constants are read before they are computed with.
// RUN: %ingot-opt --fusion-fuse --split-input-file %s | FileCheck %s

// A scale for each column broadcasts to the rows as it is.
// CHECK-LABEL: @columns
// CHECK-DAG: %[[W:.*]] = onnx.Constant {{.*}} : tensor<4x2xf16>
// CHECK-DAG: %[[S:.*]] = onnx.Constant {{.*}} : tensor<2xf32>
// CHECK: %[[G:.*]] = onnx.Gather %[[W]], %arg0 {{.*}}: (tensor<4x2xf16>, tensor<1x3xi64>) -> tensor<1x3x2xf16>
// CHECK: %[[C:.*]] = onnx.Cast %[[G]]
// CHECK: %[[Y:.*]] = onnx.Mul %[[C]], %[[S]]
// CHECK: return %[[Y]]
func.func @columns(%i: tensor<1x3xi64>) -> tensor<1x3x2xf32> {
  %w = onnx.Constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf16>
  %s = onnx.Constant dense<[0.5, 2.0]> : tensor<2xf32>
  %0 = onnx.Cast %w {to = 1 : i64} : (tensor<4x2xf16>) -> tensor<4x2xf32>
  %1 = onnx.Mul %0, %s : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  %2 = onnx.Gather %1, %i : (tensor<4x2xf32>, tensor<1x3xi64>) -> tensor<1x3x2xf32>
  return %2 : tensor<1x3x2xf32>
}

// -----

// Scales of rows are gathered as the rows are; along columns they have as many axes of size 1 as the indices have axes.
// CHECK-LABEL: @rows
// CHECK: %[[Q:.*]] = onnx.Gather %{{.*}}, %arg0 {axis = 1 : i64} : (tensor<2x4xi8>, tensor<1x3xi64>) -> tensor<2x1x3xi8>
// CHECK: %[[C:.*]] = onnx.Cast %[[Q]]
// CHECK: %[[S:.*]] = onnx.Reshape %{{.*}} : (tensor<2x1xf32>, tensor<3xi64>) -> tensor<2x1x1xf32>
// CHECK: onnx.Mul %[[C]], %[[S]]
func.func @rows(%i: tensor<1x3xi64>) -> tensor<2x1x3xf32> {
  %w = onnx.Constant dense<[[1, 2, 3, 4], [5, 6, 7, 8]]> : tensor<2x4xi8>
  %s = onnx.Constant dense<[[0.5], [2.0]]> : tensor<2x1xf32>
  %0 = onnx.Cast %w {to = 1 : i64} : (tensor<2x4xi8>) -> tensor<2x4xf32>
  %1 = onnx.Mul %0, %s : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %2 = onnx.Gather %1, %i {axis = -1 : i64} : (tensor<2x4xf32>, tensor<1x3xi64>) -> tensor<2x1x3xf32>
  return %2 : tensor<2x1x3xf32>
}

// -----

// An index without axes takes one row, and its axis goes from every operand.
// CHECK-LABEL: @one
// CHECK: onnx.Gather %{{.*}}, %arg0 {{.*}}: (tensor<2x3xf16>, tensor<i64>) -> tensor<3xf16>
// CHECK: onnx.Reshape %{{.*}} : (tensor<1x3xf32>, tensor<1xi64>) -> tensor<3xf32>
func.func @one(%i: tensor<i64>) -> tensor<3xf32> {
  %w = onnx.Constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf16>
  %s = onnx.Constant dense<[[0.5, 2.0, 3.0]]> : tensor<1x3xf32>
  %0 = onnx.Cast %w {to = 1 : i64} : (tensor<2x3xf16>) -> tensor<2x3xf32>
  %1 = onnx.Mul %0, %s : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %2 = onnx.Gather %1, %i {axis = 0 : i64} : (tensor<2x3xf32>, tensor<i64>) -> tensor<3xf32>
  return %2 : tensor<3xf32>
}

// -----

// Of two sliced axes, each operand is sliced along those that it has.
// CHECK-LABEL: @sliced
// CHECK-DAG: onnx.Slice %{{.*}} : (tensor<4x3xi8>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, none) -> tensor<2x2xi8>
// CHECK-DAG: onnx.Slice %{{.*}} : (tensor<3xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, none)
// CHECK: onnx.Mul {{.*}} -> tensor<2x2xf32>
func.func @sliced() -> tensor<2x2xf32> {
  %w = onnx.Constant dense<[[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]]> : tensor<4x3xi8>
  %s = onnx.Constant dense<[0.5, 2.0, 3.0]> : tensor<3xf32>
  %starts = onnx.Constant dense<[1, 0]> : tensor<2xi64>
  %ends = onnx.Constant dense<[3, 2]> : tensor<2xi64>
  %axes = onnx.Constant dense<[0, 1]> : tensor<2xi64>
  %none = onnx.None : none
  %0 = onnx.Cast %w {to = 1 : i64} : (tensor<4x3xi8>) -> tensor<4x3xf32>
  %1 = onnx.Mul %0, %s : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %2 = onnx.Slice %1, %starts, %ends, %axes, %none : (tensor<4x3xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, none) -> tensor<2x2xf32>
  return %2 : tensor<2x2xf32>
}

// -----

// What a run computes stays where it is, and so does a table of which more rows are read than it has.
// CHECK-LABEL: @left
// CHECK: %[[E:.*]] = onnx.Exp %arg0
// CHECK: onnx.Gather %[[E]], %arg1
// CHECK: %[[C:.*]] = onnx.Cast
// CHECK: onnx.Gather %[[C]], %arg2
func.func @left(%x: tensor<4x2xf32>, %i: tensor<2xi64>, %many: tensor<9xi64>) -> (tensor<2x2xf32>, tensor<9x2xf32>) {
  %w = onnx.Constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf16>
  %0 = onnx.Exp %x : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %1 = onnx.Gather %0, %i {axis = 0 : i64} : (tensor<4x2xf32>, tensor<2xi64>) -> tensor<2x2xf32>
  %2 = onnx.Cast %w {to = 1 : i64} : (tensor<4x2xf16>) -> tensor<4x2xf32>
  %3 = onnx.Gather %2, %many {axis = 0 : i64} : (tensor<4x2xf32>, tensor<9xi64>) -> tensor<9x2xf32>
  return %1, %3 : tensor<2x2xf32>, tensor<9x2xf32>
}

// -----

// Sizes that only a run knows are no constant's.
// CHECK-LABEL: @open
// CHECK: %[[E:.*]] = onnx.Exp %arg0
// CHECK: onnx.Gather %[[E]], %arg1
func.func @open(%x: tensor<?x2xf32, #onnx.sizes<"n", 2>>, %i: tensor<2xi64>) -> tensor<2x2xf32> {
  %0 = onnx.Exp %x : (tensor<?x2xf32, #onnx.sizes<"n", 2>>) -> tensor<?x2xf32, #onnx.sizes<"n", 2>>
  %1 = onnx.Gather %0, %i {axis = 0 : i64} : (tensor<?x2xf32, #onnx.sizes<"n", 2>>, tensor<2xi64>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}

// -----

// A part of a constant whose bounds only a run knows is no constant: its size is not known, either.
// CHECK-LABEL: @cut
// CHECK: %[[S:.*]] = onnx.Slice
// CHECK: %[[C:.*]] = onnx.Cast %[[S]]
// CHECK: onnx.Gather %[[C]], %arg1
func.func @cut(%end: tensor<1xi64>, %i: tensor<2xi64>) -> tensor<2x2xf32> {
  %w = onnx.Constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf16>
  %zero = onnx.Constant dense<0> : tensor<1xi64>
  %none = onnx.None : none
  %0 = onnx.Slice %w, %zero, %end, %zero, %none : (tensor<4x2xf16>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, none) -> tensor<?x2xf16, #onnx.sizes<"n", 2>>
  %1 = onnx.Cast %0 {to = 1 : i64} : (tensor<?x2xf16, #onnx.sizes<"n", 2>>) -> tensor<?x2xf32, #onnx.sizes<"n", 2>>
  %2 = onnx.Gather %1, %i {axis = 0 : i64} : (tensor<?x2xf32, #onnx.sizes<"n", 2>>, tensor<2xi64>) -> tensor<2x2xf32>
  return %2 : tensor<2x2xf32>
}
