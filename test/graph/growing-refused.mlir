// Carried values that change in ways for which there are no sizes.
// RUN: not %ingot-opt --graph-simplify --graph-find-sizes --graph-require-sizes --split-input-file %s 2>&1 | FileCheck %s

// CHECK: error: carries a value whose shape changes from one iteration to the next in a way that is unsupported
// CHECK-NOT: error
func.func @rank(%n: tensor<i64>, %x: tensor<1xf32>) -> tensor<*xf32> {
  %none = onnx.None : none
  %front = onnx.Constant dense<0> : tensor<1xi64>
  %y = "onnx.Loop"(%n, %none, %x) ({
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %a: tensor<1xf32>):
    %0 = onnx.Unsqueeze %a, %front : (tensor<1xf32>, tensor<1xi64>) -> tensor<1x1xf32>
    onnx.Yield %go, %0 : tensor<i1>, tensor<1x1xf32>
  }) : (tensor<i64>, none, tensor<1xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
