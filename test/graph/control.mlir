// Branches and loops of which enough is known are no longer there.
// RUN: %ingot-opt --graph-simplify --split-input-file %s 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=WARN < %t.err
// WARN: warning: gives other shapes where sizes are equal: only runs with n=1 are let in

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

// -----

// Of two shapes that differ where sizes are equal, the one for equal sizes; runs with others are not let in.
// CHECK-LABEL: @squeezed
// CHECK-SAME: onnx.checks = {{.*}}#onnx.sizes<"n", 1>
// CHECK-NOT: onnx.If
// CHECK: return %{{.*}} : tensor<3xf32>
func.func @squeezed(%x: tensor<?x3xf32, #onnx.sizes<"n", 3>>) -> tensor<*xf32> {
  %one = onnx.Constant dense<1> : tensor<1xi64>
  %zero = onnx.Constant dense<0> : tensor<1xi64>
  %n = onnx.Shape %x {end = 1 : i64} : (tensor<?x3xf32, #onnx.sizes<"n", 3>>) -> tensor<1xi64>
  %is = onnx.Equal %n, %one : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
  %no = onnx.Not %is : (tensor<1xi1>) -> tensor<1xi1>
  %y = "onnx.If"(%no) ({
    onnx.Yield %x : tensor<?x3xf32, #onnx.sizes<"n", 3>>
  }, {
    %0 = onnx.Squeeze %x, %zero : (tensor<?x3xf32, #onnx.sizes<"n", 3>>, tensor<1xi64>) -> tensor<?xf32>
    onnx.Yield %0 : tensor<?xf32>
  }) : (tensor<1xi1>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// What reads such a result is taken into the branches, until they have one shape again.
// CHECK-LABEL: @takenIn
// CHECK-NOT: onnx.checks
// CHECK: %[[Y:.*]] = "onnx.If"
// CHECK: onnx.Abs {{.*}} : (tensor<?x3xf32, #onnx.sizes<"n", 3>>)
// CHECK: onnx.Reshape {{.*}} -> tensor<?xf32, #onnx.sizes<"3*n">>
// CHECK: onnx.Abs {{.*}} : (tensor<3xf32>) -> tensor<3xf32>
// CHECK: -> tensor<?xf32, #onnx.sizes<"3*n">>
// CHECK: onnx.Neg %[[Y]]
func.func @takenIn(%x: tensor<?x3xf32, #onnx.sizes<"n", 3>>) -> tensor<*xf32> {
  %one = onnx.Constant dense<1> : tensor<1xi64>
  %zero = onnx.Constant dense<0> : tensor<1xi64>
  %all = onnx.Constant dense<-1> : tensor<1xi64>
  %n = onnx.Shape %x {end = 1 : i64} : (tensor<?x3xf32, #onnx.sizes<"n", 3>>) -> tensor<1xi64>
  %is = onnx.Equal %n, %one : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
  %no = onnx.Not %is : (tensor<1xi1>) -> tensor<1xi1>
  %y = "onnx.If"(%no) ({
    onnx.Yield %x : tensor<?x3xf32, #onnx.sizes<"n", 3>>
  }, {
    %0 = onnx.Squeeze %x, %zero : (tensor<?x3xf32, #onnx.sizes<"n", 3>>, tensor<1xi64>) -> tensor<?xf32>
    onnx.Yield %0 : tensor<?xf32>
  }) : (tensor<1xi1>) -> tensor<*xf32>
  %a = onnx.Abs %y : (tensor<*xf32>) -> tensor<*xf32>
  %flat = onnx.Reshape %a, %all : (tensor<*xf32>, tensor<1xi64>) -> tensor<?xf32>
  %z = onnx.Neg %flat : (tensor<?xf32>) -> tensor<*xf32>
  return %z : tensor<*xf32>
}

// -----

// Where only one of them can be computed, a run is asked for its sizes at the start.
// CHECK-LABEL: @onlyOne
// CHECK-SAME: onnx.checks = {{.*}}#onnx.sizes<"n", 1>
// CHECK-NOT: onnx.If
// CHECK: onnx.Transpose %{{.*}} : (tensor<3x2xf32>) -> tensor<2x3xf32>
func.func @onlyOne(%x: tensor<?x3x2xf32, #onnx.sizes<"n", 3, 2>>) -> tensor<*xf32> {
  %one = onnx.Constant dense<1> : tensor<1xi64>
  %zero = onnx.Constant dense<0> : tensor<1xi64>
  %n = onnx.Shape %x {end = 1 : i64} : (tensor<?x3x2xf32, #onnx.sizes<"n", 3, 2>>) -> tensor<1xi64>
  %is = onnx.Equal %n, %one : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
  %y = "onnx.If"(%is) ({
    %0 = onnx.Squeeze %x, %zero : (tensor<?x3x2xf32, #onnx.sizes<"n", 3, 2>>, tensor<1xi64>) -> tensor<?x?xf32>
    onnx.Yield %0 : tensor<?x?xf32>
  }, {
    onnx.Yield %x : tensor<?x3x2xf32, #onnx.sizes<"n", 3, 2>>
  }) : (tensor<1xi1>) -> tensor<*xf32>
  %t = onnx.Transpose %y {perm = array<i64: 1, 0>} : (tensor<*xf32>) -> tensor<*xf32>
  return %t : tensor<*xf32>
}

// -----

// What a branch needs of sizes is looked at when it is taken.
// CHECK-LABEL: @needs
// CHECK-NOT: onnx.checks
// CHECK: "onnx.If"
// CHECK: onnx.Yield {{.*}}onnx.checks = {{.*}}#onnx.sizes<"mismatch(m,n)", 0>
func.func @needs(%c: tensor<i1>, %x: tensor<?xf32, #onnx.sizes<"n">>, %y: tensor<?xf32, #onnx.sizes<"m">>) -> tensor<?xf32> {
  %0 = "onnx.If"(%c) ({
    %1 = onnx.Add %x, %y : (tensor<?xf32, #onnx.sizes<"n">>, tensor<?xf32, #onnx.sizes<"m">>) -> tensor<?xf32>
    onnx.Yield %1 : tensor<?xf32>
  }, {
    %1 = onnx.Neg %x : (tensor<?xf32, #onnx.sizes<"n">>) -> tensor<?xf32>
    onnx.Yield %1 : tensor<?xf32>
  }) : (tensor<i1>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
