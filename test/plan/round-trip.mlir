// What is printed of kernels, layouts, views, joins, weights and launches is read back as the same.
// RUN: %ingot-opt --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --split-input-file %s > %t.layout
// RUN: %ingot-opt --split-input-file %t.layout | diff %t.layout -
// RUN: FileCheck %s --check-prefix=LAYOUT < %t.layout
// RUN: %ingot-opt --lower-kernels=target=x86-64-v3 --split-input-file %t.layout > %t.lowered
// RUN: %ingot-opt --split-input-file %t.lowered | diff %t.lowered -
// RUN: FileCheck %s --check-prefix=LOWERED < %t.lowered
// RUN: %ingot-opt --memory-plan --split-input-file %t.lowered > %t.memory
// RUN: %ingot-opt --split-input-file %t.memory | diff %t.memory -
// RUN: FileCheck %s --check-prefix=MEMORY < %t.memory

// LAYOUT: plan.reorder {{.*}}#plan.blocked<8, halo = [1, 1, 1, 1]>
// LAYOUT: plan.kernel
// LAYOUT: onnx.Conv
// LAYOUT: plan.yield
// LOWERED: plan.weight at 0
// LOWERED: plan.launch @conv
// MEMORY: plan.weights
// MEMORY: plan.slot {{.*}} at 0
// MEMORY: plan.launch @conv
func.func @blocked(%x: tensor<1x16x8x8xf32>) -> tensor<1x32x8x8xf32> {
  %w = onnx.Constant dense<0.5> : tensor<32x16x3x3xf32>
  %b = "onnx.None"() : () -> none
  %0 = "onnx.Conv"(%x, %w, %b) <{pads = array<i64: 1, 1, 1, 1>}> : (tensor<1x16x8x8xf32>, tensor<32x16x3x3xf32>, none) -> tensor<1x32x8x8xf32>
  %1 = onnx.Relu %0 : (tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32>
  return %1 : tensor<1x32x8x8xf32>
}

// -----

// LAYOUT: plan.join
// LOWERED: plan.join
func.func @joined(%x: tensor<1x16xf32>, %y: tensor<1x8xf32>) -> tensor<1x24xf32> {
  %0 = onnx.Relu %x : (tensor<1x16xf32>) -> tensor<1x16xf32>
  %1 = onnx.Neg %y : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %2 = "onnx.Concat"(%0, %1) <{axis = 1 : i64}> : (tensor<1x16xf32>, tensor<1x8xf32>) -> tensor<1x24xf32>
  return %2 : tensor<1x24xf32>
}
