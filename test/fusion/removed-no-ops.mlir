// Ops that change nothing go.
// RUN: %ingot-opt --fusion-fuse --split-input-file %s | FileCheck %s

// CHECK-LABEL: @nothing
// CHECK-NOT: onnx.{{[ACDEMPST][a-z]+}} %
// CHECK: return %arg0, %arg0, %arg0, %arg0, %arg0, %arg0
func.func @nothing(%x: tensor<2x3xf32>)
    -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %none = onnx.None : none
  %zero = onnx.Constant dense<[0, 0]> : tensor<2xi64>
  %big = onnx.Constant dense<9223372036854775807> : tensor<2xi64>
  %no = onnx.Constant dense<[0, 0, 0, 0]> : tensor<4xi64>
  %row = onnx.Constant dense<[1, 3]> : tensor<2xi64>
  %one = onnx.Constant dense<1.0> : tensor<1x3xf32>
  %nil = onnx.Constant dense<0.0> : tensor<f32>
  %0 = onnx.Slice %x, %zero, %big, %none, %none : (tensor<2x3xf32>, tensor<2xi64>, tensor<2xi64>, none, none) -> tensor<2x3xf32>
  %1 = onnx.Pad %x, %no, %none, %none : (tensor<2x3xf32>, tensor<4xi64>, none, none) -> tensor<2x3xf32>
  %2 = onnx.Expand %x, %row : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %3 = onnx.Cast %x {to = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = onnx.Mul %one, %x : (tensor<1x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = onnx.Add %x, %nil : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// What reverses, broadcasts or subtracts from keeps its place though shape or number look harmless.
// CHECK-LABEL: @something
// CHECK: onnx.Slice
// CHECK: onnx.Mul
// CHECK: onnx.Sub
// CHECK: onnx.Div
func.func @something(%x: tensor<1x3xf32>) -> (tensor<1x3xf32>, tensor<2x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>) {
  %from = onnx.Constant dense<[2]> : tensor<1xi64>
  %to = onnx.Constant dense<[-9]> : tensor<1xi64>
  %axis = onnx.Constant dense<[1]> : tensor<1xi64>
  %back = onnx.Constant dense<[-1]> : tensor<1xi64>
  %ones = onnx.Constant dense<1.0> : tensor<2x1xf32>
  %nil = onnx.Constant dense<0.0> : tensor<f32>
  %one = onnx.Constant dense<1.0> : tensor<f32>
  %0 = onnx.Slice %x, %from, %to, %axis, %back : (tensor<1x3xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x3xf32>
  %1 = onnx.Mul %x, %ones : (tensor<1x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %2 = onnx.Sub %nil, %x : (tensor<f32>, tensor<1x3xf32>) -> tensor<1x3xf32>
  %3 = onnx.Div %one, %x : (tensor<f32>, tensor<1x3xf32>) -> tensor<1x3xf32>
  return %0, %1, %2, %3 : tensor<1x3xf32>, tensor<2x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>
}

// -----

// CHECK-LABEL: @concats
// CHECK: onnx.Concat %arg0, %arg1, %arg0 {axis = 1 : i64}
// CHECK: %[[OTHER:.*]] = onnx.Concat %arg0, %arg1 {axis = 0 : i64}
// CHECK: onnx.Concat %[[OTHER]], %[[OTHER]] {axis = 1 : i64}
func.func @concats(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x9xf32>, tensor<4x6xf32>) {
  %0 = onnx.Concat %x, %y {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  %1 = onnx.Concat %0, %x {axis = 1 : i64} : (tensor<2x6xf32>, tensor<2x3xf32>) -> tensor<2x9xf32>
  %2 = onnx.Concat %x, %y {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %3 = onnx.Concat %2, %2 {axis = 1 : i64} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x6xf32>
  return %1, %3 : tensor<2x9xf32>, tensor<4x6xf32>
}

// -----

// Constants beside each other are one, which graph folds; those that others read, too, or that stand apart, are left.
// CHECK-LABEL: @constants
// CHECK: %[[BOTH:.*]] = onnx.Concat %{{.*}}, %{{.*}} {axis = 0 : i64} : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
// CHECK: onnx.Concat %[[BOTH]], %arg0, %{{.*}}, %{{.*}} {axis = 0 : i64}
func.func @constants(%x: tensor<2xf32>) -> (tensor<6xf32>, tensor<1xf32>) {
  %a = onnx.Constant dense<1.0> : tensor<1xf32>
  %b = onnx.Constant dense<2.0> : tensor<1xf32>
  %c = onnx.Constant dense<3.0> : tensor<1xf32>
  %d = onnx.Constant dense<4.0> : tensor<1xf32>
  %0 = onnx.Concat %a, %b, %x, %c, %d {axis = 0 : i64} : (tensor<1xf32>, tensor<1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<6xf32>
  return %0, %d : tensor<6xf32>, tensor<1xf32>
}

// -----

// What is done a second time changes nothing, and what is undone was nothing, in any element type.
// CHECK-LABEL: @again
// CHECK: %[[RELU:.*]] = onnx.Relu %arg0
// CHECK-NEXT: %[[ABS:.*]] = onnx.Abs %arg0
// CHECK-NEXT: %[[FLOOR:.*]] = onnx.Floor %arg0
// CHECK-NEXT: return %[[RELU]], %[[ABS]], %[[FLOOR]], %arg0, %arg1, %arg2
func.func @again(%x: tensor<3xf32>, %i: tensor<3xi32>, %c: tensor<3xi1>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xi32>, tensor<3xi1>) {
  %0 = onnx.Relu %x : (tensor<3xf32>) -> tensor<3xf32>
  %1 = onnx.Relu %0 : (tensor<3xf32>) -> tensor<3xf32>
  %2 = onnx.Neg %x : (tensor<3xf32>) -> tensor<3xf32>
  %3 = onnx.Abs %2 : (tensor<3xf32>) -> tensor<3xf32>
  %4 = onnx.Abs %3 : (tensor<3xf32>) -> tensor<3xf32>
  %5 = onnx.Floor %x : (tensor<3xf32>) -> tensor<3xf32>
  %6 = onnx.Floor %5 : (tensor<3xf32>) -> tensor<3xf32>
  %7 = onnx.Neg %2 : (tensor<3xf32>) -> tensor<3xf32>
  %8 = onnx.BitwiseNot %i : (tensor<3xi32>) -> tensor<3xi32>
  %9 = onnx.BitwiseNot %8 : (tensor<3xi32>) -> tensor<3xi32>
  %10 = onnx.Not %c : (tensor<3xi1>) -> tensor<3xi1>
  %11 = onnx.Not %10 : (tensor<3xi1>) -> tensor<3xi1>
  return %1, %4, %6, %7, %9, %11 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xi32>, tensor<3xi1>
}

// -----

// Other pairs are not the same as one: 1 / (1 / x) is rounded, and what lies between two negations keeps them apart.
// CHECK-LABEL: @not_again
// CHECK: onnx.Reciprocal
// CHECK: onnx.Reciprocal
// CHECK: onnx.Neg
// CHECK: onnx.Relu
// CHECK: onnx.Neg
func.func @not_again(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %0 = onnx.Reciprocal %x : (tensor<3xf32>) -> tensor<3xf32>
  %1 = onnx.Reciprocal %0 : (tensor<3xf32>) -> tensor<3xf32>
  %2 = onnx.Neg %x : (tensor<3xf32>) -> tensor<3xf32>
  %3 = onnx.Relu %2 : (tensor<3xf32>) -> tensor<3xf32>
  %4 = onnx.Neg %3 : (tensor<3xf32>) -> tensor<3xf32>
  return %1, %4 : tensor<3xf32>, tensor<3xf32>
}
