// Values that loops make longer: only what is new is written, behind what is there, whoever gives the memory.
// RUN: %ingot-opt --graph-simplify --graph-find-bounded-sizes --graph-find-sizes --graph-require-sizes --partition-form-kernels=target=x86-64-v2 --layout-assign=target=x86-64-v2 --lower-kernels=target=x86-64-v2 --memory-plan --split-input-file %s | FileCheck %s

// One launch, in the loop's own place, which has room for the longest.
// CHECK-LABEL: func.func @bounded
// CHECK: "onnx.Loop"
// CHECK-NEXT: ^bb0
// CHECK-NEXT: plan.launch {{.*}}plan.extends = 0 : i64, plan.places = [#plan.place<0, -1, <0>>]
// CHECK-NEXT: onnx.Yield
// CHECK: plan.places = [#plan.place<0, -1, <0>>]
func.func @bounded(%x: tensor<1x4xf32>, %w: tensor<2x4xf32>) -> tensor<?x4xf32> {
  %n = onnx.Constant dense<5> : tensor<i64>
  %true = onnx.Constant dense<true> : tensor<i1>
  %none = onnx.None : none
  %y = "onnx.Loop"(%n, %none, %x) ({
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %a: tensor<?x4xf32>):
    %0 = onnx.Concat %a, %w {axis = 0 : i64} : (tensor<?x4xf32>, tensor<2x4xf32>) -> tensor<?x4xf32>
    onnx.Yield %true, %0 : tensor<i1>, tensor<?x4xf32>
  }) : (tensor<i64>, none, tensor<1x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// -----

// How often it turns is data: before each iteration there must be room for its result.
// CHECK-LABEL: func.func @unbounded
// CHECK: "onnx.Loop"
// CHECK: plan.launch {{.*}}plan.extends = 0 : i64, plan.places = [#plan.place<0, -1, <0>, asked = 0>]
// CHECK: plan.asks = [#plan.ask<0, "before", <0>, <16>>, #plan.ask<0, "turn", <"16*[[K:[^"]*]]">, <"32+16*[[K]]">>]
func.func @unbounded(%n: tensor<i64>, %x: tensor<1x4xf32>, %w: tensor<2x4xf32>) -> tensor<?x4xf32> {
  %true = onnx.Constant dense<true> : tensor<i1>
  %none = onnx.None : none
  %y = "onnx.Loop"(%n, %none, %x) ({
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %a: tensor<?x4xf32>):
    %0 = onnx.Concat %a, %w {axis = 0 : i64} : (tensor<?x4xf32>, tensor<2x4xf32>) -> tensor<?x4xf32>
    onnx.Yield %true, %0 : tensor<i1>, tensor<?x4xf32>
  }) : (tensor<i64>, none, tensor<1x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// -----

// What is new is found by the iteration: there is room for the most that it can be.
// CHECK-LABEL: func.func @found
// CHECK: "onnx.Loop"
// CHECK: plan.launch {{.*}}plan.extends = 0 : i64, plan.places = [#plan.place<0, -1, <0>>]
func.func @found(%x: tensor<1x1xi64>, %w: tensor<4xf32>) -> tensor<1x?xi64> {
  %n = onnx.Constant dense<5> : tensor<i64>
  %true = onnx.Constant dense<true> : tensor<i1>
  %none = onnx.None : none
  %y = "onnx.Loop"(%n, %none, %x) ({
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %a: tensor<1x?xi64>):
    %0:2 = onnx.NonZero %w : (tensor<4xf32>) -> (tensor<1x?xi64>, tensor<i64>)
    %1 = onnx.Concat %a, %0#0 {axis = 1 : i64} : (tensor<1x?xi64>, tensor<1x?xi64>) -> tensor<1x?xi64>
    onnx.Yield %true, %1 : tensor<i1>, tensor<1x?xi64>
  }) : (tensor<i64>, none, tensor<1x1xi64>) -> tensor<1x?xi64>
  return %y : tensor<1x?xi64>
}

// -----

// What comes first is not what was there: a buffer of its own, copied at the end.
// CHECK-LABEL: func.func @before
// CHECK: "onnx.Loop"
// CHECK-NOT: plan.extends
// CHECK: plan.asks = [#plan.ask<0, "before", <0>, <16>>, #plan.ask<0, "end", <0>, <"32+16*{{[^"]*}}">>]
func.func @before(%n: tensor<i64>, %x: tensor<1x4xf32>, %w: tensor<2x4xf32>) -> tensor<?x4xf32> {
  %true = onnx.Constant dense<true> : tensor<i1>
  %none = onnx.None : none
  %y = "onnx.Loop"(%n, %none, %x) ({
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %a: tensor<?x4xf32>):
    %0 = onnx.Concat %w, %a {axis = 0 : i64} : (tensor<2x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    onnx.Yield %true, %0 : tensor<i1>, tensor<?x4xf32>
  }) : (tensor<i64>, none, tensor<1x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
