// Factors and offsets a channel become weights and bias.
// RUN: %ingot-opt --fusion-fuse --split-input-file %s | FileCheck %s

// Batch normalisation, as simplify leaves it, over a grouped convolution: one op.
// CHECK-LABEL: @batchNormalization
func.func @batchNormalization(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x3xf32> {
  // CHECK-DAG: %[[W:.*]] = onnx.Constant dense<{{\[\[\[\[}}4.000000e+00, 2.000000e+00{{.*}}, {{\[\[\[}}1.000000e+01{{.*}}> : tensor<2x1x1x2xf32>
  // CHECK-DAG: %[[B:.*]] = onnx.Constant dense<[1.200000e+01, 2.500000e+01]> : tensor<2xf32>
  // CHECK: %[[Y:.*]] = onnx.Conv %arg0, %[[W]], %[[B]] {group = 2 : i64}
  // CHECK-NEXT: return %[[Y]]
  %w = onnx.Constant dense<[[[[2.0, 1.0]]], [[[5.0, 1.0]]]]> : tensor<2x1x1x2xf32>
  %b = onnx.Constant dense<[1.0, 2.0]> : tensor<2xf32>
  %f = onnx.Constant dense<[[[2.0]], [[2.0]]]> : tensor<2x1x1xf32>
  %o = onnx.Constant dense<[[[10.0]], [[21.0]]]> : tensor<2x1x1xf32>
  %0 = onnx.Conv %x, %w, %b {group = 2 : i64} : (tensor<1x2x4x4xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>) -> tensor<1x2x4x3xf32>
  %1 = onnx.Mul %0, %f : (tensor<1x2x4x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x3xf32>
  %2 = onnx.Add %1, %o : (tensor<1x2x4x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x3xf32>
  return %2 : tensor<1x2x4x3xf32>
}

// -----

// A difference the other way round and a quotient by a scalar, no bias before: w * -1 / 4, c / 4.
// CHECK-LABEL: @quotientOfDifference
func.func @quotientOfDifference(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32> {
  // CHECK-DAG: %[[W:.*]] = onnx.Constant dense<{{\[\[\[\[}}-5.000000e-01{{.*}}, {{\[\[\[}}-2.000000e+00{{.*}}> : tensor<2x1x1x1xf32>
  // CHECK-DAG: %[[B:.*]] = onnx.Constant dense<[2.500000e-01, 5.000000e-01]> : tensor<2xf32>
  // CHECK: %[[Y:.*]] = onnx.Conv %arg0, %[[W]], %[[B]]
  // CHECK-NEXT: return %[[Y]]
  %none = onnx.None : none
  %w = onnx.Constant dense<[[[[2.0]]], [[[8.0]]]]> : tensor<2x1x1x1xf32>
  %c = onnx.Constant dense<[[[[1.0]], [[2.0]]]]> : tensor<1x2x1x1xf32>
  %four = onnx.Constant dense<4.0> : tensor<f32>
  %0 = onnx.Conv %x, %w, %none : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>, none) -> tensor<1x2x4x4xf32>
  %1 = onnx.Sub %c, %0 : (tensor<1x2x1x1xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %2 = onnx.Div %1, %four : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  return %2 : tensor<1x2x4x4xf32>
}

// -----

// The weights of a transposed convolution have the output channel second, in each group.
// CHECK-LABEL: @transposed
func.func @transposed(%x: tensor<1x4x4xf32>) -> tensor<1x2x4xf32> {
  // CHECK-DAG: dense<{{\[\[\[}}1.000000e+01{{\]\], \[\[}}2.000000e+01{{\]\], \[\[}}3.000000e+02{{\]\], \[\[}}4.000000e+02{{\]\]\]}}> : tensor<4x1x1xf32>
  // CHECK-NOT: onnx.Mul
  %none = onnx.None : none
  %w = onnx.Constant dense<[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]> : tensor<4x1x1xf32>
  %f = onnx.Constant dense<[[10.0], [100.0]]> : tensor<2x1xf32>
  %0 = onnx.ConvTranspose %x, %w, %none {group = 2 : i64} : (tensor<1x4x4xf32>, tensor<4x1x1xf32>, none) -> tensor<1x2x4xf32>
  %1 = onnx.Mul %0, %f : (tensor<1x2x4xf32>, tensor<2x1xf32>) -> tensor<1x2x4xf32>
  return %1 : tensor<1x2x4xf32>
}

// -----

// Something else reads the convolution: nothing changes.
// CHECK-LABEL: @otherUse
// CHECK: onnx.Conv
// CHECK: onnx.Mul
func.func @otherUse(%x: tensor<1x1x4x4xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) {
  %none = onnx.None : none
  %w = onnx.Constant dense<[[[[2.0]]], [[[8.0]]]]> : tensor<2x1x1x1xf32>
  %c = onnx.Constant dense<3.0> : tensor<f32>
  %0 = onnx.Conv %x, %w, %none : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>, none) -> tensor<1x2x4x4xf32>
  %1 = onnx.Mul %0, %c : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  return %0, %1 : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>
}

// -----

// Weights that are not constant cannot be scaled; the bias can be shifted.
// CHECK-LABEL: @dynamicWeights
func.func @dynamicWeights(%x: tensor<1x1x4x4xf32>, %w: tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32> {
  // CHECK: onnx.Conv %arg0, %arg1, %[[B:.*]] :
  // CHECK-NOT: onnx.Add
  // CHECK: onnx.Mul
  %none = onnx.None : none
  %c = onnx.Constant dense<3.0> : tensor<f32>
  %0 = onnx.Conv %x, %w, %none : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>, none) -> tensor<1x2x4x4xf32>
  %1 = onnx.Add %0, %c : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  %2 = onnx.Mul %1, %c : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  return %2 : tensor<1x2x4x4xf32>
}

// -----

// Weights that another convolution reads are not copied.
// CHECK-LABEL: @sharedWeights
// CHECK: onnx.Mul
func.func @sharedWeights(%x: tensor<1x1x4x4xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) {
  %none = onnx.None : none
  %w = onnx.Constant dense<[[[[2.0]]], [[[8.0]]]]> : tensor<2x1x1x1xf32>
  %c = onnx.Constant dense<3.0> : tensor<f32>
  %0 = onnx.Conv %x, %w, %none : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>, none) -> tensor<1x2x4x4xf32>
  %1 = onnx.Mul %0, %c : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  %2 = onnx.Conv %x, %w, %none : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>, none) -> tensor<1x2x4x4xf32>
  return %1, %2 : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>
}

// -----

// Along another axis than the channels.
// CHECK-LABEL: @otherAxis
// CHECK: onnx.Conv
// CHECK: onnx.Mul
func.func @otherAxis(%x: tensor<1x1x4x2xf32>) -> tensor<1x2x4x2xf32> {
  %none = onnx.None : none
  %w = onnx.Constant dense<[[[[2.0]]], [[[8.0]]]]> : tensor<2x1x1x1xf32>
  %c = onnx.Constant dense<[3.0, 4.0]> : tensor<2xf32>
  %0 = onnx.Conv %x, %w, %none : (tensor<1x1x4x2xf32>, tensor<2x1x1x1xf32>, none) -> tensor<1x2x4x2xf32>
  %1 = onnx.Mul %0, %c : (tensor<1x2x4x2xf32>, tensor<2xf32>) -> tensor<1x2x4x2xf32>
  return %1 : tensor<1x2x4x2xf32>
}

// -----

// Before a convolution without padding: w = [2 * 10, 3 * 100], b = (2 + 0) * 1 + (3 + 0) * 4 with the offsets.
// CHECK-LABEL: @before
func.func @before(%x: tensor<1x2x4xf32>) -> tensor<1x1x3xf32> {
  // CHECK-DAG: %[[W:.*]] = onnx.Constant dense<{{\[\[\[}}2.000000e+01, 0.000000e+00{{\], \[}}3.000000e+02, 0.000000e+00{{\]\]\]}}> : tensor<1x2x2xf32>
  // CHECK-DAG: %[[B:.*]] = onnx.Constant dense<1.400000e+01> : tensor<1xf32>
  // CHECK: %[[Y:.*]] = onnx.Conv %arg0, %[[W]], %[[B]]
  // CHECK-NEXT: return %[[Y]]
  %none = onnx.None : none
  %w = onnx.Constant dense<[[[2.0, 0.0], [3.0, 0.0]]]> : tensor<1x2x2xf32>
  %f = onnx.Constant dense<[[10.0], [100.0]]> : tensor<2x1xf32>
  %o = onnx.Constant dense<[[1.0], [4.0]]> : tensor<2x1xf32>
  %0 = onnx.Mul %x, %f : (tensor<1x2x4xf32>, tensor<2x1xf32>) -> tensor<1x2x4xf32>
  %1 = onnx.Add %0, %o : (tensor<1x2x4xf32>, tensor<2x1xf32>) -> tensor<1x2x4xf32>
  %2 = onnx.Conv %1, %w, %none : (tensor<1x2x4xf32>, tensor<1x2x2xf32>, none) -> tensor<1x1x3xf32>
  return %2 : tensor<1x1x3xf32>
}

// -----

// With padding only the factor is taken: the padding's zeros stay zeros.
// CHECK-LABEL: @beforePadded
func.func @beforePadded(%x: tensor<1x1x4xf32>) -> tensor<1x1x4xf32> {
  // CHECK: %[[S:.*]] = onnx.Add
  // CHECK-NOT: onnx.Mul
  // CHECK: %[[W:.*]] = onnx.Constant dense<{{\[\[\[}}2.000000e+00, 4.000000e+00, 6.000000e+00]]]>
  // CHECK: onnx.Conv %[[S]], %[[W]]
  %none = onnx.None : none
  %w = onnx.Constant dense<[[[1.0, 2.0, 3.0]]]> : tensor<1x1x3xf32>
  %two = onnx.Constant dense<2.0> : tensor<f32>
  %0 = onnx.Add %x, %two : (tensor<1x1x4xf32>, tensor<f32>) -> tensor<1x1x4xf32>
  %1 = onnx.Mul %0, %two : (tensor<1x1x4xf32>, tensor<f32>) -> tensor<1x1x4xf32>
  %2 = onnx.Conv %1, %w, %none {pads = array<i64: 1, 1>} : (tensor<1x1x4xf32>, tensor<1x1x3xf32>, none) -> tensor<1x1x4xf32>
  return %2 : tensor<1x1x4xf32>
}
