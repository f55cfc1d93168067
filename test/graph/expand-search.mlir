// A search for tokens is a Loop around its decoder, which reads the prompt in front of it. A size that the decoder finds
// (NonZero) is one of its own in each place.
// RUN: %ingot-opt --graph-expand %s | FileCheck %s

// CHECK-LABEL: func.func @greedy(
// CHECK-NOT: GreedySearch
// CHECK: onnx.NonZero {{.*}}onnx.data_dependent_size = #onnx.symbol<"[[FIRST:.*]]">
// CHECK: onnx.ArgMax
// CHECK: "onnx.Loop"(
// CHECK: onnx.NonZero {{.*}}onnx.data_dependent_size = #onnx.symbol<"

// CHECK: onnx.ArgMax
// CHECK: onnx.Yield
// CHECK: onnx.Pad
// CHECK: return
func.func @greedy(%ids: tensor<2x?xi32, #onnx.sizes<2, "n">>, %most: tensor<1xi32>, %table: tensor<5xf32>) -> tensor<2x?xi32> {
  %none = onnx.None : none
  %y = onnx.com.microsoft.GreedySearch %ids, %most, %none, %none, %none, %none, %none {eos_token_id = 2 : i64, pad_token_id = 1 : i64} : (tensor<2x?xi32, #onnx.sizes<2, "n">>, tensor<1xi32>, none, none, none, none, none) -> tensor<2x?xi32> decoder {
  ^bb0(%tokens: tensor<?x?xi32>, %places: tensor<?x?xi32>, %mask: tensor<?x?xi32>, %past: tensor<2x?x2x?x4xf32>):
    %words = onnx.Cast %tokens {to = 1 : i64} : (tensor<?x?xi32>) -> tensor<?x?xf32>
    %axis = onnx.Constant dense<2> : tensor<1xi64>
    %wide = onnx.Unsqueeze %words, %axis : (tensor<?x?xf32>, tensor<1xi64>) -> tensor<?x?x1xf32>
    %found, %count = onnx.NonZero %table : (tensor<5xf32>) -> (tensor<1x?xi64>, tensor<i64>)
    %row = onnx.Cast %found {to = 1 : i64} : (tensor<1x?xi64>) -> tensor<1x?xf32>
    %logits = onnx.Add %wide, %row : (tensor<?x?x1xf32>, tensor<1x?xf32>) -> tensor<?x?x?xf32>
    onnx.Give %logits, %past : tensor<?x?x?xf32>, tensor<2x?x2x?x4xf32>
  }
  return %y : tensor<2x?xi32>
}
