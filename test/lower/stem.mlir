// First convolutions of few channels copy the rows that they read, in pieces that are the work items: as equal as can be, and a multiple of eight, four or two of them, so that threads end together. (The last piece of 64 rows was 4 rows high, the others 30.)
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v4 --layout-assign=target=x86-64-v4 --lower-kernels=target=x86-64-v4 --split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func @eight
// CHECK: plan.launch @{{conv_[0-9_]*}}({{.*items}} = #onnx.size<8>
// CHECK-SAME: tensor<1x16x64x64xf32
func.func @eight(%x: tensor<1x3x128x128xf32>) -> tensor<1x16x64x64xf32> {
  %w = onnx.Constant dense<0.5> : tensor<16x3x5x5xf32>
  %b = "onnx.None"() : () -> none
  %0 = "onnx.Conv"(%x, %w, %b) <{pads = array<i64: 2, 2, 2, 2>, strides = array<i64: 2, 2>}> : (tensor<1x3x128x128xf32>, tensor<16x3x5x5xf32>, none) -> tensor<1x16x64x64xf32>
  return %0 : tensor<1x16x64x64xf32>
}

// -----

// 42 rows, which eight does not divide: six pieces of five rows and two of six.
// CHECK-LABEL: func.func @uneven
// CHECK: plan.launch @[[CONV:conv_[0-9]*]]({{.*items}} = #onnx.size<8>
// CHECK: func.func private @[[CONV]]
// CHECK: arith.muli %{{.*}}, %c42
// CHECK: arith.divui %{{.*}}, %c8
func.func @uneven(%x: tensor<1x3x84x84xf32>) -> tensor<1x64x42x42xf32> {
  %w = onnx.Constant dense<0.5> : tensor<64x3x5x5xf32>
  %b = "onnx.None"() : () -> none
  %0 = "onnx.Conv"(%x, %w, %b) <{pads = array<i64: 2, 2, 2, 2>, strides = array<i64: 2, 2>}> : (tensor<1x3x84x84xf32>, tensor<64x3x5x5xf32>, none) -> tensor<1x64x42x42xf32>
  return %0 : tensor<1x64x42x42xf32>
}

// -----

// Pieces of less than four rows would copy more than they compute: of 14 rows there are two, of five rows one.
// CHECK-LABEL: func.func @low
// CHECK: plan.launch @{{conv_[0-9_]*}}({{.*items}} = #onnx.size<2>
// CHECK-SAME: tensor<1x256x14x120xf32
// CHECK: plan.launch @{{conv_[0-9_]*}}({{.*items}} = #onnx.size<1>
// CHECK-SAME: tensor<1x256x5x120xf32
func.func @low(%x: tensor<1x3x28x240xf32>, %y: tensor<1x3x10x240xf32>) -> (tensor<1x256x14x120xf32>, tensor<1x256x5x120xf32>) {
  %w = onnx.Constant dense<0.5> : tensor<256x3x5x5xf32>
  %b = "onnx.None"() : () -> none
  %0 = "onnx.Conv"(%x, %w, %b) <{pads = array<i64: 2, 2, 2, 2>, strides = array<i64: 2, 2>}> : (tensor<1x3x28x240xf32>, tensor<256x3x5x5xf32>, none) -> tensor<1x256x14x120xf32>
  %1 = "onnx.Conv"(%y, %w, %b) <{pads = array<i64: 2, 2, 2, 2>, strides = array<i64: 2, 2>}> : (tensor<1x3x10x240xf32>, tensor<256x3x5x5xf32>, none) -> tensor<1x256x5x120xf32>
  return %0, %1 : tensor<1x256x14x120xf32>, tensor<1x256x5x120xf32>
}
