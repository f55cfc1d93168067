// Two constants that are added to integers are one.
// RUN: %ingot-opt --fusion-fuse --graph-simplify --split-input-file %s | FileCheck %s

// CHECK-LABEL: @both
// CHECK: %[[C:.*]] = onnx.Constant dense<{{\[\[}}[9]], {{\[\[}}18]]]>
// CHECK: %[[Y:.*]] = onnx.Add %arg0, %[[C]]
// CHECK-NEXT: return %[[Y]]
func.func @both(%x: tensor<1x2x3x3xi32>) -> tensor<1x2x3x3xi32> {
  %zero = onnx.Constant dense<[[[1]], [[2]]]> : tensor<2x1x1xi32>
  %bias = onnx.Constant dense<[[[10]], [[20]]]> : tensor<2x1x1xi32>
  %0 = onnx.Sub %x, %zero : (tensor<1x2x3x3xi32>, tensor<2x1x1xi32>) -> tensor<1x2x3x3xi32>
  %1 = onnx.Add %0, %bias : (tensor<1x2x3x3xi32>, tensor<2x1x1xi32>) -> tensor<1x2x3x3xi32>
  return %1 : tensor<1x2x3x3xi32>
}

// -----

// CHECK-LABEL: @less
// CHECK: %[[C:.*]] = onnx.Constant dense<7>
// CHECK: onnx.Sub %arg0, %[[C]]
// CHECK: %[[D:.*]] = onnx.Constant dense<-1>
// CHECK: onnx.Add %arg1, %[[D]]
func.func @less(%x: tensor<4xi32>, %y: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  %three = onnx.Constant dense<3> : tensor<i32>
  %four = onnx.Constant dense<4> : tensor<i32>
  %0 = onnx.Sub %x, %three : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %1 = onnx.Sub %0, %four : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %2 = onnx.Add %y, %three : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %3 = onnx.Sub %2, %four : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  return %1, %3 : tensor<4xi32>, tensor<4xi32>
}

// -----

// Floats are rounded, and what others read stays.
// CHECK-LABEL: @apart
// CHECK: onnx.Sub
// CHECK: onnx.Add
// CHECK: onnx.Sub
// CHECK: onnx.Add
func.func @apart(%x: tensor<4xf32>, %y: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>, tensor<4xi32>) {
  %float = onnx.Constant dense<3.0> : tensor<f32>
  %three = onnx.Constant dense<3> : tensor<i32>
  %0 = onnx.Sub %x, %float : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = onnx.Add %0, %float : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = onnx.Sub %y, %three : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %3 = onnx.Add %2, %three : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  return %1, %2, %3 : tensor<4xf32>, tensor<4xi32>, tensor<4xi32>
}
