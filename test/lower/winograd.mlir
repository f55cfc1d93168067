// 3x3 convolutions of stride 1 by Winograd's algorithm: V = B^T d B into scratch memory, for each component a product with the transformed weights, then A^T M A with the epilogue.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v4 --layout-assign=target=x86-64-v4 --lower-kernels=target=x86-64-v4 --split-input-file %s | FileCheck %s --check-prefixes=CHECK,V4
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=portable --layout-assign=target=portable --lower-kernels=target=portable --split-input-file %s | FileCheck %s --check-prefixes=CHECK,LOOPS

// F(4x4): nine tiles of 10 x 10 outputs, of which the last of a row and of a column begin at 6, not at 8. The weights are 36 components of 16 x 32.
// CHECK-LABEL: func.func @four
// V4: plan.launch @[[CONV:conv_[0-9]*]]({{.*}} tensor<18432xf32>
// V4: func.func private @[[CONV]](%arg0: memref<2304xf32>{{.*}}, %arg1: memref<18432xf32>{{.*}}, %arg2: memref<32xf32>{{.*}}, %arg3: memref<3200xf32>
// Tiles of inputs become 36 components.
// V4: scf.for {{.*}} = %c0{{.*}} to %c9{{.*}} step
// V4: arith.minsi {{.*}}, %c6
// V4: arith.minsi {{.*}}, %c6
// V4-COUNT-36: vector.load %arg0
// V4-NOT: vector.load
// V4-COUNT-36: vector.store {{.*}}, vector<16xf32>
// V4-NOT: vector.store
// The products: for each component, nine tiles times two vectors of output channels in registers.
// V4: scf.for {{.*}} = %c0{{.*}} to %c36{{.*}} step
// V4: :18 = scf.for {{.*}} = %c0{{.*}} to %c16{{.*}} step %c4
// V4-COUNT-72: vector.fma
// V4-NOT: vector.fma
// V4: scf.yield
// V4-COUNT-18: vector.store
// V4-NOT: vector.store
// Of a tile that begins earlier the pixels that the one before it has stored are left out: two of four in a row and in a column.
// V4: scf.for {{.*}} = %c0{{.*}} to %c9{{.*}} step
// V4-COUNT-36: vector.load
// V4-COUNT-4: vector.store {{.*}}, %arg3
// V4: scf.if
// V4-COUNT-4: vector.store {{.*}}, %arg3
// V4: scf.if
// V4-COUNT-4: vector.store {{.*}}, %arg3
// V4: scf.if
// V4-COUNT-4: vector.store {{.*}}, %arg3
// V4-NOT: vector.store {{.*}}, %arg3
// Without vectors nothing is gained.
// LOOPS: plan.launch @conv_{{[0-9]*}}({{.*}} tensor<4608xf32>
module attributes {ingot.winograd = "4"} {
  func.func @four(%x: tensor<1x16x10x10xf32>) -> tensor<1x32x10x10xf32> {
    %w = onnx.Constant dense<0.5> : tensor<32x16x3x3xf32>
    %b = onnx.Constant dense<0.5> : tensor<32xf32>
    %0 = "onnx.Conv"(%x, %w, %b) <{pads = array<i64: 1, 1, 1, 1>}> : (tensor<1x16x10x10xf32>, tensor<32x16x3x3xf32>, tensor<32xf32>) -> tensor<1x32x10x10xf32>
    %1 = "onnx.Relu"(%0) : (tensor<1x32x10x10xf32>) -> tensor<1x32x10x10xf32>
    return %1 : tensor<1x32x10x10xf32>
  }
}

// -----

// F(2x2) has 16 components, and nothing is left out where tiles of two fit the image.
// CHECK-LABEL: func.func @two
// V4: plan.launch @[[CONV:conv_[0-9]*]]({{.*}} tensor<8192xf32>
// V4: func.func private @[[CONV]](
// V4-NOT: scf.if
// V4: return
module attributes {ingot.winograd = "2"} {
  func.func @two(%x: tensor<1x16x10x10xf32>) -> tensor<1x32x10x10xf32> {
    %w = onnx.Constant dense<0.5> : tensor<32x16x3x3xf32>
    %b = "onnx.None"() : () -> none
    %0 = "onnx.Conv"(%x, %w, %b) <{pads = array<i64: 1, 1, 1, 1>}> : (tensor<1x16x10x10xf32>, tensor<32x16x3x3xf32>, none) -> tensor<1x32x10x10xf32>
    return %0 : tensor<1x32x10x10xf32>
  }
}

// -----

// Along one axis there are six components, and taps that are two pixels apart make tiles whose outputs are, too: twice three rows and columns of them, where one of 10 tiles in a row of 20 pixels begins earlier.
// CHECK-LABEL: func.func @apart
// V4: plan.launch {{.*}} tensor<1536xf32>
// V4: plan.launch {{.*}} tensor<1536xf32>
// V4: plan.launch @[[CONV:conv_[_0-9]*]]({{.*}} tensor<9216xf32>
// V4: func.func private @[[CONV]](%arg0: memref<9216xf32>
// V4: scf.for {{.*}} = %c0{{.*}} to %c36{{.*}} step
// V4: arith.divui {{.*}}, %c2
// V4: arith.minsi {{.*}}, %c12
// V4: arith.remui {{.*}}, %c2
// V4-COUNT-36: vector.load %arg0
// V4-NOT: vector.load %arg0
module attributes {ingot.winograd = "4"} {
  func.func @apart(%x: tensor<1x16x1x40xf32>, %y: tensor<1x16x20x20xf32>) -> (tensor<1x16x1x40xf32>, tensor<1x16x20x20xf32>, tensor<1x16x20x20xf32>) {
    %u = onnx.Constant dense<0.5> : tensor<16x16x1x3xf32>
    %v = onnx.Constant dense<0.5> : tensor<16x16x3x1xf32>
    %w = onnx.Constant dense<0.5> : tensor<16x16x3x3xf32>
    %b = "onnx.None"() : () -> none
    %0 = "onnx.Conv"(%x, %u, %b) <{pads = array<i64: 0, 1, 0, 1>}> : (tensor<1x16x1x40xf32>, tensor<16x16x1x3xf32>, none) -> tensor<1x16x1x40xf32>
    %1 = "onnx.Conv"(%y, %v, %b) <{pads = array<i64: 1, 0, 1, 0>}> : (tensor<1x16x20x20xf32>, tensor<16x16x3x1xf32>, none) -> tensor<1x16x20x20xf32>
    %2 = "onnx.Conv"(%y, %w, %b) <{dilations = array<i64: 2, 2>, pads = array<i64: 2, 2, 2, 2>}> : (tensor<1x16x20x20xf32>, tensor<16x16x3x3xf32>, none) -> tensor<1x16x20x20xf32>
    return %0, %1, %2 : tensor<1x16x1x40xf32>, tensor<1x16x20x20xf32>, tensor<1x16x20x20xf32>
  }
}

// -----

// Five taps along both axes are 64 components of four by four outputs; two groups of a block are 36 each, of half the
// channels.
// CHECK-LABEL: func.func @filters
// V4: plan.launch {{.*}} tensor<16384xf32>
// V4: plan.launch {{.*}} tensor<18432xf32>
// LOOPS: plan.launch {{.*}} tensor<6400xf32>
// LOOPS: plan.launch {{.*}} tensor<4608xf32>
module attributes {ingot.winograd = "4"} {
  func.func @filters(%x: tensor<1x16x20x20xf32>, %y: tensor<1x32x20x20xf32>) -> (tensor<1x16x20x20xf32>, tensor<1x32x20x20xf32>) {
    %v = onnx.Constant dense<0.5> : tensor<16x16x5x5xf32>
    %w = onnx.Constant dense<0.5> : tensor<32x16x3x3xf32>
    %b = "onnx.None"() : () -> none
    %0 = "onnx.Conv"(%x, %v, %b) <{pads = array<i64: 2, 2, 2, 2>}> : (tensor<1x16x20x20xf32>, tensor<16x16x5x5xf32>, none) -> tensor<1x16x20x20xf32>
    %1 = "onnx.Conv"(%y, %w, %b) <{group = 2 : i64, pads = array<i64: 1, 1, 1, 1>}> : (tensor<1x32x20x20xf32>, tensor<32x16x3x3xf32>, none) -> tensor<1x32x20x20xf32>
    return %0, %1 : tensor<1x16x20x20xf32>, tensor<1x32x20x20xf32>
  }
}

// -----

// An image of three rows has no tile of four, one of 20 none whose outputs are six apart; other strides, seven taps for four outputs, and groups of less than a block are none of these. An image whose size the run tells is: its last tiles may be larger than it.
// CHECK-LABEL: func.func @direct
// CHECK: plan.launch {{.*}} tensor<2304xf32>
// CHECK: plan.launch {{.*}} tensor<2304xf32>
// CHECK: plan.launch {{.*}} tensor<2304xf32>
// CHECK: plan.launch {{.*}} tensor<12544xf32>
// V4: plan.launch {{.*}} tensor<9216xf32>
// LOOPS: plan.launch {{.*}} tensor<2304xf32>
module attributes {ingot.winograd = "4"} {
  func.func @direct(%x: tensor<1x16x3x9xf32>, %y: tensor<1x16x20x20xf32>, %z: tensor<1x16x?x?xf32, #onnx.sizes<1, 16, "h", "w">>)
      -> (tensor<1x16x3x9xf32>, tensor<1x16x10x10xf32>, tensor<1x16x20x20xf32>, tensor<1x16x20x20xf32>, tensor<1x16x?x?xf32, #onnx.sizes<1, 16, "h", "w">>) {
    %w = onnx.Constant dense<0.5> : tensor<16x16x3x3xf32>
    %v = onnx.Constant dense<0.5> : tensor<16x16x7x7xf32>
    %b = "onnx.None"() : () -> none
    %0 = "onnx.Conv"(%x, %w, %b) <{pads = array<i64: 1, 1, 1, 1>}> : (tensor<1x16x3x9xf32>, tensor<16x16x3x3xf32>, none) -> tensor<1x16x3x9xf32>
    %1 = "onnx.Conv"(%y, %w, %b) <{pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>}> : (tensor<1x16x20x20xf32>, tensor<16x16x3x3xf32>, none) -> tensor<1x16x10x10xf32>
    %2 = "onnx.Conv"(%y, %w, %b) <{dilations = array<i64: 6, 6>, pads = array<i64: 6, 6, 6, 6>}> : (tensor<1x16x20x20xf32>, tensor<16x16x3x3xf32>, none) -> tensor<1x16x20x20xf32>
    %3 = "onnx.Conv"(%y, %v, %b) <{pads = array<i64: 3, 3, 3, 3>}> : (tensor<1x16x20x20xf32>, tensor<16x16x7x7xf32>, none) -> tensor<1x16x20x20xf32>
    %4 = "onnx.Conv"(%z, %w, %b) <{pads = array<i64: 1, 1, 1, 1>}> : (tensor<1x16x?x?xf32, #onnx.sizes<1, 16, "h", "w">>, tensor<16x16x3x3xf32>, none) -> tensor<1x16x?x?xf32, #onnx.sizes<1, 16, "h", "w">>
    return %0, %1, %2, %3, %4 : tensor<1x16x3x9xf32>, tensor<1x16x10x10xf32>, tensor<1x16x20x20xf32>, tensor<1x16x20x20xf32>, tensor<1x16x?x?xf32, #onnx.sizes<1, 16, "h", "w">>
  }
}

// -----

// By the estimate: F(4x4) on 56 x 56 pixels. On 7 x 7 of 512 channels its weights, 37.7 MB, would take longer to come than the products of a direct convolution; F(2x2) has 16.8 MB.
// CHECK-LABEL: func.func @large
// V4: plan.launch {{.*}} tensor<147456xf32>
// V4: plan.launch {{.*}} tensor<4194304xf32>
// LOOPS: plan.launch {{.*}} tensor<36864xf32>
func.func @large(%x: tensor<1x64x56x56xf32>, %y: tensor<1x512x7x7xf32>) -> (tensor<1x64x56x56xf32>, tensor<1x512x7x7xf32>) {
  %w = onnx.Constant dense<0.5> : tensor<64x64x3x3xf32>
  %v = onnx.Constant dense<0.5> : tensor<512x512x3x3xf32>
  %b = "onnx.None"() : () -> none
  %0 = "onnx.Conv"(%x, %w, %b) <{pads = array<i64: 1, 1, 1, 1>}> : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>, none) -> tensor<1x64x56x56xf32>
  %1 = "onnx.Conv"(%y, %v, %b) <{pads = array<i64: 1, 1, 1, 1>}> : (tensor<1x512x7x7xf32>, tensor<512x512x3x3xf32>, none) -> tensor<1x512x7x7xf32>
  return %0, %1 : tensor<1x64x56x56xf32>, tensor<1x512x7x7xf32>
}

// -----

// Strict accuracy.
// CHECK-LABEL: func.func @strict
// CHECK: plan.launch {{.*}} tensor<36864xf32>
module attributes {ingot.winograd = "off"} {
  func.func @strict(%x: tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32> {
    %w = onnx.Constant dense<0.5> : tensor<64x64x3x3xf32>
    %b = "onnx.None"() : () -> none
    %0 = "onnx.Conv"(%x, %w, %b) <{pads = array<i64: 1, 1, 1, 1>}> : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>, none) -> tensor<1x64x56x56xf32>
    return %0 : tensor<1x64x56x56xf32>
  }
}

// -----

// Of narrow floats the transformed weights are float32, the input and the bias are widened where they are read.
// CHECK-LABEL: func.func @half
// V4: plan.launch @[[CONV:conv_[0-9_]*]]({{.*}} tensor<18432xf32>
// V4: func.func private @[[CONV]](%arg0: memref<2304xi16>{{.*}}, %arg1: memref<18432xf32>{{.*}}, %arg2: memref<32xi16>{{.*}}, %arg3: memref<3200xi16>
module attributes {ingot.winograd = "4"} {
  func.func @half(%x: tensor<1x16x10x10xf16>) -> tensor<1x32x10x10xf16> {
    %w = onnx.Constant dense<0.5> : tensor<32x16x3x3xf16>
    %b = onnx.Constant dense<0.5> : tensor<32xf16>
    %0 = "onnx.Conv"(%x, %w, %b) <{pads = array<i64: 1, 1, 1, 1>}> : (tensor<1x16x10x10xf16>, tensor<32x16x3x3xf16>, tensor<32xf16>) -> tensor<1x32x10x10xf16>
    return %0 : tensor<1x32x10x10xf16>
  }
}
