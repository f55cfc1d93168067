// What may be merged or dropped: launches on tensors that end no run and find no size, buffers and memories, and nothing that writes or may end the run.
// RUN: %ingot-opt --cse --canonicalize --split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func @equal
// CHECK-COUNT-1: plan.launch
// CHECK-NOT: plan.launch
func.func @equal(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = plan.launch @f(%x) {items = #onnx.size<1>, scratchBytes = #onnx.size<0>} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = plan.launch @f(%x) {items = #onnx.size<1>, scratchBytes = #onnx.size<0>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @unused
// CHECK-NEXT: plan.launch @checked
// CHECK-NEXT: plan.launch @finds
// CHECK-NEXT: return
func.func @unused(%x: tensor<8xf32>) {
  %0 = plan.launch @pure(%x) {items = #onnx.size<1>, scratchBytes = #onnx.size<0>} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = plan.launch @checked(%x) {checked, items = #onnx.size<1>, scratchBytes = #onnx.size<0>} : (tensor<8xf32>) -> tensor<8xf32>
  %2 = plan.launch @finds(%x) {dataDependentSize = #onnx.symbol<"$0">, items = #onnx.size<1>, scratchBytes = #onnx.size<0>} : (tensor<8xf32>) -> tensor<i64>
  return
}

// -----

// CHECK-LABEL: func.func @buffers
// CHECK-NEXT: %[[S:.*]] = plan.slot
// CHECK-NEXT: %[[A:.*]] = plan.host_allocation 0
// CHECK-NEXT: plan.need <64> in %[[A]]
// CHECK-NEXT: %[[B:.*]] = plan.buffer %[[S]] at <0>
// CHECK-NEXT: plan.launch @f(%{{.*}}) into(%[[B]])
// CHECK-NEXT: plan.launch @f(%{{.*}}) into(%[[B]])
// CHECK-NEXT: plan.check
// CHECK-NEXT: plan.release %[[A]]
// CHECK-NEXT: plan.return
func.func @buffers(%x: !plan.buffer<tensor<8xf32>>) {
  %s = plan.slot "a" of <64> at 0
  %idle = plan.slot "b" of <64> at 64
  %a = plan.host_allocation 0
  plan.need <64> in %a keeping <0>
  %0 = plan.buffer %s at <0> : !plan.memory -> <tensor<8xf32>>
  plan.launch @f(%x) into(%0) {items = #onnx.size<1>, scratchBytes = #onnx.size<0>} : (!plan.buffer<tensor<8xf32>>) -> () into !plan.buffer<tensor<8xf32>>
  %1 = plan.buffer %s at <0> : !plan.memory -> <tensor<8xf32>>
  plan.launch @f(%x) into(%1) {items = #onnx.size<1>, scratchBytes = #onnx.size<0>} : (!plan.buffer<tensor<8xf32>>) -> () into !plan.buffer<tensor<8xf32>>
  plan.check <"n", 3> of "node"
  plan.release %a
  plan.return
}
