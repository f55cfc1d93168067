// A recurrence takes its weights apart by directions: what dequantizes them does not stand in front of a product. R stays bytes, with a scale for each row.
// RUN: %ingot-opt --integer-use-integers --partition-place=target=znver5 --integer-choose-forms=target=znver5 --split-input-file %s | FileCheck %s

// Both directions have a part of W and R; scales are of rows. 49 units of an RNN. W meets floats here, so that these become digits.
// CHECK-LABEL: @of_two_ways
// CHECK-NOT: onnx.Slice
// CHECK: formats.SplitIntegerMatMul
// CHECK: %[[R:.*]] = onnx.Constant dense_resource<[[BYTES:.*]]> : tensor<49x49xi8>
// CHECK: %[[S:.*]] = onnx.Constant dense<2.500000e-01> : tensor<49xf32>
// CHECK: onnx.Recurrence %{{.*}}, %[[R]], %[[N:.*]], %[[N]], %[[N]], %[[N]], %[[N]], %[[S]], %[[N]] {{.*}}reverse
// CHECK: [[BYTES]]: "0x400000000505
func.func @of_two_ways(%x: tensor<2x1x49xf32>) -> tensor<2x1x49xf32> {
  %n = onnx.None : none
  %w = onnx.Constant dense<3> : tensor<2x49x49xi8>
  %r = onnx.Constant dense<5> : tensor<2x49x49xi8>
  %s = onnx.Constant dense<0.25> : tensor<49x1xf32>
  %z = onnx.Constant dense<0> : tensor<49x1xi8>
  %0 = onnx.Dequantize %w, %s, %z : (tensor<2x49x49xi8>, tensor<49x1xf32>, tensor<49x1xi8>) -> tensor<2x49x49xf32>
  %1 = onnx.Dequantize %r, %s, %z : (tensor<2x49x49xi8>, tensor<49x1xf32>, tensor<49x1xi8>) -> tensor<2x49x49xf32>
  %a = onnx.Constant dense<0> : tensor<1xi64>
  %b = onnx.Constant dense<1> : tensor<1xi64>
  %c = onnx.Constant dense<2> : tensor<1xi64>
  %2 = onnx.Slice %0, %b, %c, %a, %b : (tensor<2x49x49xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x49x49xf32>
  %3 = onnx.Slice %1, %b, %c, %a, %b : (tensor<2x49x49xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x49x49xf32>
  %shape = onnx.Constant dense<49> : tensor<2xi64>
  %4 = onnx.Reshape %2, %shape {allowzero = 1 : i64} : (tensor<1x49x49xf32>, tensor<2xi64>) -> tensor<49x49xf32>
  %5 = onnx.Reshape %3, %shape {allowzero = 1 : i64} : (tensor<1x49x49xf32>, tensor<2xi64>) -> tensor<49x49xf32>
  %6 = onnx.MatMul %x, %4 {transB} : (tensor<2x1x49xf32>, tensor<49x49xf32>) -> tensor<2x1x49xf32>
  %y, %h, %cell = onnx.Recurrence %6, %5, %n, %n, %n, %n, %n, %n, %n {activations = ["tanh"], alphas = array<f32: 0.0>, betas = array<f32: 0.0>, kind = "RNN", reverse} : (tensor<2x1x49xf32>, tensor<49x49xf32>, none, none, none, none, none, none, none) -> (tensor<2x1x49xf32>, tensor<1x49xf32>, tensor<1x49xf32>)
  return %y : tensor<2x1x49xf32>
}

// -----

// Unsigned bytes with a zero point are signed ones with another. A bounded state is asked for: with Relu it may be infinite.
// CHECK-LABEL: @zero_points
// CHECK: %[[R:.*]] = onnx.Constant dense_resource<[[BYTES:.*]]> : tensor<56x56xi8>
// CHECK: %[[Z:.*]] = onnx.Constant dense<7> : tensor<56xi32>
// CHECK: onnx.Recurrence %arg0, %[[R]], {{.*}}, %[[Z]] {activations = ["tanh"]
// CHECK: onnx.Recurrence %arg0, %{{.*}} {activations = ["relu"]{{.*}} tensor<56x56xf32>
// CHECK: [[BYTES]]: "0x400000008585
func.func @zero_points(%p: tensor<2x1x56xf32>) -> (tensor<2x1x56xf32>, tensor<2x1x56xf32>) {
  %n = onnx.None : none
  %r = onnx.Constant dense<5> : tensor<56x56xui8>
  %s = onnx.Constant dense<0.25> : tensor<f32>
  %z = onnx.Constant dense<135> : tensor<ui8>
  %0 = onnx.Dequantize %r, %s, %z : (tensor<56x56xui8>, tensor<f32>, tensor<ui8>) -> tensor<56x56xf32>
  %y, %h, %c = onnx.Recurrence %p, %0, %n, %n, %n, %n, %n, %n, %n {activations = ["tanh"], alphas = array<f32: 0.0>, betas = array<f32: 0.0>, kind = "RNN"} : (tensor<2x1x56xf32>, tensor<56x56xf32>, none, none, none, none, none, none, none) -> (tensor<2x1x56xf32>, tensor<1x56xf32>, tensor<1x56xf32>)
  %v, %i, %d = onnx.Recurrence %p, %0, %n, %n, %n, %n, %n, %n, %n {activations = ["relu"], alphas = array<f32: 0.0>, betas = array<f32: 0.0>, kind = "RNN"} : (tensor<2x1x56xf32>, tensor<56x56xf32>, none, none, none, none, none, none, none) -> (tensor<2x1x56xf32>, tensor<1x56xf32>, tensor<1x56xf32>)
  return %y, %v : tensor<2x1x56xf32>, tensor<2x1x56xf32>
}
