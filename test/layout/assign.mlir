// Blocked layout between convolutions, halos in the buffers, concatenation in place.
// RUN: %ingot-opt --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --split-input-file %s | FileCheck %s

// Two convolutions agree: one reorder before, one behind, none between. The halo that the second one reads is the
// first one's result's; its own result has none.
// CHECK-LABEL: @agree
// CHECK: plan.reorder %{{.*}} : tensor<1x16x8x8xf32> -> tensor<1x16x8x8xf32, #plan.blocked<8, halo = [1, 1, 1, 1]>>
// CHECK: onnx.Conv
// CHECK-NOT: plan.reorder
// CHECK: -> tensor<1x16x8x8xf32, #plan.blocked<8, halo = [2, 2, 2, 2]>>
// CHECK-NOT: plan.reorder
// CHECK: onnx.Conv
// CHECK: -> tensor<1x16x8x8xf32, #plan.blocked<8>>
// CHECK: plan.reorder %{{.*}} : tensor<1x16x8x8xf32, #plan.blocked<8>> -> tensor<1x16x8x8xf32>
// CHECK-NOT: plan.reorder
// CHECK: return
func.func @agree(%x: tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32> {
  %none = onnx.None : none
  %w = onnx.Constant dense<0.5> : tensor<16x16x3x3xf32>
  %v = onnx.Constant dense<0.5> : tensor<16x16x5x5xf32>
  %0 = onnx.Conv %x, %w, %none {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x8x8xf32>, tensor<16x16x3x3xf32>, none) -> tensor<1x16x8x8xf32>
  %1 = onnx.Relu %0 : (tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %2 = onnx.Conv %1, %v, %none {pads = array<i64: 2, 2, 2, 2>} : (tensor<1x16x8x8xf32>, tensor<16x16x5x5xf32>, none) -> tensor<1x16x8x8xf32>
  return %2 : tensor<1x16x8x8xf32>
}

// -----

// A pool and a sum follow the layout of what they read.
// CHECK-LABEL: @follow
// CHECK-COUNT-1: -> tensor<1x16x8x8xf32, #plan.blocked<8{{.*}}>>
// CHECK: onnx.MaxPool
// CHECK: -> tensor<1x16x4x4xf32, #plan.blocked<8>>
// CHECK: plan.reorder
// CHECK-NOT: plan.reorder
// CHECK: return
func.func @follow(%x: tensor<1x3x8x8xf32>) -> tensor<1x16x4x4xf32> {
  %none = onnx.None : none
  %w = onnx.Constant dense<0.5> : tensor<16x3x1x1xf32>
  %0 = onnx.Conv %x, %w, %none : (tensor<1x3x8x8xf32>, tensor<16x3x1x1xf32>, none) -> tensor<1x16x8x8xf32>
  %1, %2 = onnx.MaxPool %0 {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x16x8x8xf32>) -> (tensor<1x16x4x4xf32>, tensor<1x16x4x4xi64>)
  return %1 : tensor<1x16x4x4xf32>
}

// -----

// Whole blocks of channels lie one behind the other: what is joined is written in place, with one halo for all.
// CHECK-LABEL: @joined
// CHECK: plan.join {{.*}}#plan.blocked<8, halo = [1, 1, 1, 1]>
// CHECK-NOT: onnx.Concat
// CHECK: return
func.func @joined(%x: tensor<1x16x8x8xf32>) -> tensor<1x8x8x8xf32> {
  %none = onnx.None : none
  %w = onnx.Constant dense<0.5> : tensor<8x16x1x1xf32>
  %v = onnx.Constant dense<0.5> : tensor<8x16x3x3xf32>
  %0 = onnx.Conv %x, %w, %none : (tensor<1x16x8x8xf32>, tensor<8x16x1x1xf32>, none) -> tensor<1x8x8x8xf32>
  %1 = onnx.Conv %x, %v, %none {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x8x8xf32>, tensor<8x16x3x3xf32>, none) -> tensor<1x8x8x8xf32>
  %2 = onnx.Concat %0, %1 {axis = 1 : i64} : (tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) -> tensor<1x16x8x8xf32>
  %3 = onnx.Conv %2, %v, %none {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x8x8xf32>, tensor<8x16x3x3xf32>, none) -> tensor<1x8x8x8xf32>
  return %3 : tensor<1x8x8x8xf32>
}

// -----

// Of several images, or of as many as a run has, each part strides over the other parts.
// CHECK-LABEL: @joined_images
// CHECK: onnx.Conv
// CHECK: -> tensor<?x8x8x8xf32, #plan.blocked<8, halo = [1, 1, 1, 1], sizes = <"b", 8, 8, 8>, blocks = 2>>
// CHECK: onnx.Conv
// CHECK: -> tensor<?x8x8x8xf32, #plan.blocked<8, halo = [1, 1, 1, 1], sizes = <"b", 8, 8, 8>, blocks = 2>>
// CHECK: plan.join {{.*}} -> tensor<?x16x8x8xf32, #plan.blocked<8, halo = [1, 1, 1, 1], sizes = <"b", 16, 8, 8>>>
// CHECK-NOT: onnx.Concat
// CHECK: return
func.func @joined_images(%x: tensor<?x16x8x8xf32, #onnx.sizes<"b", 16, 8, 8>>) -> tensor<?x8x8x8xf32, #onnx.sizes<"b", 8, 8, 8>> {
  %none = onnx.None : none
  %w = onnx.Constant dense<0.5> : tensor<8x16x1x1xf32>
  %v = onnx.Constant dense<0.5> : tensor<8x16x3x3xf32>
  %0 = onnx.Conv %x, %w, %none : (tensor<?x16x8x8xf32, #onnx.sizes<"b", 16, 8, 8>>, tensor<8x16x1x1xf32>, none) -> tensor<?x8x8x8xf32, #onnx.sizes<"b", 8, 8, 8>>
  %1 = onnx.Conv %x, %v, %none {pads = array<i64: 1, 1, 1, 1>} : (tensor<?x16x8x8xf32, #onnx.sizes<"b", 16, 8, 8>>, tensor<8x16x3x3xf32>, none) -> tensor<?x8x8x8xf32, #onnx.sizes<"b", 8, 8, 8>>
  %2 = onnx.Concat %0, %1 {axis = 1 : i64} : (tensor<?x8x8x8xf32, #onnx.sizes<"b", 8, 8, 8>>, tensor<?x8x8x8xf32, #onnx.sizes<"b", 8, 8, 8>>) -> tensor<?x16x8x8xf32, #onnx.sizes<"b", 16, 8, 8>>
  %3 = onnx.Conv %2, %v, %none {pads = array<i64: 1, 1, 1, 1>} : (tensor<?x16x8x8xf32, #onnx.sizes<"b", 16, 8, 8>>, tensor<8x16x3x3xf32>, none) -> tensor<?x8x8x8xf32, #onnx.sizes<"b", 8, 8, 8>>
  return %3 : tensor<?x8x8x8xf32, #onnx.sizes<"b", 8, 8, 8>>
}

// -----

// Pieces that interleave in the result are copied by a kernel.
// CHECK-LABEL: @interleaved
// CHECK-NOT: plan.join
// CHECK: onnx.Concat
func.func @interleaved(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x6xf32> {
  %0 = onnx.Relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = onnx.Concat %0, %y {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  return %1 : tensor<2x6xf32>
}

// -----

// A result that is the caller's input is copied, and one that two results share, once more.
// CHECK-LABEL: @outputs
// CHECK-COUNT-3: "plan.kernel"
// CHECK-NOT: "plan.kernel"
// CHECK: return
func.func @outputs(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = onnx.Relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %x, %0, %0 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// A convolution of few channels reads rows; what is added to its result is read in blocks, also where that is the same.
// CHECK-LABEL: @own_input
// CHECK: %[[B:.*]] = "plan.kernel"(%arg0)
// CHECK: plan.reorder
// CHECK: "plan.kernel"(%arg0, %{{.*}}, %[[B]])
// CHECK: onnx.Conv %[[X:[^,]*]],
// CHECK: onnx.Add %{{[^,]*}}, %[[Y:.*]] : (tensor<1x3x8x8xf32>, tensor<1x3x8x8xf32, #plan.blocked<8>>)
// CHECK: return
func.func @own_input(%x: tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> {
  %none = onnx.None : none
  %w = onnx.Constant dense<0.5> : tensor<3x3x3x3xf32>
  %0 = onnx.Conv %x, %w, %none {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x3x8x8xf32>, tensor<3x3x3x3xf32>, none) -> tensor<1x3x8x8xf32>
  %1 = onnx.Add %0, %x : (tensor<1x3x8x8xf32>, tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
  return %1 : tensor<1x3x8x8xf32>
}

// -----

// Channels of a blocked image are a view of it, whole blocks from where they begin; a convolution that reads around them gets a copy. All of them behind each other are the image, which lies
// in the concatenation that they are part of.
// CHECK-LABEL: func.func @channels
// CHECK: onnx.Conv
// CHECK: plan.view %[[IMAGE:.*]] at <2048> : tensor<1x16x8x8xf32, #plan.blocked<8>> -> tensor<1x8x8x8xf32, #plan.blocked<8>>
// CHECK: plan.reorder {{.*}} : tensor<1x8x8x8xf32, #plan.blocked<8>> -> tensor<1x8x8x8xf32, #plan.blocked<8, halo = [1, 1, 1, 1]
// CHECK: %[[MORE:.*]] = "plan.kernel"
// CHECK: onnx.Conv
// CHECK-NOT: plan.reorder
// CHECK: plan.join %[[IMAGE]], %[[MORE]] : (tensor<1x16x8x8xf32, #plan.blocked<8>>, tensor<1x8x8x8xf32, #plan.blocked<8>>) -> tensor<1x24x8x8xf32, #plan.blocked<8>>
func.func @channels(%x: tensor<1x16x8x8xf32>) -> tensor<1x8x8x8xf32> {
  %w = onnx.Constant dense<1.0> : tensor<16x16x1x1xf32>
  %v = onnx.Constant dense<1.0> : tensor<8x8x3x3xf32>
  %u = onnx.Constant dense<1.0> : tensor<8x24x1x1xf32>
  %none = onnx.None : none
  %zero = onnx.Constant dense<0> : tensor<1xi64>
  %eight = onnx.Constant dense<8> : tensor<1xi64>
  %sixteen = onnx.Constant dense<16> : tensor<1xi64>
  %axis = onnx.Constant dense<1> : tensor<1xi64>
  %one = onnx.Constant dense<1> : tensor<1xi64>
  %image = onnx.Conv %x, %w, %none : (tensor<1x16x8x8xf32>, tensor<16x16x1x1xf32>, none) -> tensor<1x16x8x8xf32>
  %first = onnx.Slice %image, %zero, %eight, %axis, %one : (tensor<1x16x8x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x8x8x8xf32>
  %second = onnx.Slice %image, %eight, %sixteen, %axis, %one : (tensor<1x16x8x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x8x8x8xf32>
  %more = onnx.Conv %second, %v, %none {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x8x8xf32>, tensor<8x8x3x3xf32>, none) -> tensor<1x8x8x8xf32>
  %all = onnx.Concat %first, %second, %more {axis = 1 : i64} : (tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) -> tensor<1x24x8x8xf32>
  %y = onnx.Conv %all, %u, %none : (tensor<1x24x8x8xf32>, tensor<8x24x1x1xf32>, none) -> tensor<1x8x8x8xf32>
  return %y : tensor<1x8x8x8xf32>
}

// -----

// Six channels are no whole block of eight: they are read from a row-major image.
// CHECK-LABEL: func.func @part_of_a_block
// CHECK: plan.reorder {{.*}} : tensor<1x16x8x8xf32, #plan.blocked<8>> -> tensor<1x16x8x8xf32>
// CHECK: plan.view {{.*}} at <1536> : tensor<1x16x8x8xf32> -> tensor<1x6x8x8xf32>
func.func @part_of_a_block(%x: tensor<1x16x8x8xf32>) -> tensor<1x8x8x8xf32> {
  %w = onnx.Constant dense<1.0> : tensor<16x16x1x1xf32>
  %v = onnx.Constant dense<1.0> : tensor<8x6x1x1xf32>
  %none = onnx.None : none
  %six = onnx.Constant dense<6> : tensor<1xi64>
  %twelve = onnx.Constant dense<12> : tensor<1xi64>
  %axis = onnx.Constant dense<1> : tensor<1xi64>
  %image = onnx.Conv %x, %w, %none : (tensor<1x16x8x8xf32>, tensor<16x16x1x1xf32>, none) -> tensor<1x16x8x8xf32>
  %part = onnx.Slice %image, %six, %twelve, %axis, %axis : (tensor<1x16x8x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x6x8x8xf32>
  %y = onnx.Conv %part, %v, %none : (tensor<1x6x8x8xf32>, tensor<8x6x1x1xf32>, none) -> tensor<1x8x8x8xf32>
  return %y : tensor<1x8x8x8xf32>
}
