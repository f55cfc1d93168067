// Sizes that only a run knows, and branches that always fail, are told at the op that makes them.
// RUN: not %ingot-opt --graph-simplify --graph-require-sizes --split-input-file %s 2>&1 | FileCheck %s

// CHECK: error: carries a value whose shape changes from one iteration to the next in a way that is unsupported
// CHECK-NOT: error
func.func @grows(%n: tensor<i64>, %x: tensor<1xf32>) -> tensor<?xf32> {
  %none = onnx.None : none
  %y = "onnx.Loop"(%n, %none, %x) ({
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %a: tensor<1xf32>):
    %0 = onnx.Concat %a, %x {axis = 0 : i64} : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
    onnx.Yield %go, %0 : tensor<i1>, tensor<2xf32>
  }) : (tensor<i64>, none, tensor<1xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// Where the loop may not turn, what it begins with is seen.
// CHECK: error: carries a value whose shape changes from one iteration to the next in a way that is unsupported
func.func @placeholder(%n: tensor<i64>, %x: tensor<3xf32>, %p: tensor<f32>) -> tensor<*xf32> {
  %none = onnx.None : none
  %y = "onnx.Loop"(%n, %none, %p) ({
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %a: tensor<f32>):
    %0 = onnx.Exp %x : (tensor<3xf32>) -> tensor<3xf32>
    onnx.Yield %go, %0 : tensor<i1>, tensor<3xf32>
  }) : (tensor<i64>, none, tensor<f32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// A reader that sees the rank.
// CHECK: error: has branches that give different shapes, which is unsupported: [1] and []
func.func @rankIsSeen(%c: tensor<i1>, %a: tensor<1xf32>, %b: tensor<f32>) -> (tensor<3xf32>, tensor<*xf32>) {
  %x = onnx.Constant dense<2.0> : tensor<3xf32>
  %y = "onnx.If"(%c) ({
    onnx.Yield %a : tensor<1xf32>
  }, {
    onnx.Yield %b : tensor<f32>
  }) : (tensor<i1>) -> tensor<*xf32>
  %s = onnx.Add %x, %y : (tensor<3xf32>, tensor<*xf32>) -> tensor<3xf32>
  %z = onnx.Exp %y : (tensor<*xf32>) -> tensor<*xf32>
  return %s, %z : tensor<3xf32>, tensor<*xf32>
}

// -----

// CHECK: error: has a scan output of unsupported size: how often the loop turns is known only when the model runs
func.func @stacked(%n: tensor<i64>, %x: tensor<1xf32>) -> tensor<?x1xf32> {
  %none = onnx.None : none
  %y = "onnx.Loop"(%n, %none) ({
  ^bb0(%i: tensor<i64>, %go: tensor<i1>):
    %0 = onnx.Neg %x : (tensor<1xf32>) -> tensor<1xf32>
    onnx.Yield %go, %0 : tensor<i1>, tensor<1xf32>
  }) : (tensor<i64>, none) -> tensor<?x1xf32>
  return %y : tensor<?x1xf32>
}

// -----

// CHECK: error: 'onnx.Loop' op carries a value of element type 'f32', but its body gives 'tensor<1xi32>'
func.func @otherElement(%n: tensor<i64>, %x: tensor<1xf32>) -> tensor<1xf32> {
  %none = onnx.None : none
  %y = "onnx.Loop"(%n, %none, %x) ({
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %a: tensor<1xf32>):
    %0 = onnx.Cast %a {to = 6 : i64} : (tensor<1xf32>) -> tensor<1xi32>
    onnx.Yield %go, %0 : tensor<i1>, tensor<1xi32>
  }) : (tensor<i64>, none, tensor<1xf32>) -> tensor<1xf32>
  return %y : tensor<1xf32>
}

// -----

// CHECK: error: has branches that give different shapes, which is unsupported: [2] and [3, 1]
func.func @shapes(%c: tensor<i1>, %a: tensor<2xf32>, %b: tensor<3x1xf32>) -> tensor<*xf32> {
  %y = "onnx.If"(%c) ({
    onnx.Yield %a : tensor<2xf32>
  }, {
    onnx.Yield %b : tensor<3x1xf32>
  }) : (tensor<i1>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// CHECK: error: 'onnx.If' op has branches that differ in the element type of output 0: 'f32' and 'i32'
func.func @elements(%c: tensor<i1>, %a: tensor<2xf32>, %b: tensor<2xi32>) -> tensor<2xf32> {
  %y = "onnx.If"(%c) ({
    onnx.Yield %a : tensor<2xf32>
  }, {
    onnx.Yield %b : tensor<2xi32>
  }) : (tensor<i1>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// CHECK: error: 'onnx.If' op always takes a branch that cannot be computed: never
func.func @taken(%a: tensor<2xf32>) -> tensor<2xf32> {
  %c = onnx.Constant dense<true> : tensor<i1>
  %y = "onnx.If"(%c) ({
    %0 = onnx.Fail "never" : tensor<2xf32>
    onnx.Yield %0 : tensor<2xf32>
  }, {
    onnx.Yield %a : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// CHECK: error: 'onnx.If' op has no branch that can be computed: first; second
func.func @neither(%c: tensor<i1>) -> tensor<2xf32> {
  %y = "onnx.If"(%c) ({
    %0 = onnx.Fail "first" : tensor<2xf32>
    onnx.Yield %0 : tensor<2xf32>
  }, {
    %0 = onnx.Fail "second" : tensor<2xf32>
    onnx.Yield %0 : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// What is not sized from the beginning is nobody's fault but the function's.
// CHECK: error: has values whose sizes are known only when it runs
func.func @unsized(%x: tensor<*xf32>) -> tensor<*xf32> {
  %y = onnx.Neg %x : (tensor<*xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// CHECK: error: 'onnx.If' op has a branch that does not end with a yield
func.func @noYield(%c: tensor<i1>, %x: tensor<1xf32>) -> tensor<1xf32> {
  %y = "onnx.If"(%c) ({
    %0 = onnx.Neg %x : (tensor<1xf32>) -> tensor<1xf32>
  }, {
    onnx.Yield %x : tensor<1xf32>
  }) : (tensor<i1>) -> tensor<1xf32>
  return %y : tensor<1xf32>
}

// -----

// CHECK: error: 'onnx.Loop' op has 1 carried values and 1 outputs, which do not fit its body
func.func @short(%n: tensor<i64>, %x: tensor<1xf32>) -> tensor<1xf32> {
  %none = onnx.None : none
  %y = "onnx.Loop"(%n, %none, %x) ({
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %a: tensor<1xf32>):
    onnx.Yield %go : tensor<i1>
  }) : (tensor<i64>, none, tensor<1xf32>) -> tensor<1xf32>
  return %y : tensor<1xf32>
}
