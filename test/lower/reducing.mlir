// A convolution of many channels to a few: blocks in, row-major out, the lanes are the channels that are summed.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s

// Weights are by block, tap and output channel, each of 8 input channels. 19 pixels are 8 at 0 and at 8, and 8 that end where the row does.
// CHECK-LABEL: func.func @head
// CHECK: plan.launch @[[CONV:conv_[0-9]*]]({{.*}}tensor<1x20x3x19xf32, #plan.blocked<8, halo = [1, 1, 0, 0]>>, tensor<144xf32>, tensor<2xf32>) -> tensor<1x2x3x19xf32>
// CHECK: func.func private @[[CONV]](%[[X:arg0]]: memref<2280xf32>{{.*}}, %[[W:arg1]]: memref<144xf32>{{.*}}, %[[B:arg2]]: memref<2xf32>{{.*}}, %[[Y:arg3]]: memref<114xf32>
// CHECK: %[[SUMS:.*]] = memref.alloca{{.*}} memref<128xf32>
// CHECK: arith.minsi {{.*}}, %c11
// Four pixels of both output channels, over two whole blocks.
// CHECK: scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK-COUNT-2: vector.load %[[W]]
// CHECK-COUNT-8: vector.fma
// CHECK-NOT: vector.fma
// CHECK: scf.yield
// Of the third block four channels: what the other lanes hold is not looked at.
// CHECK: vector.maskedload %[[X]]
// CHECK: vector.fma
// CHECK-COUNT-8: vector.store {{.*}}, %[[SUMS]]
// The lanes of eight pixels are summed to eight lanes of a row.
// CHECK-COUNT-8: vector.load %[[SUMS]]
// CHECK: vector.shuffle
// CHECK: memref.load %[[B]]
// CHECK: vector.store {{.*}}, %[[Y]]
// CHECK-COUNT-8: vector.load %[[SUMS]]
// CHECK: vector.store {{.*}}, %[[Y]]
// CHECK-NOT: vector.store {{.*}}, %[[Y]]
func.func @head(%x: tensor<1x20x3x19xf32>) -> tensor<1x2x3x19xf32> {
  %w = onnx.Constant dense<0.5> : tensor<2x20x3x1xf32>
  %b = onnx.Constant dense<0.5> : tensor<2xf32>
  %0 = "onnx.Conv"(%x, %w, %b) <{pads = array<i64: 1, 0, 1, 0>}> : (tensor<1x20x3x19xf32>, tensor<2x20x3x1xf32>, tensor<2xf32>) -> tensor<1x2x3x19xf32>
  return %0 : tensor<1x2x3x19xf32>
}

// -----

// What is added to it is row-major, too.
// CHECK-LABEL: func.func @added
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<1x8x4x16xf32>, %[[R:[a-z0-9]+]]: tensor<1x1x4x16xf32>
// CHECK: %[[BLOCKS:.*]] = plan.launch @reorder_{{[0-9]*}}(%[[X]])
// CHECK: plan.launch @conv_{{[0-9]*}}(%[[BLOCKS]], {{.*}}, %[[R]]) {{.*}} -> tensor<1x1x4x16xf32>
func.func @added(%x: tensor<1x8x4x16xf32>, %r: tensor<1x1x4x16xf32>) -> tensor<1x1x4x16xf32> {
  %w = onnx.Constant dense<0.5> : tensor<1x8x5x5xf32>
  %b = "onnx.None"() : () -> none
  %0 = "onnx.Conv"(%x, %w, %b) <{pads = array<i64: 2, 2, 2, 2>}> : (tensor<1x8x4x16xf32>, tensor<1x8x5x5xf32>, none) -> tensor<1x1x4x16xf32>
  %1 = "onnx.Add"(%r, %0) : (tensor<1x1x4x16xf32>, tensor<1x1x4x16xf32>) -> tensor<1x1x4x16xf32>
  return %1 : tensor<1x1x4x16xf32>
}

// -----

// Lanes of outputs where they are filled, where Winograd's algorithm takes fewer products, where rows are short and of groups.
// CHECK-LABEL: func.func @outputs
// CHECK-COUNT-4: plan.launch @conv{{.*}} -> tensor<{{.*}}, #plan.blocked<8
func.func @outputs(%x: tensor<1x16x24x24xf32>, %y: tensor<1x16x24x7xf32>) -> (tensor<1x5x24x24xf32>, tensor<1x3x24x24xf32>, tensor<1x2x24x7xf32>, tensor<1x2x24x24xf32>) {
  %u = onnx.Constant dense<0.5> : tensor<5x16x1x1xf32>
  %v = onnx.Constant dense<0.5> : tensor<3x16x3x3xf32>
  %w = onnx.Constant dense<0.5> : tensor<2x16x1x1xf32>
  %g = onnx.Constant dense<0.5> : tensor<2x8x5x5xf32>
  %b = "onnx.None"() : () -> none
  %0 = "onnx.Conv"(%x, %u, %b) : (tensor<1x16x24x24xf32>, tensor<5x16x1x1xf32>, none) -> tensor<1x5x24x24xf32>
  %1 = "onnx.Conv"(%x, %v, %b) <{pads = array<i64: 1, 1, 1, 1>}> : (tensor<1x16x24x24xf32>, tensor<3x16x3x3xf32>, none) -> tensor<1x3x24x24xf32>
  %2 = "onnx.Conv"(%y, %w, %b) : (tensor<1x16x24x7xf32>, tensor<2x16x1x1xf32>, none) -> tensor<1x2x24x7xf32>
  %3 = "onnx.Conv"(%x, %g, %b) <{group = 2 : i64, pads = array<i64: 2, 2, 2, 2>}> : (tensor<1x16x24x24xf32>, tensor<2x8x5x5xf32>, none) -> tensor<1x2x24x24xf32>
  return %0, %1, %2, %3 : tensor<1x5x24x24xf32>, tensor<1x3x24x24xf32>, tensor<1x2x24x7xf32>, tensor<1x2x24x24xf32>
}
