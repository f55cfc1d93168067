// Sizes that only data tells are symbols with bounds.
// RUN: %ingot-opt --graph-simplify --graph-require-sizes --split-input-file %s | FileCheck %s

// Two that count the same are one; what is cut to a number of its own is known to be long enough.
// CHECK-LABEL: func.func @places
// CHECK-SAME: onnx.facts = #onnx.sizes<"6-$0">
// CHECK: %[[N:.*]], %{{.*}} = onnx.NonZero %arg0 {onnx.data_dependent_size = #onnx.symbol<"$0">} : (tensor<2x3xf32>) -> (tensor<2x?xi64, #onnx.sizes<2, "$0">>, tensor<i64>)
// CHECK-NOT: onnx.NonZero
// CHECK: onnx.TopK {{.*}} -> (tensor<?xf32, #onnx.sizes<"min($0,4)">>
// CHECK-NOT: onnx.requires
func.func @places(%x: tensor<2x3xf32>) -> (tensor<?xf32>, tensor<?x2xi64>) {
  %0, %c0 = onnx.NonZero %x : (tensor<2x3xf32>) -> (tensor<2x?xi64>, tensor<i64>)
  %1, %c1 = onnx.NonZero %x : (tensor<2x3xf32>) -> (tensor<2x?xi64>, tensor<i64>)
  %at = onnx.Transpose %0 {perm = array<i64: 1, 0>} : (tensor<2x?xi64>) -> tensor<?x2xi64>
  %also = onnx.Transpose %1 {perm = array<i64: 1, 0>} : (tensor<2x?xi64>) -> tensor<?x2xi64>
  %v = onnx.GatherND %x, %at : (tensor<2x3xf32>, tensor<?x2xi64>) -> tensor<?xf32>
  %s = onnx.Shape %v : (tensor<?xf32>) -> tensor<1xi64>
  %most = onnx.Constant dense<4> : tensor<1xi64>
  %both = onnx.Concat %s, %most {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %k = onnx.Reduce %both {kind = "Min", axes = array<i64: 0>, keepdims} : (tensor<2xi64>) -> tensor<1xi64>
  %top, %where = onnx.TopK %v, %k : (tensor<?xf32>, tensor<1xi64>) -> (tensor<?xf32>, tensor<?xi64>)
  return %top, %also : tensor<?xf32>, tensor<?x2xi64>
}

// -----

// What the region of an Attend says of the one that goes, it says of the one that stays.
// CHECK-LABEL: func.func @attended
// CHECK: onnx.NonZero %arg0 {onnx.data_dependent_size = #onnx.symbol<"$0">}
// CHECK-NOT: $1
// CHECK: onnx.Attend
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<6x?xf32, #onnx.sizes<6, "$0">>):
// CHECK-NEXT: onnx.Neg %[[A]] : (tensor<6x?xf32, #onnx.sizes<6, "$0">>) -> tensor<6x?xf32, #onnx.sizes<6, "$0">>
// CHECK-NOT: $1
func.func @attended(%m: tensor<6xi1>, %x: tensor<6x8xf32>) -> (tensor<6x8xf32>, tensor<1x?xi64>)
    attributes {onnx.facts = #onnx.sizes<"6-$0", "6-$1">, onnx.data_dependent_sizes = 2 : i64} {
  %0, %c0 = onnx.NonZero %m {onnx.data_dependent_size = #onnx.symbol<"$0">} : (tensor<6xi1>) -> (tensor<1x?xi64, #onnx.sizes<1, "$0">>, tensor<i64>)
  %1, %c1 = onnx.NonZero %m {onnx.data_dependent_size = #onnx.symbol<"$1">} : (tensor<6xi1>) -> (tensor<1x?xi64, #onnx.sizes<1, "$1">>, tensor<i64>)
  %list = onnx.Constant dense<-1> : tensor<1xi64>
  %at = onnx.Reshape %1, %list : (tensor<1x?xi64, #onnx.sizes<1, "$1">>, tensor<1xi64>) -> tensor<?xi64, #onnx.sizes<"$1">>
  %k = onnx.Gather %x, %at {axis = 0 : i64} : (tensor<6x8xf32>, tensor<?xi64, #onnx.sizes<"$1">>) -> tensor<?x8xf32, #onnx.sizes<"$1", 8>>
  %y = onnx.Attend %x, %k, %k {perm = array<i64: 0, 1>, valueWidth = 8 : i64, walkK = #onnx.strided<<0>, <8, 1>>, walkQ = #onnx.strided<<0>, <8, 1>>, walkV = #onnx.strided<<0>, <8, 1>>, width = 8 : i64} : (tensor<6x8xf32>, tensor<?x8xf32, #onnx.sizes<"$1", 8>>, tensor<?x8xf32, #onnx.sizes<"$1", 8>>) -> tensor<6x8xf32> {
  ^bb0(%a: tensor<6x?xf32, #onnx.sizes<6, "$1">>):
    %n = onnx.Neg %a : (tensor<6x?xf32, #onnx.sizes<6, "$1">>) -> tensor<6x?xf32, #onnx.sizes<6, "$1">>
    onnx.Score %n : tensor<6x?xf32, #onnx.sizes<6, "$1">>
  }
  %also = onnx.Identity %0 : (tensor<1x?xi64, #onnx.sizes<1, "$0">>) -> tensor<1x?xi64>
  return %y, %also : tensor<6x8xf32>, tensor<1x?xi64>
}

// -----

// One that nobody asks for is not looked for.
// CHECK-LABEL: func.func @idle
// CHECK-NOT: onnx.NonZero
func.func @idle(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0, %c0 = onnx.NonZero %x : (tensor<2x3xf32>) -> (tensor<2x?xi64>, tensor<i64>)
  return %x : tensor<2x3xf32>
}

// -----

// Branches of different sizes, one of them found inside.
// CHECK-LABEL: func.func @branches
// CHECK: onnx.NonZero {{.*}} {onnx.data_dependent_size = #onnx.symbol<"$0">}
// CHECK: onnx.choices = {{\[\[}}#onnx.symbol<"$1">, #onnx.sizes<0, "$0">]]
// CHECK-SAME: tensor<1x?xi64, #onnx.sizes<1, "$1">>
func.func @branches(%c: tensor<i1>, %x: tensor<7xf32>) -> tensor<1x?xi64> {
  %y = "onnx.If"(%c) ({
    %0 = onnx.Constant dense<> : tensor<1x0xi64>
    onnx.Yield %0 : tensor<1x0xi64>
  }, {
    %1, %n = onnx.NonZero %x : (tensor<7xf32>) -> (tensor<1x?xi64>, tensor<i64>)
    onnx.Yield %1 : tensor<1x?xi64>
  }) : (tensor<i1>) -> tensor<1x?xi64>
  return %y : tensor<1x?xi64>
}

// -----

// A loop that a condition may end before its trip count does.
// CHECK-LABEL: func.func @until
// CHECK-SAME: onnx.facts = #onnx.sizes<"6-$0">
// CHECK: onnx.data_dependent_size = #onnx.symbol<"$0">
// CHECK-SAME: tensor<?xf32, #onnx.sizes<"$0">>
func.func @until(%x: tensor<f32>) -> tensor<?xf32> {
  %six = onnx.Constant dense<6> : tensor<i64>
  %none = onnx.None : none
  %last, %all = "onnx.Loop"(%six, %none, %x) ({
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %a: tensor<f32>):
    %0 = onnx.Add %a, %a : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %1 = onnx.Less %0, %x : (tensor<f32>, tensor<f32>) -> tensor<i1>
    onnx.Yield %1, %0, %0 : tensor<i1>, tensor<f32>, tensor<f32>
  }) : (tensor<i64>, none, tensor<f32>) -> (tensor<f32>, tensor<?xf32>)
  return %all : tensor<?xf32>
}
