// Sizes that each run chooses: slots have no places, but lie above others. Checks stand where the sizes of which they speak are known.
// RUN: %ingot-opt --graph-simplify --graph-find-sizes --graph-require-sizes --partition-form-kernels=target=x86-64-v2 --layout-assign=target=x86-64-v2 --lower-kernels=target=x86-64-v2 --memory-plan --split-input-file %s > %t
// RUN: FileCheck %s < %t
// RUN: %ingot-opt --split-input-file %t | diff %t -

// The third product is written where the first one was: both lie below the second.
// CHECK-LABEL: func.func @chain
// CHECK: %[[A:.*]] = plan.slot "matmul_" of <"32*n">{{$}}
// CHECK: %[[C:.*]] = plan.slot "matmul_" of <"32*n">{{$}}
// CHECK: %[[B:.*]] = plan.slot "matmul_" of <"32*n"> above(%[[C]], %[[A]] : !plan.memory, !plan.memory)
// CHECK: %[[SECOND:.*]] = plan.buffer %[[B]] at <0>
func.func @chain(%x: tensor<?x8xf32, #onnx.sizes<"n", 8>>, %w: tensor<8x8xf32>) -> tensor<?x8xf32, #onnx.sizes<"n", 8>> {
  %0 = onnx.MatMul %x, %w : (tensor<?x8xf32, #onnx.sizes<"n", 8>>, tensor<8x8xf32>) -> tensor<?x8xf32, #onnx.sizes<"n", 8>>
  %1 = onnx.MatMul %0, %w : (tensor<?x8xf32, #onnx.sizes<"n", 8>>, tensor<8x8xf32>) -> tensor<?x8xf32, #onnx.sizes<"n", 8>>
  %2 = onnx.MatMul %1, %w : (tensor<?x8xf32, #onnx.sizes<"n", 8>>, tensor<8x8xf32>) -> tensor<?x8xf32, #onnx.sizes<"n", 8>>
  %3 = onnx.MatMul %2, %w : (tensor<?x8xf32, #onnx.sizes<"n", 8>>, tensor<8x8xf32>) -> tensor<?x8xf32, #onnx.sizes<"n", 8>>
  return %3 : tensor<?x8xf32, #onnx.sizes<"n", 8>>
}

// -----

// What the launch finds is checked behind it.
// CHECK-LABEL: func.func @found
// CHECK-NOT: plan.check
// CHECK: plan.launch @nonzero{{.*}} {dataDependentSize = #onnx.symbol<"[[F:[^"]*]]">
// CHECK-NEXT: plan.check <"[[F]]", 3> of "both"
// CHECK: plan.launch
func.func @found(%w: tensor<4xf32>, %x: tensor<1x3xi64>) -> tensor<2x3xi64> {
  %0:2 = onnx.NonZero %w : (tensor<4xf32>) -> (tensor<1x?xi64>, tensor<i64>)
  %1 = onnx.Concat %0#0, %x {axis = 0 : i64} : (tensor<1x?xi64>, tensor<1x3xi64>) -> tensor<2x3xi64> loc("both"("Concat"))
  return %1 : tensor<2x3xi64>
}
