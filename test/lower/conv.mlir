// Convolutions in channel blocks: a block of pixels times a block of channels stays in registers through all taps; the padding is zeros of the buffer, so no tap is tested. (Not by Winograd's algorithm: winograd.mlir.)
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V3
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v4 --layout-assign=target=x86-64-v4 --lower-kernels=target=x86-64-v4 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V4

// CHECK-LABEL: func.func @typical
// V4: plan.launch @reorder_(%arg0){{.*}} -> tensor<1x16x8x8xf32, #plan.blocked<16, halo = [1, 1, 1, 1]>>
// V4: plan.launch @[[CONV:conv_[0-9]*]]({{.*}} -> tensor<1x32x8x8xf32, #plan.blocked<16>>
// V4: plan.launch @{{reorder_[0-9_]*}}({{.*}} -> tensor<1x32x8x8xf32>
// The weights are packed, 32 x 16 x 3 x 3, and the input has its border: 16 x 10 x 10.
// V4: func.func private @[[CONV]](%arg0: memref<1600xf32>{{.*}}, %arg1: memref<4608xf32>{{.*}}, %arg2: memref<2048xf32>
// V4: scf.for {{.*}} = %arg3 to %arg4 step %c1
// V4: :16 = scf.for {{.*}} to %c3 step
// V4: :16 = scf.for {{.*}} to %c48{{.*}} step %c4
// V4-COUNT-64: vector.fma {{.*}} : vector<16xf32>
// V4-NOT: vector.fma
// V4: func.func
module attributes {ingot.winograd = "off"} {
func.func @typical(%x: tensor<1x16x8x8xf32>) -> tensor<1x32x8x8xf32> {
  %w = onnx.Constant dense<0.5> : tensor<32x16x3x3xf32>
  %b = "onnx.None"() : () -> none
  %0 = "onnx.Conv"(%x, %w, %b) <{pads = array<i64: 1, 1, 1, 1>}> : (tensor<1x16x8x8xf32>, tensor<32x16x3x3xf32>, none) -> tensor<1x32x8x8xf32>
  return %0 : tensor<1x32x8x8xf32>
}
}

// -----

// With a channel for each group a family of its own takes it: a lane is a channel, and nothing is summed over channels.
// CHECK-LABEL: func.func @depthwise
// CHECK: plan.launch @[[CONV:depthwiseconv_[0-9]*]](
// CHECK: func.func private @[[CONV]](%arg0: memref<1600xf32>{{.*}}, %arg1: memref<144xf32>
// V3: vector.fma {{.*}} : vector<8xf32>
// V4: vector.fma {{.*}} : vector<16xf32>
func.func @depthwise(%x: tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32> {
  %w = onnx.Constant dense<0.5> : tensor<16x1x3x3xf32>
  %b = "onnx.None"() : () -> none
  %0 = "onnx.Conv"(%x, %w, %b) <{group = 16 : i64, pads = array<i64: 1, 1, 1, 1>}> : (tensor<1x16x8x8xf32>, tensor<16x1x3x3xf32>, none) -> tensor<1x16x8x8xf32>
  return %0 : tensor<1x16x8x8xf32>
}

// -----

// A dilation nearly as large as the image: an output leaves out the taps that read padding, by rows as the loop runs, by
// columns in tiles of their own (2, 10 and 2 here, of two taps, one and two), and there is no halo.
// CHECK-LABEL: func.func @reaching
// V4: plan.launch @[[CONV:conv_[0-9]*]]({{.*}} -> tensor<1x32x14x14xf32, #plan.blocked<16>>
// V4: func.func private @[[CONV]](%arg0: memref<3136xf32>{{.*}}, %arg1: memref<4608xf32>
// V4: %[[FIRST:[0-9]*]] = arith.minsi {{.*}} %c3
// V4: %[[LAST:[0-9]*]] = arith.minsi {{.*}} %c3
// V4: :4 = scf.for {{.*}} = %[[FIRST]] to %[[LAST]] step
// V4: :4 = scf.for {{.*}} = %c1{{.*}} to %c3
// V4: :20 = scf.for
// V4: :4 = scf.for
// V4: :4 = scf.for {{.*}} = %c0{{.*}} to %c2
func.func @reaching(%x: tensor<1x16x14x14xf32>) -> tensor<1x32x14x14xf32> {
  %w = onnx.Constant dense<0.5> : tensor<32x16x3x3xf32>
  %b = "onnx.None"() : () -> none
  %0 = "onnx.Conv"(%x, %w, %b) <{dilations = array<i64: 12, 12>, pads = array<i64: 12, 12, 12, 12>}> : (tensor<1x16x14x14xf32>, tensor<32x16x3x3xf32>, none) -> tensor<1x32x14x14xf32>
  return %0 : tensor<1x32x14x14xf32>
}

// -----

// A result that leaves the second cache, and an image that is added to it: both go by in long runs, since all pixels are
// made for a panel of 16 channels before those of the next one. A work item is a panel with a piece of the 3136 pixels.
// V3-LABEL: func.func @expanding
// V3: plan.launch @[[CONV:conv_[0-9]*]](
// V3: func.func private @[[CONV]](
// V3: scf.for
// V3: arith.remui {{.*}}, %c67
// V3: scf.for
// V3-NOT: scf.for {{.*}} to %c16 step
// V3: :12 = scf.for {{.*}} to %c8{{.*}} step
// V3-NOT: scf.for {{.*}} to %c16 step
// V3: func.func
func.func @expanding(%x: tensor<1x64x56x56xf32>, %y: tensor<1x256x56x56xf32>) -> tensor<1x256x56x56xf32> {
  %w = onnx.Constant dense<0.5> : tensor<256x64x1x1xf32>
  %b = "onnx.None"() : () -> none
  %0 = "onnx.Conv"(%x, %w, %b) : (tensor<1x64x56x56xf32>, tensor<256x64x1x1xf32>, none) -> tensor<1x256x56x56xf32>
  %1 = "onnx.Add"(%0, %y) : (tensor<1x256x56x56xf32>, tensor<1x256x56x56xf32>) -> tensor<1x256x56x56xf32>
  return %1 : tensor<1x256x56x56xf32>
}

// -----

// Weights of 9 MiB from memory for 49 pixels: all static tiles go over a part of a panel's channel blocks before any goes on, and sums wait on the stack.
// CHECK-LABEL: func.func @parts
// V4: func.func private @conv_
// V4-NOT: scf.for
// V4: %[[WAITING:.*]] = memref.alloca() {{.*}} : memref<{{[0-9]+}}xf32>
// V4-NOT: memref.alloca
// V4: scf.for %{{.*}} = %arg
// V4: scf.for {{.*}} to %c32{{.*}} step %c
// V4: vector.load %[[WAITING]]
// V4: memref.prefetch
// V4: vector.store {{.*}}, %[[WAITING]]
module attributes {ingot.winograd = "off"} {
func.func @parts(%x: tensor<1x512x7x7xf32>) -> tensor<1x512x7x7xf32> {
  %w = onnx.Constant dense<0.5> : tensor<512x512x3x3xf32>
  %b = "onnx.None"() : () -> none
  %0 = "onnx.Conv"(%x, %w, %b) <{pads = array<i64: 1, 1, 1, 1>}> : (tensor<1x512x7x7xf32>, tensor<512x512x3x3xf32>, none) -> tensor<1x512x7x7xf32>
  return %0 : tensor<1x512x7x7xf32>
}
}
