// Buffers get places in one arena: disjoint while both live, reused after, in place where an elementwise kernel is the
// last reader.
// RUN: %ingot-opt --partition-form-kernels=target=x86-64-v2 --layout-assign=target=x86-64-v2 --lower-kernels=target=x86-64-v2 --memory-plan --split-input-file %s > %t
// RUN: FileCheck %s < %t
// RUN: %ingot-opt --split-input-file %t | diff %t -

// Outputs are the caller's own buffers.
// CHECK-LABEL: func.func @edges
// CHECK-SAME: (%[[X:[^:]*]]: !plan.buffer<tensor<8x8xf32>>, %[[Y:[^:]*]]: !plan.buffer<tensor<8x8xf32>> {plan.output}, %[[Z:[^:]*]]: !plan.buffer<tensor<8x8xf32>> {plan.output})
// CHECK-NEXT: plan.launch {{.*}}(%[[X]]) into(%[[Z]])
// CHECK-NEXT: plan.launch {{.*}}(%[[Z]]) into(%[[Y]])
// CHECK-NEXT: plan.return
func.func @edges(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = onnx.Softmax %x {axis = -1 : i64} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = onnx.Softmax %0 {axis = 0 : i64} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1, %0 : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// Products in a row take two buffers in turn: the first one's is free when the third writes.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: (%[[X:[^:]*]]: {{.*}}, %[[W:[^:]*]]: {{.*}}, %[[Y:[^:]*]]: {{.*}} {plan.output})
// CHECK-DAG: %[[A:.*]] = plan.slot "matmul_" of <256> at 0
// CHECK-DAG: %[[C:.*]] = plan.slot "matmul_" of <256> at 0
// CHECK-DAG: %[[B:.*]] = plan.slot "matmul_" of <256> at 256
// CHECK: %[[FIRST:.*]] = plan.buffer %[[A]] at <0>
// CHECK: plan.launch {{.*}}(%[[X]], %[[W]]) into(%[[FIRST]])
// CHECK: %[[SECOND:.*]] = plan.buffer %[[B]] at <0>
// CHECK: plan.launch {{.*}}(%[[FIRST]], %[[W]]) into(%[[SECOND]])
// CHECK: %[[THIRD:.*]] = plan.buffer %[[C]] at <0>
// CHECK: plan.launch {{.*}}(%[[SECOND]], %[[W]]) into(%[[THIRD]])
// CHECK: plan.launch {{.*}}(%[[THIRD]], %[[W]]) into(%[[Y]])
func.func @chain(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = onnx.MatMul %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = onnx.MatMul %0, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = onnx.MatMul %1, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = onnx.MatMul %2, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}

// -----

// Joined pieces are parts of one buffer.
// CHECK-LABEL: func.func @joined
// CHECK: %[[SLOT:.*]] = plan.slot {{.*}} of <512> at 0
// CHECK-NEXT: %[[A:.*]] = plan.buffer %[[SLOT]] at <0>
// CHECK-NEXT: plan.launch {{.*}} into(%[[A]])
// CHECK-NEXT: %[[B:.*]] = plan.buffer %[[SLOT]] at <256>
// CHECK-NEXT: plan.launch {{.*}} into(%[[B]])
// CHECK-NEXT: %[[ALL:.*]] = plan.buffer %[[SLOT]] at <0> : !plan.memory -> <tensor<16x8xf32>>
// CHECK-NEXT: plan.launch {{.*}}(%[[ALL]]) into
func.func @joined(%x: tensor<8x8xf32>) -> tensor<16x1xf32> {
  %0 = onnx.Softmax %x {axis = -1 : i64} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = onnx.Softmax %x {axis = 0 : i64} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = onnx.Concat %0, %1 {axis = 0 : i64} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
  %3 = onnx.Reduce %2 {axes = array<i64: 1>, keepdims, kind = "Max"} : (tensor<16x8xf32>) -> tensor<16x1xf32>
  return %3 : tensor<16x1xf32>
}

// -----

// An elementwise kernel that reads a value last writes where it was; the product after it must not.
// CHECK-LABEL: func.func @inPlace
// CHECK-DAG: %[[FIRST:.*]] = plan.slot "softmax_" of <256> at 0
// CHECK-DAG: %[[OTHER:.*]] = plan.slot "matmul_" of <256> at 256
// CHECK: %[[X:.*]] = plan.buffer %[[FIRST]] at <0>
// CHECK: plan.launch @softmax{{.*}} into(%[[X]])
// CHECK: %[[Y:.*]] = plan.buffer %[[FIRST]] at <0>
// CHECK: plan.launch @elementwise{{.*}}(%[[X]], {{.*}} into(%[[Y]])
// CHECK: %[[Z:.*]] = plan.buffer %[[OTHER]] at <0>
// CHECK: plan.launch @matmul{{.*}} into(%[[Z]])
func.func @inPlace(%x: tensor<8x8xf32>, %y: tensor<8x1xf32>) -> tensor<8x8xf32> {
  %0 = onnx.Softmax %x {axis = -1 : i64} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %m = onnx.Reduce %0 {axes = array<i64: 0>, keepdims, kind = "Max"} : (tensor<8x8xf32>) -> tensor<1x8xf32>
  %1 = onnx.Sub %0, %m : (tensor<8x8xf32>, tensor<1x8xf32>) -> tensor<8x8xf32>
  %2 = onnx.MatMul %1, %1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = onnx.Softmax %2 {axis = -1 : i64} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}
