// Kernels of which each reads the rows that the one before it makes become links of one kernel, where what lies between them exceeds the second cache.
// RUN: %ingot-opt --partition-form-kernels=target=znver5 --layout-assign=target=znver5 --layout-form-chains=target=znver5 --split-input-file %s | FileCheck %s

// A block of MobileNet V2 in its first stages: expand, depthwise and project. The sum is the last link's.
// CHECK-LABEL: @inverted
// CHECK: plan.reorder
// CHECK: "plan.kernel"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[X:.*]])
// CHECK: %[[E:.*]] = "plan.kernel"
// CHECK: onnx.Conv
// CHECK-SAME: tensor<144x24x1x1xf32>
// CHECK: onnx.Relu
// CHECK: -> tensor<1x144x56x56xf32, #plan.blocked<16, halo = [1, 1, 1, 1]>>
// CHECK: %[[D:.*]] = "plan.kernel"(%[[E]],
// CHECK: onnx.Conv
// CHECK-SAME: group = 144
// CHECK: -> tensor<1x144x56x56xf32, #plan.blocked<16>>
// CHECK: %[[P:.*]] = "plan.kernel"(%[[D]],
// CHECK: onnx.Conv
// CHECK-SAME: tensor<24x144x1x1xf32>
// CHECK: onnx.Add
// CHECK: plan.yield %[[P]] : tensor<1x24x56x56xf32, #plan.blocked<16>>
// CHECK: plan.reorder
func.func @inverted(%x: tensor<1x24x56x56xf32>) -> tensor<1x24x56x56xf32> {
  %none = onnx.None : none
  %u = onnx.Constant dense<0.5> : tensor<144x24x1x1xf32>
  %v = onnx.Constant dense<0.5> : tensor<144x1x3x3xf32>
  %w = onnx.Constant dense<0.5> : tensor<24x144x1x1xf32>
  %0 = onnx.Conv %x, %u, %none : (tensor<1x24x56x56xf32>, tensor<144x24x1x1xf32>, none) -> tensor<1x144x56x56xf32>
  %1 = onnx.Relu %0 : (tensor<1x144x56x56xf32>) -> tensor<1x144x56x56xf32>
  %2 = onnx.Conv %1, %v, %none {group = 144 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x144x56x56xf32>, tensor<144x1x3x3xf32>, none) -> tensor<1x144x56x56xf32>
  %3 = onnx.Conv %2, %w, %none : (tensor<1x144x56x56xf32>, tensor<24x144x1x1xf32>, none) -> tensor<1x24x56x56xf32>
  %4 = onnx.Add %3, %x : (tensor<1x24x56x56xf32>, tensor<1x24x56x56xf32>) -> tensor<1x24x56x56xf32>
  return %4 : tensor<1x24x56x56xf32>
}

// -----

// What is small stays: it passes through the second cache anyhow.
// CHECK-LABEL: @small
// CHECK-COUNT-3: onnx.Conv
// CHECK-NOT: plan.yield %{{.*}} : tensor<1x24x14x14xf32, #plan.blocked<16>>
// CHECK: return
func.func @small(%x: tensor<1x24x14x14xf32>) -> tensor<1x24x14x14xf32> {
  %none = onnx.None : none
  %u = onnx.Constant dense<0.5> : tensor<144x24x1x1xf32>
  %v = onnx.Constant dense<0.5> : tensor<144x1x3x3xf32>
  %w = onnx.Constant dense<0.5> : tensor<24x144x1x1xf32>
  %0 = onnx.Conv %x, %u, %none : (tensor<1x24x14x14xf32>, tensor<144x24x1x1xf32>, none) -> tensor<1x144x14x14xf32>
  %2 = onnx.Conv %0, %v, %none {group = 144 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x144x14x14xf32>, tensor<144x1x3x3xf32>, none) -> tensor<1x144x14x14xf32>
  %3 = onnx.Conv %2, %w, %none : (tensor<1x144x14x14xf32>, tensor<24x144x1x1xf32>, none) -> tensor<1x24x14x14xf32>
  return %3 : tensor<1x24x14x14xf32>
}

// -----

// A second reader needs the whole result: the chain begins behind it.
// CHECK-LABEL: @second_reader
// CHECK: plan.reorder
// CHECK: onnx.Conv
// CHECK-SAME: tensor<144x24x1x1xf32>
// CHECK: -> tensor<1x144x56x56xf32, #plan.blocked<16, halo = [1, 1, 1, 1]>>
// CHECK: plan.reorder
// CHECK: "plan.kernel"
// CHECK-NEXT: ^bb0
// CHECK-NEXT: %[[D:.*]] = "plan.kernel"
// CHECK: group = 144
// CHECK: %[[P:.*]] = "plan.kernel"(%[[D]],
// CHECK: plan.yield %[[P]]
func.func @second_reader(%x: tensor<1x24x56x56xf32>) -> (tensor<1x144x56x56xf32>, tensor<1x24x56x56xf32>) {
  %none = onnx.None : none
  %u = onnx.Constant dense<0.5> : tensor<144x24x1x1xf32>
  %v = onnx.Constant dense<0.5> : tensor<144x1x3x3xf32>
  %w = onnx.Constant dense<0.5> : tensor<24x144x1x1xf32>
  %0 = onnx.Conv %x, %u, %none : (tensor<1x24x56x56xf32>, tensor<144x24x1x1xf32>, none) -> tensor<1x144x56x56xf32>
  %2 = onnx.Conv %0, %v, %none {group = 144 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x144x56x56xf32>, tensor<144x1x3x3xf32>, none) -> tensor<1x144x56x56xf32>
  %3 = onnx.Conv %2, %w, %none : (tensor<1x144x56x56xf32>, tensor<24x144x1x1xf32>, none) -> tensor<1x24x56x56xf32>
  return %0, %3 : tensor<1x144x56x56xf32>, tensor<1x24x56x56xf32>
}
