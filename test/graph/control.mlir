// Branches and loops of which enough is known are no longer there.
// RUN: %ingot-opt --graph-simplify --split-input-file %s | FileCheck %s

// A condition on a shape, and the output that both ways share.
// CHECK-LABEL: @constantCondition
// CHECK-NEXT: onnx.Constant
// CHECK-NEXT: %[[Y:.*]] = onnx.Reshape
// CHECK-NEXT: return %[[Y]] : tensor<3xf32>
func.func @constantCondition(%x: tensor<1x3xf32>) -> tensor<?xf32> {
  %one = onnx.Constant dense<1> : tensor<1xi64>
  %zero = onnx.Constant dense<0> : tensor<1xi64>
  %n = onnx.Shape %x {end = 1 : i64} : (tensor<1x3xf32>) -> tensor<1xi64>
  %is = onnx.Equal %n, %one : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
  %y = "onnx.If"(%is) ({
    %0 = onnx.Squeeze %x, %zero : (tensor<1x3xf32>, tensor<1xi64>) -> tensor<?xf32>
    onnx.Yield %0 : tensor<?xf32>
  }, {
    onnx.Yield %x : tensor<1x3xf32>
  }) : (tensor<1xi1>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// A branch that contradicts itself cannot be taken; outputs that nobody reads go, and what only they need.
// CHECK-LABEL: @branches
// CHECK-NEXT: %[[Y:.*]] = "onnx.If"(%arg0)
// CHECK-NEXT: %[[R:.*]] = onnx.Relu %arg1
// CHECK-NEXT: onnx.Yield %[[R]] : tensor<3xf32>
// CHECK: onnx.Fail {{.*}}do not broadcast{{.*}} : tensor<3xf32>
// CHECK-NOT: onnx.Neg
// CHECK: return %[[Y]], %arg1
func.func @branches(%c: tensor<i1>, %x: tensor<3xf32>, %v: tensor<2xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %y:2 = "onnx.If"(%c) ({
    %0 = onnx.Relu %x : (tensor<3xf32>) -> tensor<3xf32>
    %1 = onnx.Neg %x : (tensor<3xf32>) -> tensor<3xf32>
    onnx.Yield %0, %1 : tensor<3xf32>, tensor<3xf32>
  }, {
    %0 = onnx.Add %x, %v : (tensor<3xf32>, tensor<2xf32>) -> tensor<3xf32>
    onnx.Yield %0, %0 : tensor<3xf32>, tensor<3xf32>
  }) : (tensor<i1>) -> (tensor<3xf32>, tensor<3xf32>)
  return %y#0, %x : tensor<3xf32>, tensor<3xf32>
}

// -----

// One turn: the body itself. No turn: the initial value, and nothing stacked.
// CHECK-LABEL: @fewTurns
// CHECK-NOT: onnx.Loop
// CHECK: %[[A:.*]] = onnx.Add %arg0, %arg0
// CHECK: %[[S:.*]] = onnx.Reshape %[[A]]
// CHECK: return %[[A]], %[[S]], %arg0, %{{.*}} : tensor<3xf32>, tensor<1x3xf32>, tensor<3xf32>, tensor<0x3xf32>
func.func @fewTurns(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<?x3xf32>, tensor<3xf32>, tensor<?x3xf32>) {
  %one = onnx.Constant dense<1> : tensor<i64>
  %zero = onnx.Constant dense<0> : tensor<i64>
  %none = onnx.None : none
  %y:2 = "onnx.Loop"(%one, %none, %x) ({
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %a: tensor<3xf32>):
    %0 = onnx.Add %a, %a : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    onnx.Yield %go, %0, %0 : tensor<i1>, tensor<3xf32>, tensor<3xf32>
  }) : (tensor<i64>, none, tensor<3xf32>) -> (tensor<3xf32>, tensor<?x3xf32>)
  %z:2 = "onnx.Loop"(%zero, %none, %x) ({
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %a: tensor<3xf32>):
    %0 = onnx.Add %a, %a : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    onnx.Yield %go, %0, %0 : tensor<i1>, tensor<3xf32>, tensor<3xf32>
  }) : (tensor<i64>, none, tensor<3xf32>) -> (tensor<3xf32>, tensor<?x3xf32>)
  return %y#0, %y#1, %z#0, %z#1 : tensor<3xf32>, tensor<?x3xf32>, tensor<3xf32>, tensor<?x3xf32>
}

// -----

// What iterations do not change leaves the loop; the number of iterations is the first axis of what is stacked.
// CHECK-LABEL: @invariant
// CHECK-DAG: %[[R:.*]] = onnx.Relu %arg1
// CHECK-DAG: %[[N:.*]] = onnx.Constant dense<5>
// CHECK: %[[Y:.*]]:2 = "onnx.Loop"(%[[N]], %{{.*}}, %arg0) ({
// CHECK-NEXT: ^bb0(%[[I:.*]]: tensor<i64>, %{{.*}}: tensor<i1>, %[[A:.*]]: tensor<3xf32>):
// CHECK-NOT: onnx.Relu
// CHECK: onnx.Add %[[A]], %[[R]]
// CHECK: -> (tensor<3xf32>, tensor<5x3xf32>)
// CHECK: return %[[Y]]#0, %[[Y]]#1, %arg1
func.func @invariant(%x: tensor<3xf32>, %v: tensor<3xf32>) -> (tensor<3xf32>, tensor<?x3xf32>, tensor<3xf32>) {
  %n = onnx.Constant dense<5> : tensor<i64>
  %none = onnx.None : none
  %y:3 = "onnx.Loop"(%n, %none, %x, %v) ({
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %a: tensor<3xf32>, %same: tensor<3xf32>):
    %0 = onnx.Relu %same : (tensor<3xf32>) -> tensor<3xf32>
    %1 = onnx.Add %a, %0 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    onnx.Yield %go, %1, %same, %1 : tensor<i1>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  }) : (tensor<i64>, none, tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<?x3xf32>)
  return %y#0, %y#2, %y#1 : tensor<3xf32>, tensor<?x3xf32>, tensor<3xf32>
}
