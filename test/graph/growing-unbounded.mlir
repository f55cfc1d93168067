// What nothing bounds needs memory from ingot_exec.allocate.
// RUN: not %ingot-opt --graph-simplify --graph-find-sizes=allocate=false --graph-require-sizes --split-input-file %s 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: %ingot-opt --graph-simplify --graph-find-sizes --graph-require-sizes --split-input-file %s | FileCheck %s

// REFUSED: error: carries a value whose shape changes from one iteration to the next, and nothing bounds it: --no-allocate forbids to ask for memory
// CHECK-LABEL: func.func @grows
// CHECK-NOT: onnx.facts
// CHECK: onnx.grows = {{\[\[}}#onnx.symbol<"$0">, #onnx.symbol<"$1">, #onnx.sizes<1, "1+$0">]]
func.func @grows(%c: tensor<i1>, %x: tensor<1xf32>) -> tensor<?xf32> {
  %none = onnx.None : none
  %y = "onnx.Loop"(%none, %c, %x) ({
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %a: tensor<1xf32>):
    %0 = onnx.Concat %a, %x {axis = 0 : i64} : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
    onnx.Yield %go, %0 : tensor<i1>, tensor<2xf32>
  }) : (none, tensor<i1>, tensor<1xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// REFUSED: error: has a result of unsupported shape
// CHECK-LABEL: func.func @slices
// CHECK: -> tensor<7x?xf32, #onnx.sizes<7, "$1">>
func.func @slices(%n: tensor<1xi64>) -> tensor<7x?xf32> {
  %seven = onnx.Constant dense<7> : tensor<i64>
  %none = onnx.None : none
  %y = "onnx.Loop"(%seven, %none) ({
  ^bb0(%i: tensor<i64>, %go: tensor<i1>):
    %m = onnx.Add %n, %i : (tensor<1xi64>, tensor<i64>) -> tensor<1xi64>
    %0 = onnx.ConstantOfShape %m {value = dense<1.0> : tensor<1xf32>} : (tensor<1xi64>) -> tensor<?xf32>
    onnx.Yield %go, %0 : tensor<i1>, tensor<?xf32>
  }) : (tensor<i64>, none) -> tensor<7x?xf32>
  return %y : tensor<7x?xf32>
}
