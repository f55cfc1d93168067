// What an operator's own code refuses is said once for each node, with the reason, and all of it at once.
// RUN: not %ingot-opt --partition-place=target=x86-64-v3 %s 2>&1 | FileCheck %s
// RUN: not %ingot-opt --partition-form-kernels=target=nowhere %s 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: target 'nowhere': no such target

func.func @refused(%image: tensor<?x4x8x8xf32>, %w: tensor<8x4x3x3xf32>, %table: tensor<*xf32>, %at: tensor<?xi64>, %k: tensor<1xi64>,
                   %x: tensor<2x3xf32>) {
  %none = onnx.None : none
  // CHECK-DAG: refused.mlir:[[# @LINE + 1]]:{{.*}}: error: unsupported by all targets: x86-64-v3: shapes are not known at compile time
  %conv = onnx.Conv %image, %w, %none : (tensor<?x4x8x8xf32>, tensor<8x4x3x3xf32>, none) -> tensor<?x8x6x6xf32>
  // CHECK-DAG: refused.mlir:[[# @LINE + 1]]:{{.*}}: error: unsupported by all targets: x86-64-v3: its shapes are not known at compile time
  %row = onnx.Gather %table, %at : (tensor<*xf32>, tensor<?xi64>) -> tensor<*xf32>
  // CHECK-DAG: refused.mlir:[[# @LINE + 1]]:{{.*}}: error: unsupported by all targets: x86-64-v3: its shape or k is not known at compile time
  %top, %where = onnx.TopK %x, %k : (tensor<2x3xf32>, tensor<1xi64>) -> (tensor<2x?xf32>, tensor<2x?xi64>)
  // CHECK-DAG: refused.mlir:[[# @LINE + 1]]:{{.*}}: error: unsupported by all targets: x86-64-v3: its shape or positions are not known at compile time
  %cut = onnx.Slice %x, %at, %at, %none, %none : (tensor<2x3xf32>, tensor<?xi64>, tensor<?xi64>, none, none) -> tensor<?x?xf32>
  // CHECK-DAG: refused.mlir:[[# @LINE + 1]]:{{.*}}: error: unsupported by all targets: x86-64-v3: shapes are not known at compile time
  %pooled, %from = onnx.MaxPool %image {kernel_shape = array<i64: 2, 2>} : (tensor<?x4x8x8xf32>) -> (tensor<?x4x7x7xf32>, tensor<?x4x7x7xi64>)
  // CHECK-DAG: refused.mlir:[[# @LINE + 1]]:{{.*}}: error: unsupported by all targets: x86-64-v3: its shapes are not known at compile time
  %places, %count = onnx.NonZero %table : (tensor<*xf32>) -> (tensor<*xi64>, tensor<i64>)
  return
}
