// Rows that nothing reads are not computed: a selection of few rows moves above products and what is between them.
// RUN: %ingot-opt --fusion-fuse --graph-eliminate-common --split-input-file %s | FileCheck %s

// One row by a feed-forward block, whose normalised input is also what its residual sum adds: both are read through one
// slice, which gets above the product that makes them.
// CHECK-LABEL: @last_row
// CHECK-SAME: %[[X:.*]]: tensor<2x9x4xf32>
// CHECK: %[[R:.*]] = onnx.Slice %[[X]]{{.*}} -> tensor<2x1x4xf32>
// CHECK-NOT: onnx.Slice
// CHECK: %[[P:.*]] = onnx.MatMul %[[R]]{{.*}} -> tensor<2x1x4xf32>
// CHECK: %[[N:.*]] = onnx.Standardize %[[P]]
// CHECK: %[[H:.*]] = onnx.MatMul %[[N]]{{.*}} -> tensor<2x1x8xf32>
// CHECK: %[[A:.*]] = onnx.Relu %[[H]]
// CHECK: %[[O:.*]] = onnx.MatMul %[[A]]{{.*}} -> tensor<2x1x4xf32>
// CHECK: onnx.Add %[[P]], %[[O]]
func.func @last_row(%x: tensor<2x9x4xf32>, %v: tensor<4x4xf32>, %w: tensor<4x8xf32>, %u: tensor<8x4xf32>) -> tensor<2x1x4xf32> {
  %s = onnx.Constant dense<-1> : tensor<1xi64>
  %e = onnx.Constant dense<9> : tensor<1xi64>
  %a = onnx.Constant dense<1> : tensor<1xi64>
  %p = onnx.MatMul %x, %v : (tensor<2x9x4xf32>, tensor<4x4xf32>) -> tensor<2x9x4xf32>
  %n = onnx.Standardize %p {axes = array<i64: 2>, epsilon = 1.0e-5 : f32} : (tensor<2x9x4xf32>) -> tensor<2x9x4xf32>
  %0 = onnx.MatMul %n, %w : (tensor<2x9x4xf32>, tensor<4x8xf32>) -> tensor<2x9x8xf32>
  %1 = onnx.Relu %0 : (tensor<2x9x8xf32>) -> tensor<2x9x8xf32>
  %2 = onnx.MatMul %1, %u : (tensor<2x9x8xf32>, tensor<8x4xf32>) -> tensor<2x9x4xf32>
  %3 = onnx.Add %p, %2 : (tensor<2x9x4xf32>, tensor<2x9x4xf32>) -> tensor<2x9x4xf32>
  %4 = onnx.Slice %3, %s, %e, %a, %a : (tensor<2x9x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x1x4xf32>
  return %4 : tensor<2x1x4xf32>
}

// -----

// An index without axes, of which only the run knows whether it is inside, above a normalisation and a product with
// a bias for each row. Scales of columns stay as they are.
// CHECK-LABEL: @first_token
// CHECK: %[[X:.*]] = onnx.Gather %arg0, %[[I:.*]] {axis = 1 : i64}
// CHECK: %[[M:.*]] = onnx.MatMul %[[X]]
// CHECK: %[[P:.*]] = onnx.Gather %arg2, %[[I]]
// CHECK: %[[A:.*]] = onnx.Add %[[M]], %[[P]]
// CHECK: %[[N:.*]] = onnx.Standardize %[[A]]
// CHECK: onnx.Mul %[[N]], %arg3
// CHECK: onnx.Reshape {{.*}} -> tensor<1x4xf32>
func.func @first_token(%x: tensor<1x?x4xf32, #onnx.sizes<1, "s", 4>>, %w: tensor<4x4xf32>, %p: tensor<?x4xf32, #onnx.sizes<"s", 4>>, %g: tensor<4xf32>)
    -> tensor<1x4xf32> {
  %i = onnx.Constant dense<0> : tensor<i64>
  %0 = onnx.MatMul %x, %w : (tensor<1x?x4xf32, #onnx.sizes<1, "s", 4>>, tensor<4x4xf32>) -> tensor<1x?x4xf32, #onnx.sizes<1, "s", 4>>
  %1 = onnx.Add %0, %p : (tensor<1x?x4xf32, #onnx.sizes<1, "s", 4>>, tensor<?x4xf32, #onnx.sizes<"s", 4>>) -> tensor<1x?x4xf32, #onnx.sizes<1, "s", 4>>
  %2 = onnx.Standardize %1 {axes = array<i64: 2>, epsilon = 1.0e-5 : f32} : (tensor<1x?x4xf32, #onnx.sizes<1, "s", 4>>) -> tensor<1x?x4xf32, #onnx.sizes<1, "s", 4>>
  %3 = onnx.Mul %2, %g : (tensor<1x?x4xf32, #onnx.sizes<1, "s", 4>>, tensor<4xf32>) -> tensor<1x?x4xf32, #onnx.sizes<1, "s", 4>>
  %4 = onnx.Gather %3, %i {axis = 1 : i64} : (tensor<1x?x4xf32, #onnx.sizes<1, "s", 4>>, tensor<i64>) -> tensor<1x4xf32>
  return %4 : tensor<1x4xf32>
}

// -----

// Another reader needs all rows; most rows are no selection; and an elementwise op alone keeps its place.
// CHECK-LABEL: @stays
// CHECK: onnx.MatMul {{.*}} -> tensor<9x8xf32>
// CHECK: onnx.Slice
// CHECK: onnx.MatMul {{.*}} -> tensor<9x8xf32>
// CHECK: onnx.Slice
// CHECK: onnx.Exp {{.*}} -> tensor<9x4xf32>
// CHECK: onnx.Slice
func.func @stays(%x: tensor<9x4xf32>, %w: tensor<4x8xf32>, %v: tensor<4x8xf32>) -> (tensor<9x8xf32>, tensor<1x8xf32>, tensor<8x8xf32>, tensor<1x4xf32>) {
  %s = onnx.Constant dense<0> : tensor<1xi64>
  %e = onnx.Constant dense<1> : tensor<1xi64>
  %m = onnx.Constant dense<8> : tensor<1xi64>
  %0 = onnx.MatMul %x, %w : (tensor<9x4xf32>, tensor<4x8xf32>) -> tensor<9x8xf32>
  %1 = onnx.Slice %0, %s, %e, %s, %e : (tensor<9x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x8xf32>
  %2 = onnx.MatMul %x, %v : (tensor<9x4xf32>, tensor<4x8xf32>) -> tensor<9x8xf32>
  %3 = onnx.Slice %2, %s, %m, %s, %e : (tensor<9x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<8x8xf32>
  %4 = onnx.Exp %x : (tensor<9x4xf32>) -> tensor<9x4xf32>
  %5 = onnx.Slice %4, %s, %e, %s, %e : (tensor<9x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x4xf32>
  return %0, %1, %3, %5 : tensor<9x8xf32>, tensor<1x8xf32>, tensor<8x8xf32>, tensor<1x4xf32>
}

// -----

// The lists of a slice may be int32; the axis of the moved one is of their type.
// CHECK-LABEL: @lists_of_int32
// CHECK: onnx.Slice %{{.*}} (tensor<2x9x4xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2x1x4xf32>
// CHECK: onnx.MatMul
func.func @lists_of_int32(%x: tensor<2x9x4xf32>, %v: tensor<4x4xf32>) -> tensor<2x1x4xf32> {
  %s = onnx.Constant dense<-1> : tensor<1xi32>
  %e = onnx.Constant dense<9> : tensor<1xi32>
  %a = onnx.Constant dense<1> : tensor<1xi32>
  %p = onnx.MatMul %x, %v : (tensor<2x9x4xf32>, tensor<4x4xf32>) -> tensor<2x9x4xf32>
  %0 = onnx.Slice %p, %s, %e, %a, %a : (tensor<2x9x4xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2x1x4xf32>
  return %0 : tensor<2x1x4xf32>
}
