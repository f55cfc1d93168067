// Transposes and reshapes: merged, cancelled, for free, moved, read by products.
// RUN: %ingot-opt --fusion-fuse --split-input-file %s | FileCheck %s

// CHECK-LABEL: @cancelled
// CHECK-NEXT: return %arg0
func.func @cancelled(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = onnx.Transpose %x {perm = array<i64: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %1 = onnx.Transpose %0 {perm = array<i64: 2, 0, 1>} : (tensor<3x4x2xf32>) -> tensor<2x3x4xf32>
  return %1 : tensor<2x3x4xf32>
}

// -----

// CHECK-LABEL: @merged
// CHECK-NEXT: %[[Y:.*]] = onnx.Transpose %arg0 {perm = array<i64: 2, 0, 1>}
// CHECK-NEXT: return %[[Y]]
func.func @merged(%x: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
  %0 = onnx.Transpose %x {perm = array<i64: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %1 = onnx.Transpose %0 {perm = array<i64: 1, 2, 0>} : (tensor<3x4x2xf32>) -> tensor<4x2x3xf32>
  return %1 : tensor<4x2x3xf32>
}

// -----

// Only an axis of size 1 changes its place.
// CHECK-LABEL: @unitAxes
// CHECK-NOT: onnx.Transpose
// CHECK: onnx.Reshape {{.*}} (tensor<1x8x1x33xf32>, tensor<4xi64>) -> tensor<8x1x1x33xf32>
func.func @unitAxes(%x: tensor<1x8x1x33xf32>) -> tensor<8x1x1x33xf32> {
  %0 = onnx.Transpose %x {perm = array<i64: 1, 2, 0, 3>} : (tensor<1x8x1x33xf32>) -> tensor<8x1x1x33xf32>
  return %0 : tensor<8x1x1x33xf32>
}

// -----

// Transposes that cancel but for an axis of size 1 between them.
// CHECK-LABEL: @acrossUnitAxes
// CHECK-NOT: onnx.Transpose
// CHECK: onnx.Reshape %arg0
func.func @acrossUnitAxes(%x: tensor<3x4xf32>) -> tensor<3x1x4xf32> {
  %shape = onnx.Constant dense<[1, 4, 3]> : tensor<3xi64>
  %0 = onnx.Transpose %x {perm = array<i64: 1, 0>} : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %1 = onnx.Reshape %0, %shape : (tensor<4x3xf32>, tensor<3xi64>) -> tensor<1x4x3xf32>
  %2 = onnx.Transpose %1 {perm = array<i64: 2, 0, 1>} : (tensor<1x4x3xf32>) -> tensor<3x1x4xf32>
  return %2 : tensor<3x1x4xf32>
}

// -----

// A channel shuffle stays: the axes between are real ones.
// CHECK-LABEL: @channelShuffle
// CHECK: onnx.Reshape
// CHECK: onnx.Transpose
// CHECK: onnx.Reshape
func.func @channelShuffle(%x: tensor<1x6x5xf32>) -> tensor<1x6x5xf32> {
  %split = onnx.Constant dense<[1, 2, 3, 5]> : tensor<4xi64>
  %shape = onnx.Constant dense<[1, 6, 5]> : tensor<3xi64>
  %0 = onnx.Reshape %x, %split : (tensor<1x6x5xf32>, tensor<4xi64>) -> tensor<1x2x3x5xf32>
  %1 = onnx.Transpose %0 {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x2x3x5xf32>) -> tensor<1x3x2x5xf32>
  %2 = onnx.Reshape %1, %shape : (tensor<1x3x2x5xf32>, tensor<3xi64>) -> tensor<1x6x5xf32>
  return %2 : tensor<1x6x5xf32>
}

// -----

// CHECK-LABEL: @reshapes
// CHECK: %[[Y:.*]] = onnx.Reshape %arg0, %{{.*}} : (tensor<2x6xf32>, tensor<1xi64>) -> tensor<12xf32>
// CHECK: return %[[Y]], %arg0
func.func @reshapes(%x: tensor<2x6xf32>) -> (tensor<12xf32>, tensor<2x6xf32>) {
  %a = onnx.Constant dense<[3, 4]> : tensor<2xi64>
  %b = onnx.Constant dense<[-1]> : tensor<1xi64>
  %c = onnx.Constant dense<[2, 6]> : tensor<2xi64>
  %0 = onnx.Reshape %x, %a : (tensor<2x6xf32>, tensor<2xi64>) -> tensor<3x4xf32>
  %1 = onnx.Reshape %0, %b : (tensor<3x4xf32>, tensor<1xi64>) -> tensor<12xf32>
  %2 = onnx.Reshape %0, %c : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<2x6xf32>
  return %1, %2 : tensor<12xf32>, tensor<2x6xf32>
}

// -----

// Elementwise ops between transposes that cancel; the bias a channel goes along.
// CHECK-LABEL: @throughElementwise
// CHECK-NOT: onnx.Transpose %arg0
// CHECK: onnx.Add %arg0
// CHECK-SAME: (tensor<1x3x4x5xf32>, tensor<1x3x1x1xf32>) -> tensor<1x3x4x5xf32>
// CHECK: %[[Y:.*]] = onnx.Relu
// CHECK: return %[[Y]]
func.func @throughElementwise(%x: tensor<1x3x4x5xf32>) -> tensor<1x3x4x5xf32> {
  %c = onnx.Constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %0 = onnx.Transpose %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x3x4x5xf32>) -> tensor<1x4x5x3xf32>
  %1 = onnx.Add %0, %c : (tensor<1x4x5x3xf32>, tensor<3xf32>) -> tensor<1x4x5x3xf32>
  %2 = onnx.Relu %1 : (tensor<1x4x5x3xf32>) -> tensor<1x4x5x3xf32>
  %3 = onnx.Transpose %2 {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x4x5x3xf32>) -> tensor<1x3x4x5xf32>
  return %3 : tensor<1x3x4x5xf32>
}

// -----

// One transpose behind instead of two before.
// CHECK-LABEL: @twoBecomeOne
// CHECK-NEXT: %[[S:.*]] = onnx.Add %arg0, %arg1
// CHECK-NEXT: %[[Y:.*]] = onnx.Transpose %[[S]]
// CHECK-NEXT: return %[[Y]]
func.func @twoBecomeOne(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %0 = onnx.Transpose %x {perm = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = onnx.Transpose %y {perm = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %2 = onnx.Add %0, %1 : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return %2 : tensor<3x2xf32>
}

// -----

// Nothing is saved where the value between is read by others, or an operand is no transpose.
// CHECK-LABEL: @kept
// CHECK-COUNT-4: onnx.Transpose
func.func @kept(%x: tensor<2x3xf32>, %y: tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = onnx.Transpose %x {perm = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = onnx.Relu %0 : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %2 = onnx.Transpose %1 {perm = array<i64: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %3 = onnx.Sigmoid %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = onnx.Transpose %3 {perm = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %5 = onnx.Add %4, %y : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %6 = onnx.Transpose %5 {perm = array<i64: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  return %1, %2, %6 : tensor<3x2xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// The activation is the product's epilogue when the reshape does not stand between.
// CHECK-LABEL: @reshapeDown
// CHECK: %[[P:.*]] = onnx.MatMul
// CHECK-NEXT: %[[R:.*]] = onnx.Relu %[[P]]
// CHECK: onnx.Reshape %[[R]]
func.func @reshapeDown(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) -> tensor<8xf32> {
  %shape = onnx.Constant dense<[8]> : tensor<1xi64>
  %0 = onnx.MatMul %x, %y : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %1 = onnx.Reshape %0, %shape : (tensor<2x4xf32>, tensor<1xi64>) -> tensor<8xf32>
  %2 = onnx.Relu %1 : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

// CHECK-LABEL: @readByProduct
// CHECK-NEXT: onnx.MatMul %arg0, %arg1 {transB}
func.func @readByProduct(%x: tensor<5x2x3xf32>, %y: tensor<5x4x3xf32>) -> tensor<5x2x4xf32> {
  %0 = onnx.Transpose %y {perm = array<i64: 0, 2, 1>} : (tensor<5x4x3xf32>) -> tensor<5x3x4xf32>
  %1 = onnx.MatMul %x, %0 : (tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
  return %1 : tensor<5x2x4xf32>
}

// -----

// Other axes than the last two stay transposed.
// CHECK-LABEL: @otherAxesOfProduct
// CHECK: onnx.Transpose
func.func @otherAxesOfProduct(%x: tensor<5x2x3xf32>, %y: tensor<4x5x3xf32>) -> tensor<5x2x4xf32> {
  %0 = onnx.Transpose %y {perm = array<i64: 1, 2, 0>} : (tensor<4x5x3xf32>) -> tensor<5x3x4xf32>
  %1 = onnx.MatMul %x, %0 : (tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
  return %1 : tensor<5x2x4xf32>
}
