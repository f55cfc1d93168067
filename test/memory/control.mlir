// Buffers across branches and iterations.
// RUN: %ingot-opt --partition-form-kernels=target=x86-64-v2 --layout-assign=target=x86-64-v2 --lower-kernels=target=x86-64-v2 --memory-plan --split-input-file %s > %t
// RUN: FileCheck %s < %t
// RUN: %ingot-opt --split-input-file %t | diff %t -

// Both branches write the model's output itself.
// CHECK-LABEL: func.func @branches
// CHECK-SAME: %[[Y:[^:(]*]]: !plan.buffer<tensor<8xf32>> {plan.output})
// CHECK-NEXT: %[[C:.*]] = plan.read
// CHECK-NEXT: plan.if %[[C]] {
// CHECK-NEXT: plan.launch {{.*}} into(%[[Y]])
// CHECK-NEXT: plan.end
// CHECK-NEXT: } else {
// CHECK-NEXT: plan.launch {{.*}} into(%[[Y]])
// CHECK-NEXT: plan.end
func.func @branches(%c: tensor<i1>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %y = "onnx.If"(%c) ({
    %0 = onnx.Neg %x : (tensor<8xf32>) -> tensor<8xf32>
    onnx.Yield %0 : tensor<8xf32>
  }, {
    onnx.Yield %x : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// A slice is written into its row; the elementwise next value where the present one lies; the product, which reads all of
// the present value, into a buffer of its own.
// CHECK-LABEL: func.func @iterations
// CHECK-SAME: (%[[X:[^:]*]]: {{[^%]*}}%[[W:[^:]*]]: {{[^%]*}}%[[A:[^:]*]]: {{[^%]*}}{plan.output}, %[[B:[^:]*]]: {{[^%]*}}{plan.output}, %[[S:[^:]*]]: {{[^%]*}}{plan.output})
// CHECK: %[[SLOT:.*]] = plan.slot "matmul_"
// CHECK: plan.copy %[[X]] to %[[A]]
// CHECK-NEXT: plan.copy %[[X]] to %[[B]]
// CHECK-NEXT: plan.loop <"#0"> trips
// CHECK-NEXT: %[[P:.*]] = plan.buffer %[[SLOT]] at <0>
// CHECK-NEXT: plan.launch @matmul{{[^(]*}}(%[[B]], %[[W]]) into(%[[P]])
// CHECK-NEXT: plan.launch @elementwise{{[^(]*}}(%[[A]], %[[X]]) into(%[[A]])
// CHECK-NEXT: %[[ROW:.*]] = plan.buffer %[[S]] at <"32*#0">
// CHECK-NEXT: plan.launch @softmax{{[^(]*}}(%[[A]]) into(%[[ROW]])
// CHECK-NEXT: plan.copy %[[P]] to %[[B]]
// CHECK-NEXT: plan.next
func.func @iterations(%x: tensor<1x8xf32>, %w: tensor<8x8xf32>) -> (tensor<1x8xf32>, tensor<1x8xf32>, tensor<5x1x8xf32>) {
  %n = onnx.Constant dense<5> : tensor<i64>
  %true = onnx.Constant dense<true> : tensor<i1>
  %none = onnx.None : none
  %y:3 = "onnx.Loop"(%n, %none, %x, %x) ({
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %a: tensor<1x8xf32>, %b: tensor<1x8xf32>):
    %0 = onnx.MatMul %b, %w : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
    %1 = onnx.Add %a, %x : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
    %2 = onnx.Softmax %1 {axis = 1 : i64} : (tensor<1x8xf32>) -> tensor<1x8xf32>
    onnx.Yield %true, %1, %0, %2 : tensor<i1>, tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>
  }) : (tensor<i64>, none, tensor<1x8xf32>, tensor<1x8xf32>) -> (tensor<1x8xf32>, tensor<1x8xf32>, tensor<5x1x8xf32>)
  return %y#0, %y#1, %y#2 : tensor<1x8xf32>, tensor<1x8xf32>, tensor<5x1x8xf32>
}

// -----

// What an iteration reads from before the loop lives until the loop ends: the second kernel of the body does not get its place.
// CHECK-LABEL: func.func @around
// CHECK: %[[SLOT:.*]] = plan.slot "softmax_" of <256> at [[K:[0-9]+]]
// CHECK-NOT: at [[K]]{{$}}
// CHECK: %[[BEFORE:.*]] = plan.buffer %[[SLOT]] at <0>
// CHECK: plan.launch {{.*}} into(%[[BEFORE]])
// CHECK: plan.loop
// CHECK: plan.launch @matmul{{[^(]*}}({{.*}}, %[[BEFORE]]) into
func.func @around(%n: tensor<i64>, %x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %true = onnx.Constant dense<true> : tensor<i1>
  %none = onnx.None : none
  %k = onnx.Softmax %x {axis = 0 : i64} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = "onnx.Loop"(%n, %none, %x) ({
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %a: tensor<8x8xf32>):
    %0 = onnx.MatMul %a, %k : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %1 = onnx.Softmax %0 {axis = 0 : i64} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %2 = onnx.Softmax %1 {axis = 1 : i64} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    onnx.Yield %true, %2 : tensor<i1>, tensor<8x8xf32>
  }) : (tensor<i64>, none, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
