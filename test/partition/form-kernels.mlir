// Nodes form kernels: one root each, elementwise ops around it, convex; views are none.
// RUN: %ingot-opt --partition-form-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s

// A product, its bias, an activation and a residual sum: one kernel.
// CHECK-LABEL: @epilogue
// CHECK: "plan.kernel"
// CHECK: onnx.MatMul
// CHECK-NEXT: onnx.Add
// CHECK-NEXT: onnx.Relu
// CHECK-NEXT: onnx.Add
// CHECK-NEXT: plan.yield
// CHECK-NOT: "plan.kernel"
// CHECK: return
func.func @epilogue(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf32>, %r: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = onnx.MatMul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = onnx.Add %0, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %2 = onnx.Relu %1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = onnx.Add %2, %r : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

// -----

// Two roots are two kernels; the sum is the epilogue of the later one, where the earlier result is there already.
// CHECK-LABEL: @oneRoot
// CHECK: "plan.kernel"
// CHECK: onnx.MatMul
// CHECK-NEXT: plan.yield
// CHECK: "plan.kernel"
// CHECK: onnx.MatMul
// CHECK-NEXT: onnx.Add
// CHECK-NEXT: plan.yield
func.func @oneRoot(%x: tensor<4x8xf32>, %v: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %0 = onnx.MatMul %x, %v : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = onnx.MatMul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %2 = onnx.Add %0, %1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

// Softmax reads through what is computed before it.
// CHECK-LABEL: @readThrough
// CHECK: "plan.kernel"(%arg0)
// CHECK: onnx.Mul
// CHECK-NEXT: onnx.Softmax
// CHECK-NEXT: plan.yield
// CHECK-NOT: "plan.kernel"
// CHECK: return
func.func @readThrough(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c = onnx.Constant dense<0.125> : tensor<f32>
  %0 = onnx.Mul %x, %c : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %1 = onnx.Softmax %0 {axis = -1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----

// The sum needs the reduction, which needs the product's result: it cannot be in the product's kernel.
// CHECK-LABEL: @convex
// CHECK: "plan.kernel"
// CHECK: onnx.MatMul
// CHECK-NEXT: plan.yield
// CHECK: "plan.kernel"
// CHECK: onnx.Reduce
// CHECK: "plan.kernel"
// CHECK: onnx.Sub
// CHECK-NEXT: plan.yield
func.func @convex(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %0 = onnx.MatMul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = onnx.Reduce %0 {axes = array<i64: 0>, keepdims, kind = "Max"} : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %2 = onnx.Sub %0, %1 : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

// GELU in six ops, SiLU, a clip: chains of elementwise ops are one kernel and one loop.
// CHECK-LABEL: @chain
// CHECK-COUNT-1: "plan.kernel"
// CHECK-NOT: "plan.kernel"
// CHECK: return
func.func @chain(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = onnx.Constant dense<1.5> : tensor<f32>
  %zero = onnx.Constant dense<0.0> : tensor<f32>
  %six = onnx.Constant dense<6.0> : tensor<f32>
  %0 = onnx.Div %x, %a : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %1 = onnx.Erf %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = onnx.Add %1, %a : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %3 = onnx.Mul %x, %2 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = onnx.Sigmoid %3 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = onnx.Mul %3, %4 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %6 = onnx.Clip %5, %zero, %six : (tensor<4x8xf32>, tensor<f32>, tensor<f32>) -> tensor<4x8xf32>
  return %6 : tensor<4x8xf32>
}

// -----

// A slice that begins at an open place, values behind keys, is a view too.
// CHECK-LABEL: @open_view
// CHECK-NOT: "plan.kernel"
// CHECK: plan.view %arg0 at <"32*n">
// CHECK-NOT: "plan.kernel"
// CHECK: return
func.func @open_view(%x: tensor<2x?x8xf32, #onnx.sizes<2, "n", 8>>) -> tensor<1x?x8xf32, #onnx.sizes<1, "n", 8>> {
  %none = onnx.None : none
  %one = onnx.Constant dense<1> : tensor<1xi64>
  %two = onnx.Constant dense<2> : tensor<1xi64>
  %zero = onnx.Constant dense<0> : tensor<1xi64>
  %0 = onnx.Slice %x, %one, %two, %zero, %none : (tensor<2x?x8xf32, #onnx.sizes<2, "n", 8>>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, none) -> tensor<1x?x8xf32, #onnx.sizes<1, "n", 8>>
  return %0 : tensor<1x?x8xf32, #onnx.sizes<1, "n", 8>>
}

// -----

// Sizes that one op reads from memory and that say to others where a view or the rows of a kernel end.
// CHECK-LABEL: @sizes_twice
// CHECK: %[[N:.*]] = "plan.kernel"()
// CHECK-NEXT: onnx.Sizes <"n">
// CHECK: plan.view %arg0 at <0>
// CHECK: "plan.kernel"(%arg0)
// CHECK: onnx.Sizes <"n">
// CHECK: onnx.Slice
// CHECK: "plan.kernel"(%{{.*}}, %[[N]])
// CHECK: onnx.Gather
func.func @sizes_twice(%t: tensor<8x5xf32>, %x: tensor<?x3xf32, #onnx.sizes<"n", 3>>) -> (tensor<?x5xf32, #onnx.sizes<"n", 5>>, tensor<8x?xf32, #onnx.sizes<8, "n">>, tensor<1x3xf32>) {
  %none = onnx.None : none
  %zero = onnx.Constant dense<[0]> : tensor<1xi64>
  %one = onnx.Constant dense<[1]> : tensor<1xi64>
  %n = onnx.Sizes <"n"> : tensor<1xi64>
  %0 = onnx.Slice %t, %zero, %n, %zero, %none : (tensor<8x5xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, none) -> tensor<?x5xf32, #onnx.sizes<"n", 5>>
  %1 = onnx.Slice %t, %zero, %n, %one, %none : (tensor<8x5xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, none) -> tensor<8x?xf32, #onnx.sizes<8, "n">>
  %2 = onnx.Gather %x, %n : (tensor<?x3xf32, #onnx.sizes<"n", 3>>, tensor<1xi64>) -> tensor<1x3xf32>
  return %0, %1, %2 : tensor<?x5xf32, #onnx.sizes<"n", 5>>, tensor<8x?xf32, #onnx.sizes<8, "n">>, tensor<1x3xf32>
}

// -----

// Kernels may not wait for one another: what tells whether `r` is taken is computed beside what needs the sum of it.
// CHECK-LABEL: @convex
// CHECK: %[[R:.*]] = "plan.kernel"(%arg0)
// CHECK: onnx.Reduce
// CHECK-NEXT: plan.yield
// CHECK: %[[S:.*]] = "plan.kernel"(%[[R]])
// CHECK: %[[K:.*]]:2 = "plan.kernel"(%arg1, %[[S]])
// CHECK: onnx.Less
// CHECK: "plan.kernel"(%[[K]]#1, %[[R]])
// CHECK: onnx.Where
func.func @convex(%x: tensor<3x4xf32>, %y: tensor<5xf32>) -> (tensor<4xf32>, tensor<f32>) {
  %one = onnx.Constant dense<1.0> : tensor<f32>
  %r = onnx.Reduce %x {axes = array<i64: 0>, kind = "Sum"} : (tensor<3x4xf32>) -> tensor<4xf32>
  %s = onnx.Reduce %r {axes = array<i64: 0>, kind = "Sum"} : (tensor<4xf32>) -> tensor<f32>
  %k = onnx.Reduce %y {axes = array<i64: 0>, kind = "Sum"} : (tensor<5xf32>) -> tensor<f32>
  %a = onnx.Add %s, %k : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %c = onnx.Less %k, %one : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %w = onnx.Where %c, %one, %r : (tensor<i1>, tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  return %w, %a : tensor<4xf32>, tensor<f32>
}

// -----

// Views cost nothing: a reshape, rows of a slice, a transpose of an axis of size 1. A slice of columns is a kernel.
// CHECK-LABEL: @views
// CHECK: plan.view %arg0 at <0>
// CHECK: plan.view %arg0 at <32>
// CHECK: plan.view %arg0 at <0>
// CHECK: "plan.kernel"(%arg0)
// CHECK: onnx.Slice
func.func @views(%x: tensor<4x1x8xf32>) -> (tensor<32xf32>, tensor<2x1x8xf32>, tensor<1x4x8xf32>, tensor<4x1x2xf32>) {
  %none = onnx.None : none
  %flat = onnx.Constant dense<[32]> : tensor<1xi64>
  %zero = onnx.Constant dense<[0]> : tensor<1xi64>
  %one = onnx.Constant dense<[1]> : tensor<1xi64>
  %two = onnx.Constant dense<[2]> : tensor<1xi64>
  %three = onnx.Constant dense<[3]> : tensor<1xi64>
  %0 = onnx.Reshape %x, %flat : (tensor<4x1x8xf32>, tensor<1xi64>) -> tensor<32xf32>
  %1 = onnx.Slice %x, %one, %three, %zero, %none : (tensor<4x1x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, none) -> tensor<2x1x8xf32>
  %2 = onnx.Transpose %x {perm = array<i64: 1, 0, 2>} : (tensor<4x1x8xf32>) -> tensor<1x4x8xf32>
  %3 = onnx.Slice %x, %one, %three, %two, %none : (tensor<4x1x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, none) -> tensor<4x1x2xf32>
  return %0, %1, %2, %3 : tensor<32xf32>, tensor<2x1x8xf32>, tensor<1x4x8xf32>, tensor<4x1x2xf32>
}

// -----

// Two read a rounded product, one of them widened again: it is in memory once, rounded, and is widened where it is read.
// CHECK-LABEL: @widened
// CHECK: "plan.kernel"
// CHECK: onnx.MatMul
// CHECK-NEXT: onnx.Cast {{.*}} -> tensor<4x8xbf16>
// CHECK-NEXT: plan.yield %{{[0-9]+}} : tensor<4x8xbf16>
// CHECK: "plan.kernel"
// CHECK: onnx.Cast {{.*}} -> tensor<4x8xf32>
// CHECK: onnx.MatMul
// CHECK-NEXT: onnx.Add
func.func @widened(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> (tensor<4x8xbf16>, tensor<4x8xf32>) {
  %0 = onnx.MatMul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = onnx.Cast %0 {to = 16 : i64} : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  %2 = onnx.Cast %1 {to = 1 : i64} : (tensor<4x8xbf16>) -> tensor<4x8xf32>
  %3 = onnx.MatMul %y, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %4 = onnx.Add %3, %2 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1, %4 : tensor<4x8xbf16>, tensor<4x8xf32>
}
