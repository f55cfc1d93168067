// What can be computed at compile time is, within bounds; what nobody reads goes.
// RUN: %ingot-opt --graph-simplify --split-input-file %s | FileCheck %s

// An exporter's way to say "flatten": Shape, Gather, Unsqueeze, Concat, Reshape.
// CHECK-LABEL: @shapeChain
// CHECK: %[[S:.*]] = onnx.Constant dense<[2, -1]> : tensor<2xi64>
// CHECK-NEXT: %[[Y:.*]] = onnx.Reshape %arg0, %[[S]]
// CHECK-NEXT: return %[[Y]] : tensor<2x12xf32>
func.func @shapeChain(%x: tensor<2x3x4xf32>) -> tensor<?x?xf32> {
  %zero = onnx.Constant dense<0> : tensor<i64>
  %axis = onnx.Constant dense<0> : tensor<1xi64>
  %rest = onnx.Constant dense<-1> : tensor<1xi64>
  %0 = onnx.Shape %x : (tensor<2x3x4xf32>) -> tensor<3xi64>
  %1 = onnx.Gather %0, %zero {axis = 0 : i64} : (tensor<3xi64>, tensor<i64>) -> tensor<i64>
  %2 = onnx.Unsqueeze %1, %axis : (tensor<i64>, tensor<1xi64>) -> tensor<1xi64>
  %3 = onnx.Concat %2, %rest {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %4 = onnx.Reshape %x, %3 : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %4 : tensor<?x?xf32>
}

// -----

// Arithmetic on constants.
// CHECK-LABEL: @folded
// CHECK-NEXT: %[[C:.*]] = onnx.Constant dense<[5.000000e+00, 7.000000e+00]> : tensor<2xf32>
// CHECK-NEXT: return %[[C]]
func.func @folded() -> tensor<2xf32> {
  %a = onnx.Constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = onnx.Constant dense<2.0> : tensor<f32>
  %c = onnx.Constant dense<3.0> : tensor<f32>
  %0 = onnx.Mul %a, %b : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %1 = onnx.Add %0, %c : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -----

// A result beyond a megabyte, and larger than what it is made from, is left to the model's run.
// CHECK-LABEL: @bounded
// CHECK: onnx.Expand
func.func @bounded() -> tensor<1024x512xf32> {
  %row = onnx.Constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %shape = onnx.Constant dense<[524288]> : tensor<1xi64>
  %two = onnx.Constant dense<[2, 262144]> : tensor<2xi64>
  %end = onnx.Constant dense<[1024, 512]> : tensor<2xi64>
  %0 = onnx.Expand %row, %two : (tensor<2x1xf32>, tensor<2xi64>) -> tensor<2x262144xf32>
  %1 = onnx.Reshape %0, %end : (tensor<2x262144xf32>, tensor<2xi64>) -> tensor<1024x512xf32>
  return %1 : tensor<1024x512xf32>
}

// -----

// One value in all places takes no memory, however many they are.
// CHECK-LABEL: @splat
// CHECK-NEXT: onnx.Constant dense<0.000000e+00> : tensor<1000000x1000xf32>
// CHECK-NEXT: return
func.func @splat() -> tensor<1000000x1000xf32> {
  %shape = onnx.Constant dense<[1000000, 1000]> : tensor<2xi64>
  %0 = onnx.ConstantOfShape %shape : (tensor<2xi64>) -> tensor<1000000x1000xf32>
  return %0 : tensor<1000000x1000xf32>
}

// -----

// CHECK-LABEL: @dead
// CHECK-NEXT: return %arg0
func.func @dead(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = onnx.Relu %x : (tensor<2xf32>) -> tensor<2xf32>
  %1 = onnx.Sigmoid %0 : (tensor<2xf32>) -> tensor<2xf32>
  return %x : tensor<2xf32>
}

// -----

// Ops that other ops say.
// CHECK-LABEL: @decomposed
// CHECK: onnx.MatMul %arg0, %arg1 {transB}
// CHECK-NEXT: onnx.Add
// CHECK-NEXT: %[[M:.*]] = onnx.Reduce %{{.*}} {axes = array<i64: 1>, keepdims, kind = "Mean"}
// CHECK-NEXT: return %[[M]]
func.func @decomposed(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>, %b: tensor<4xf32>) -> tensor<2x1xf32> {
  %axis = onnx.Constant dense<-1> : tensor<1xi64>
  %0 = onnx.Gemm %x, %w, %b {transB = 1 : i64} : (tensor<2x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %1 = onnx.Identity %0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = onnx.ReduceMean %1, %axis : (tensor<2x4xf32>, tensor<1xi64>) -> tensor<2x1xf32>
  return %2 : tensor<2x1xf32>
}

// -----

// What is larger than its operands is computed when the model runs, but not weights.
// CHECK-LABEL: @weights
// CHECK: %[[T:.*]] = onnx.Mul {{.*}} -> tensor<600x600xf32>
// CHECK-NEXT: %[[S:.*]] = onnx.Add %arg0, %[[T]]
// CHECK-NEXT: %[[W:.*]] = onnx.Constant {{.*}} : tensor<600x600xf32>
// CHECK-NEXT: onnx.MatMul %[[S]], %[[W]]
func.func @weights(%x: tensor<600x600xf32>) -> tensor<600x600xf32> {
  %a = onnx.Constant dense<2.0> : tensor<600x1xf32>
  %zero = onnx.Constant dense<0.0> : tensor<f32>
  %many = onnx.Constant dense<600.0> : tensor<f32>
  %one = onnx.Constant dense<1.0> : tensor<f32>
  %shape = onnx.Constant dense<[1, 600]> : tensor<2xi64>
  %b = onnx.Range %zero, %many, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<600xf32>
  %row = onnx.Reshape %b, %shape : (tensor<600xf32>, tensor<2xi64>) -> tensor<1x600xf32>
  %table = onnx.Mul %a, %row : (tensor<600x1xf32>, tensor<1x600xf32>) -> tensor<600x600xf32>
  %s = onnx.Add %x, %table : (tensor<600x600xf32>, tensor<600x600xf32>) -> tensor<600x600xf32>
  %t = onnx.Add %a, %row : (tensor<600x1xf32>, tensor<1x600xf32>) -> tensor<600x600xf32>
  %w = onnx.Exp %t : (tensor<600x600xf32>) -> tensor<600x600xf32>
  %y = onnx.MatMul %s, %w : (tensor<600x600xf32>, tensor<600x600xf32>) -> tensor<600x600xf32>
  return %y : tensor<600x600xf32>
}
