// One row of a computed number has a shape where it is there, or what reads it needs it; else it is one row or none.
// RUN: %ingot-opt --graph-simplify --graph-find-sizes=allocate=false --split-input-file %s | FileCheck %s

// The number of an iteration counts from 0.
// CHECK-LABEL: @iteration
// CHECK: ^bb0(%[[I:[a-z0-9]+]]: tensor<1xi64>,
// CHECK: onnx.Gather %arg0, %[[I]] : {{.*}} -> tensor<1x4xf32>
func.func @iteration(%x: tensor<5x4xf32>) -> tensor<3x1x4xf32> {
  %n = onnx.Constant dense<3> : tensor<i64>
  %none = onnx.None : none
  %one = onnx.Constant dense<1> : tensor<1xi64>
  %y = "onnx.Loop"(%n, %none) ({
  ^bb0(%i: tensor<1xi64>, %go: tensor<1xi1>):
    %next = onnx.Add %i, %one : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %0 = onnx.Slice %x, %i, %next, %none, %none : (tensor<5x4xf32>, tensor<1xi64>, tensor<1xi64>, none, none) -> tensor<?x4xf32>
    onnx.Yield %go, %0 : tensor<1xi1>, tensor<?x4xf32>
  }) : (tensor<i64>, none) -> tensor<3x1x4xf32>
  return %y : tensor<3x1x4xf32>
}

// -----

// Of any other, -1 means no row.
// CHECK-LABEL: @needed
// CHECK-DAG: %[[LAST:.*]] = onnx.Constant dense<-1> : tensor<1xi32>
// CHECK-DAG: %[[SIZE:.*]] = onnx.Constant dense<4> : tensor<1xi32>
// CHECK: %[[IS:.*]] = onnx.Equal %arg1, %[[LAST]]
// CHECK: %[[ROW:.*]] = onnx.Where %[[IS]], %[[SIZE]], %arg1
// CHECK: onnx.Gather %arg0, %[[ROW]] {axis = 1 : i64} : {{.*}} -> tensor<5x1xf32>
func.func @needed(%x: tensor<5x4xf32>, %i: tensor<1xi32>) -> tensor<5xf32> {
  %none = onnx.None : none
  %one = onnx.Constant dense<1> : tensor<1xi32>
  %axis = onnx.Constant dense<-1> : tensor<1xi32>
  %axes = onnx.Constant dense<1> : tensor<1xi64>
  %next = onnx.Add %one, %i : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>
  %0 = onnx.Slice %x, %i, %next, %axis, %none : (tensor<5x4xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, none) -> tensor<5x?xf32>
  %1 = onnx.Squeeze %0, %axes : (tensor<5x?xf32>, tensor<1xi64>) -> tensor<5xf32>
  return %1 : tensor<5xf32>
}

// -----

// Beyond the end there is no row, and nothing is wrong with that.
// CHECK-LABEL: @any
// CHECK-SAME: onnx.facts = #onnx.sizes<"1-$0">
// CHECK: onnx.ReadSize {{.*}}#onnx.sizes<1>
// CHECK: onnx.Gather {{.*}} -> tensor<5x?xf32, #onnx.sizes<5, "$0">>
func.func @any(%x: tensor<5x4xf32>, %i: tensor<1xi32>) -> tensor<5x?xf32> {
  %none = onnx.None : none
  %one = onnx.Constant dense<1> : tensor<1xi32>
  %axis = onnx.Constant dense<-1> : tensor<1xi32>
  %next = onnx.Add %one, %i : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>
  %0 = onnx.Slice %x, %i, %next, %axis, %none : (tensor<5x4xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, none) -> tensor<5x?xf32>
  return %0 : tensor<5x?xf32>
}

// -----

// More iterations than rows: the last slices are empty.
// CHECK-LABEL: @beyond
// CHECK: onnx.ReadSize
func.func @beyond(%x: tensor<5x4xf32>) -> tensor<6x?x4xf32> {
  %n = onnx.Constant dense<6> : tensor<i64>
  %none = onnx.None : none
  %one = onnx.Constant dense<1> : tensor<1xi64>
  %y = "onnx.Loop"(%n, %none) ({
  ^bb0(%i: tensor<1xi64>, %go: tensor<1xi1>):
    %next = onnx.Add %i, %one : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %0 = onnx.Slice %x, %i, %next, %none, %none : (tensor<5x4xf32>, tensor<1xi64>, tensor<1xi64>, none, none) -> tensor<?x4xf32>
    onnx.Yield %go, %0 : tensor<1xi1>, tensor<?x4xf32>
  }) : (tensor<i64>, none) -> tensor<6x?x4xf32>
  return %y : tensor<6x?x4xf32>
}

// -----

// Two rows are cut where they end.
// CHECK-LABEL: @two
// CHECK: onnx.Slice
func.func @two(%x: tensor<5x4xf32>, %i: tensor<1xi32>) -> tensor<?x4xf32> {
  %none = onnx.None : none
  %two = onnx.Constant dense<2> : tensor<1xi32>
  %next = onnx.Add %i, %two : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>
  %0 = onnx.Slice %x, %i, %next, %none, %none : (tensor<5x4xf32>, tensor<1xi32>, tensor<1xi32>, none, none) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
