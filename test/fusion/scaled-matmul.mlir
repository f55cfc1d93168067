// Factors along the columns or the inner axis become part of a constant right operand.
// RUN: %ingot-opt --fusion-fuse --split-input-file %s | FileCheck %s

// (x * B + 1) * [10, 100]: the sum moves behind.
// CHECK-LABEL: @columns
func.func @columns(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  // CHECK: %[[B:.*]] = onnx.Constant dense<{{\[\[}}1.000000e+01, 2.000000e+02], [3.000000e+01, 4.000000e+02]]> : tensor<2x2xf32>
  // CHECK: %[[P:.*]] = onnx.MatMul %arg0, %[[B]]
  // CHECK: %[[O:.*]] = onnx.Constant dense<[1.000000e+01, 1.000000e+02]> : tensor<2xf32>
  // CHECK-NEXT: %[[Y:.*]] = onnx.Add %[[P]], %[[O]]
  // CHECK-NEXT: return %[[Y]]
  %b = onnx.Constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %one = onnx.Constant dense<1.0> : tensor<2xf32>
  %f = onnx.Constant dense<[10.0, 100.0]> : tensor<2xf32>
  %0 = onnx.MatMul %x, %b : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %1 = onnx.Add %0, %one : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  %2 = onnx.Mul %1, %f : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  return %2 : tensor<3x2xf32>
}

// -----

// A transposed B has its columns as rows.
// CHECK-LABEL: @transposedColumns
// CHECK-DAG: onnx.Constant dense<{{\[\[}}1.000000e+01, 2.000000e+01], [3.000000e+02, 4.000000e+02]]> : tensor<2x2xf32>
// CHECK: onnx.MatMul {{.*}} {transB}
// CHECK-NEXT: return
func.func @transposedColumns(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %b = onnx.Constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %f = onnx.Constant dense<[10.0, 100.0]> : tensor<2xf32>
  %0 = onnx.MatMul %x, %b {transB} : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %1 = onnx.Mul %0, %f : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  return %1 : tensor<3x2xf32>
}

// -----

// CHECK-LABEL: @inner
// CHECK-DAG: onnx.Constant dense<{{\[\[}}1.000000e+01, 2.000000e+01], [3.000000e+02, 4.000000e+02]]> : tensor<2x2xf32>
// CHECK: onnx.MatMul %arg0
func.func @inner(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %b = onnx.Constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %f = onnx.Constant dense<[10.0, 100.0]> : tensor<2xf32>
  %0 = onnx.Mul %x, %f : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  %1 = onnx.MatMul %0, %b : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  return %1 : tensor<3x2xf32>
}

// -----

// A sum alone is the kernel's epilogue already, and factors along rows of the product are not B's.
// CHECK-LABEL: @negative
// CHECK: onnx.MatMul
// CHECK: onnx.Add
// CHECK: onnx.Mul
func.func @negative(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %b = onnx.Constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %one = onnx.Constant dense<1.0> : tensor<2xf32>
  %f = onnx.Constant dense<[[10.0], [100.0], [1000.0]]> : tensor<3x1xf32>
  %0 = onnx.MatMul %x, %b : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %1 = onnx.Add %0, %one : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  %2 = onnx.Mul %1, %f : (tensor<3x2xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
  return %2 : tensor<3x2xf32>
}
