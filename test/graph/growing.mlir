// Sizes that iterations change: symbols inside and behind the loop, with bounds where something bounds them.
// RUN: %ingot-opt --graph-simplify --graph-find-sizes=allocate=false --graph-require-sizes --split-input-file %s | FileCheck %s

// Two that begin alike and change alike have one symbol; a third one does not begin so.
// CHECK-LABEL: func.func @alike
// CHECK-SAME: -> (tensor<?x2xf32, #onnx.sizes<"$1", 2>>, tensor<?x2xf32, #onnx.sizes<"$1", 2>>, tensor<?x2xf32, #onnx.sizes<"$5", 2>>)
// CHECK-SAME: onnx.facts = #onnx.sizes<"14-$1", "14-$0", "13-$5+n", "13-$4+n">
// CHECK: onnx.grows = {{\[\[}}#onnx.symbol<"$0">, #onnx.symbol<"$1">, #onnx.sizes<2, "1+$0">], [#onnx.symbol<"$4">, #onnx.symbol<"$5">, #onnx.sizes<"1+n", "1+$4">]]
func.func @alike(%c: tensor<i1>, %x: tensor<2x2xf32>, %z: tensor<?x2xf32, #onnx.sizes<"n", 2>>, %w: tensor<1x2xf32>) -> (tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>) {
  %twelve = onnx.Constant dense<12> : tensor<i64>
  %v = onnx.Neg %x : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %u = onnx.Concat %z, %w {axis = 0 : i64} : (tensor<?x2xf32, #onnx.sizes<"n", 2>>, tensor<1x2xf32>) -> tensor<?x2xf32>
  %y:3 = "onnx.Loop"(%twelve, %c, %x, %v, %u) ({
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %a: tensor<?x2xf32>, %b: tensor<?x2xf32>, %d: tensor<?x2xf32>):
    %0 = onnx.Concat %a, %w {axis = 0 : i64} : (tensor<?x2xf32>, tensor<1x2xf32>) -> tensor<?x2xf32>
    %1 = onnx.Concat %w, %b {axis = 0 : i64} : (tensor<1x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
    %2 = onnx.Add %0, %1 : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
    %3 = onnx.Concat %d, %w {axis = 0 : i64} : (tensor<?x2xf32>, tensor<1x2xf32>) -> tensor<?x2xf32>
    onnx.Yield %go, %2, %1, %3 : tensor<i1>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>
  }) : (tensor<i64>, tensor<i1>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<?x2xf32>) -> (tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>)
  return %y#0, %y#1, %y#2 : tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>
}

// -----

// What shrinks is bounded by what it begins with; the trip count is data, of which a Min tells the most.
// CHECK-LABEL: func.func @shrinks
// CHECK-SAME: onnx.facts = #onnx.sizes<"-$1+n", "-$0+n">
// CHECK: onnx.grows = {{\[\[}}#onnx.symbol<"$0">, #onnx.symbol<"$1">, #onnx.sizes<"n", "$0-min($0,1)">]]
func.func @shrinks(%c: tensor<i1>, %trips: tensor<i64>, %x: tensor<?xf32, #onnx.sizes<"n">>) -> tensor<?xf32> {
  %nine = onnx.Constant dense<9> : tensor<i64>
  %one = onnx.Constant dense<1> : tensor<1xi64>
  %end = onnx.Constant dense<9223372036854775807> : tensor<1xi64>
  %none = onnx.None : none
  %n = onnx.Min %trips, %nine : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %y = "onnx.Loop"(%n, %c, %x) ({
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %a: tensor<?xf32>):
    %0 = onnx.Slice %a, %one, %end, %none, %none : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>, none, none) -> tensor<?xf32>
    onnx.Yield %go, %0 : tensor<i1>, tensor<?xf32>
  }) : (tensor<i64>, tensor<i1>, tensor<?xf32, #onnx.sizes<"n">>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// Rows that are found: as many as there can be in each iteration. The slices of the scan output are of one size.
// CHECK-LABEL: func.func @picks
// CHECK-SAME: -> (tensor<?x1xi64, #onnx.sizes<"$3", 1>>, tensor<?x1x?xi64, #onnx.sizes<"$1", 1, "$4">>)
// CHECK-SAME: onnx.facts = #onnx.sizes<"4-$1", "4-$0", "16-$3", "16-$2", "4-$4">
// CHECK: onnx.grows = {{\[\[}}#onnx.symbol<"$2">, #onnx.symbol<"$3">, #onnx.sizes<0, "$0+$2">], [unit, #onnx.symbol<"$4">, #onnx.sizes<0, "$0">]]
func.func @picks(%c: tensor<i1>, %x: tensor<4xf32>) -> (tensor<?x1xi64>, tensor<?x1x?xi64>) {
  %four = onnx.Constant dense<4> : tensor<i64>
  %empty = onnx.Constant dense<> : tensor<0x1xi64>
  %y:2 = "onnx.Loop"(%four, %c, %empty) ({
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %a: tensor<?x1xi64>):
    %f = onnx.Cast %i {to = 1 : i64} : (tensor<i64>) -> tensor<f32>
    %0 = onnx.Mul %x, %f : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %1, %count = onnx.NonZero %0 : (tensor<4xf32>) -> (tensor<1x?xi64>, tensor<i64>)
    %2 = onnx.Transpose %1 {perm = array<i64: 1, 0>} : (tensor<1x?xi64>) -> tensor<?x1xi64>
    %3 = onnx.Concat %a, %2 {axis = 0 : i64} : (tensor<?x1xi64>, tensor<?x1xi64>) -> tensor<?x1xi64>
    onnx.Yield %go, %3, %1 : tensor<i1>, tensor<?x1xi64>, tensor<1x?xi64>
  }) : (tensor<i64>, tensor<i1>, tensor<0x1xi64>) -> (tensor<?x1xi64>, tensor<?x1x?xi64>)
  return %y#0, %y#1 : tensor<?x1xi64>, tensor<?x1x?xi64>
}
