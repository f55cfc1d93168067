// Buffers get places in one arena: disjoint while both live, reused after, in place where an elementwise kernel is the
// last reader. Of each result: the number of the model's output that it is, or -1, and the offset there or in the arena.
// RUN: %ingot-opt --partition-form-kernels=target=x86-64-v2 --layout-assign=target=x86-64-v2 --lower-kernels=target=x86-64-v2 --memory-plan --split-input-file %s | FileCheck %s

// Outputs are the caller's own buffers.
// CHECK-LABEL: func.func @edges
// CHECK: plan.launch {{.*}}plan.places = [#plan.place<1, -1, <0>>]
// CHECK: plan.launch {{.*}}plan.places = [#plan.place<0, -1, <0>>]
func.func @edges(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = onnx.Softmax %x {axis = -1 : i64} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = onnx.Softmax %0 {axis = 0 : i64} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1, %0 : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// Products in a row take two buffers in turn: the first one's is free when the third writes.
// CHECK-LABEL: func.func @chain
// CHECK: plan.launch {{.*}}plan.places = [#plan.place<-1, -1, <0>>]
// CHECK: plan.launch {{.*}}plan.places = [#plan.place<-1, -1, <256>>]
// CHECK: plan.launch {{.*}}plan.places = [#plan.place<-1, -1, <0>>]
// CHECK: plan.launch {{.*}}plan.places = [#plan.place<0, -1, <0>>]
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
// CHECK: plan.launch {{.*}}plan.places = [#plan.place<-1, -1, <0>>]
// CHECK: plan.launch {{.*}}plan.places = [#plan.place<-1, -1, <256>>]
// CHECK: plan.join
// CHECK: plan.launch {{.*}}plan.places = [#plan.place<0, -1, <0>>]
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
// CHECK: plan.launch @softmax{{.*}}plan.places = [#plan.place<-1, -1, <0>>]
// CHECK: plan.launch @elementwise{{.*}}plan.places = [#plan.place<-1, -1, <0>>]
// CHECK: plan.launch @matmul{{.*}}plan.places = [#plan.place<-1, -1, <256>>]
func.func @inPlace(%x: tensor<8x8xf32>, %y: tensor<8x1xf32>) -> tensor<8x8xf32> {
  %0 = onnx.Softmax %x {axis = -1 : i64} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %m = onnx.Reduce %0 {axes = array<i64: 0>, keepdims, kind = "Max"} : (tensor<8x8xf32>) -> tensor<1x8xf32>
  %1 = onnx.Sub %0, %m : (tensor<8x8xf32>, tensor<1x8xf32>) -> tensor<8x8xf32>
  %2 = onnx.MatMul %1, %1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = onnx.Softmax %2 {axis = -1 : i64} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}
