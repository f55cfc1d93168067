// A read of streamed weights is a buffer of the arena from where it begins, so that what is read while a launch runs lies beside what this
// launch reads.
// RUN: %ingot-opt %s > %t && %ingot-opt %t | diff %t -
// RUN: %ingot-opt --memory-plan %s > %t.memory && %ingot-opt %t.memory | diff %t.memory -
// RUN: FileCheck %s < %t.memory

// CHECK-LABEL: func.func @streamed
// CHECK-DAG: %[[A:.*]] = plan.slot "k weights" of <64> at
// CHECK-DAG: %[[B:.*]] = plan.slot "l weights" of <64> at
// CHECK: %[[INTO:.*]] = plan.buffer %[[A]] at <0> : {{.*}}tensor<64xi8>
// CHECK-NEXT: plan.fetch "k" at 0 into %[[INTO]] :
// CHECK-NEXT: plan.fetched
// CHECK: plan.fetch "l" at 64 into
// CHECK: %[[READ:.*]] = plan.buffer %[[A]] at <16> : {{.*}}tensor<8xf32>
// CHECK: plan.launch @k(%{{.*}}, %[[READ]])
// CHECK-NEXT: plan.fetched
func.func @streamed(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = plan.fetch "k" at 0 -> tensor<64xi8>
  plan.fetched
  %b = plan.fetch "l" at 64 -> tensor<64xi8>
  %u = plan.view %a at <16> : tensor<64xi8> -> tensor<8xf32>
  %m = plan.launch @k(%x, %u) {items = #onnx.size<1>, scratchBytes = #onnx.size<0>} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  plan.fetched
  %v = plan.view %b at <0> : tensor<64xi8> -> tensor<8xf32>
  %y = plan.launch @l(%m, %v) {items = #onnx.size<1>, scratchBytes = #onnx.size<0>} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
func.func private @k(memref<8xf32>, memref<8xf32>, memref<8xf32>, index, index)
func.func private @l(memref<8xf32>, memref<8xf32>, memref<8xf32>, index, index)
