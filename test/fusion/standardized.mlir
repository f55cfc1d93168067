// Normalisations written as many ops become Standardize, with scale and bias behind it.
// RUN: %ingot-opt --fusion-fuse --split-input-file %s | FileCheck %s

// CHECK-LABEL: @layerNorm
// CHECK: %[[S:.*]] = onnx.Standardize %arg0 {axes = array<i64: 1>, epsilon = 9.99999974E-6 : f32}
// CHECK: onnx.Mul %[[S]], %{{.*}}
// CHECK: onnx.Add
// CHECK-NOT: onnx.Reduce
func.func @layerNorm(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %two = onnx.Constant dense<2.0> : tensor<f32>
  %epsilon = onnx.Constant dense<1.0e-5> : tensor<f32>
  %scale = onnx.Constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %0 = onnx.Reduce %x {axes = array<i64: 1>, keepdims, kind = "Mean"} : (tensor<4x3xf32>) -> tensor<4x1xf32>
  %1 = onnx.Sub %x, %0 : (tensor<4x3xf32>, tensor<4x1xf32>) -> tensor<4x3xf32>
  %2 = onnx.Pow %1, %two : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>
  %3 = onnx.Reduce %2 {axes = array<i64: 1>, keepdims, kind = "Mean"} : (tensor<4x3xf32>) -> tensor<4x1xf32>
  %4 = onnx.Add %3, %epsilon : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %5 = onnx.Sqrt %4 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %6 = onnx.Div %1, %5 : (tensor<4x3xf32>, tensor<4x1xf32>) -> tensor<4x3xf32>
  %7 = onnx.Mul %6, %scale : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %8 = onnx.Add %7, %scale : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  return %8 : tensor<4x3xf32>
}

// -----

// The scale before the quotient, the square as a product.
// CHECK-LABEL: @scaleFirst
// CHECK: %[[S:.*]] = onnx.Standardize %arg0 {axes = array<i64: 1, 2>
// CHECK: %[[Y:.*]] = onnx.Mul %[[S]]
// CHECK: return %[[Y]]
func.func @scaleFirst(%x: tensor<1x4x3xf32>) -> tensor<1x4x3xf32> {
  %epsilon = onnx.Constant dense<1.0e-5> : tensor<f32>
  %scale = onnx.Constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %0 = onnx.Reduce %x {axes = array<i64: 1, 2>, keepdims, kind = "Mean"} : (tensor<1x4x3xf32>) -> tensor<1x1x1xf32>
  %1 = onnx.Sub %x, %0 : (tensor<1x4x3xf32>, tensor<1x1x1xf32>) -> tensor<1x4x3xf32>
  %2 = onnx.Mul %1, %1 : (tensor<1x4x3xf32>, tensor<1x4x3xf32>) -> tensor<1x4x3xf32>
  %3 = onnx.Reduce %2 {axes = array<i64: 1, 2>, keepdims, kind = "Mean"} : (tensor<1x4x3xf32>) -> tensor<1x1x1xf32>
  %4 = onnx.Add %epsilon, %3 : (tensor<f32>, tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  %5 = onnx.Sqrt %4 : (tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  %6 = onnx.Mul %scale, %1 : (tensor<3xf32>, tensor<1x4x3xf32>) -> tensor<1x4x3xf32>
  %7 = onnx.Div %6, %5 : (tensor<1x4x3xf32>, tensor<1x1x1xf32>) -> tensor<1x4x3xf32>
  return %7 : tensor<1x4x3xf32>
}

// -----

// RMS normalisation, by a reciprocal root.
// CHECK-LABEL: @rms
// CHECK: %[[S:.*]] = onnx.Standardize %arg0 {axes = array<i64: 1>, epsilon = {{.*}}, uncentered}
// CHECK: return %[[S]]
func.func @rms(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %two = onnx.Constant dense<2.0> : tensor<f32>
  %epsilon = onnx.Constant dense<1.0e-5> : tensor<f32>
  %0 = onnx.Pow %x, %two : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>
  %1 = onnx.Reduce %0 {axes = array<i64: 1>, keepdims, kind = "Mean"} : (tensor<4x3xf32>) -> tensor<4x1xf32>
  %2 = onnx.Add %1, %epsilon : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %3 = onnx.Sqrt %2 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %4 = onnx.Reciprocal %3 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %5 = onnx.Mul %x, %4 : (tensor<4x3xf32>, tensor<4x1xf32>) -> tensor<4x3xf32>
  return %5 : tensor<4x3xf32>
}

// -----

// Over axes that are not the last ones, or with a sum in place of the mean, it is left.
// CHECK-LABEL: @negative
// CHECK-NOT: onnx.Standardize
// CHECK: return
func.func @negative(%x: tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>) {
  %epsilon = onnx.Constant dense<1.0e-5> : tensor<f32>
  %0 = onnx.Mul %x, %x : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %1 = onnx.Reduce %0 {axes = array<i64: 0>, keepdims, kind = "Mean"} : (tensor<4x3xf32>) -> tensor<1x3xf32>
  %2 = onnx.Add %1, %epsilon : (tensor<1x3xf32>, tensor<f32>) -> tensor<1x3xf32>
  %3 = onnx.Sqrt %2 : (tensor<1x3xf32>) -> tensor<1x3xf32>
  %4 = onnx.Div %x, %3 : (tensor<4x3xf32>, tensor<1x3xf32>) -> tensor<4x3xf32>
  %5 = onnx.Reduce %0 {axes = array<i64: 1>, keepdims, kind = "Sum"} : (tensor<4x3xf32>) -> tensor<4x1xf32>
  %6 = onnx.Add %5, %epsilon : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %7 = onnx.Sqrt %6 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %8 = onnx.Div %x, %7 : (tensor<4x3xf32>, tensor<4x1xf32>) -> tensor<4x3xf32>
  return %4, %8 : tensor<4x3xf32>, tensor<4x3xf32>
}
