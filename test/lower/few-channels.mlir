// A convolution between few channels: row-major, the lanes are neighbouring outputs of a row.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s

// Weights are by slice, row and column of taps, each of 2 x 3 channels. A tile is two vectors of 8 columns for each of three channels; 26 columns are one at 0 and one that ends where the row does.
// CHECK-LABEL: func.func @rows
// CHECK: plan.launch @[[CONV:conv_[0-9]*]]({{.*}} tensor<54xf32>
// CHECK: func.func private @[[CONV]](%[[X:arg0]]: memref<260xf32>{{.*}}, %[[W:arg1]]: memref<54xf32>{{.*}}, %[[Y:arg3]]: memref<390xf32>
// What the first tile reads of each channel is copied behind a zero; rows of taps that are beside the image are left out.
// CHECK: memref.alloca{{.*}} memref<48xf32>
// CHECK: vector.load %[[X]]
// CHECK: scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK-COUNT-12: vector.fma
// CHECK-NOT: vector.fma
// CHECK: scf.yield
// CHECK-COUNT-6: vector.store {{.*}}, %[[Y]]
// The second reads beside the row, too.
// CHECK-COUNT-12: vector.fma
// CHECK-COUNT-6: vector.store {{.*}}, %[[Y]]
// CHECK-NOT: vector.fma
func.func @rows(%x: tensor<1x2x5x26xf32>) -> tensor<1x3x5x26xf32> {
  %w = onnx.Constant dense<0.5> : tensor<3x2x3x3xf32>
  %b = onnx.Constant dense<0.5> : tensor<3xf32>
  %0 = "onnx.Conv"(%x, %w, %b) <{pads = array<i64: 1, 1, 1, 1>}> : (tensor<1x2x5x26xf32>, tensor<3x2x3x3xf32>, tensor<3xf32>) -> tensor<1x3x5x26xf32>
  return %0 : tensor<1x3x5x26xf32>
}

// -----

// Blocks where channels fill them, where rows are short or are read with a stride, and of groups.
// CHECK-LABEL: func.func @blocks
// CHECK-NOT: memref.alloca
func.func @blocks(%x: tensor<1x6x5x26xf32>, %y: tensor<1x2x40x9xf32>, %z: tensor<1x4x5x26xf32>) -> (tensor<1x6x5x26xf32>, tensor<1x3x40x9xf32>, tensor<1x4x5x13xf32>, tensor<1x4x5x26xf32>) {
  %u = onnx.Constant dense<0.5> : tensor<6x6x3x3xf32>
  %v = onnx.Constant dense<0.5> : tensor<3x2x3x3xf32>
  %w = onnx.Constant dense<0.5> : tensor<4x4x3x3xf32>
  %g = onnx.Constant dense<0.5> : tensor<4x2x3x3xf32>
  %b = "onnx.None"() : () -> none
  %0 = "onnx.Conv"(%x, %u, %b) <{pads = array<i64: 1, 1, 1, 1>}> : (tensor<1x6x5x26xf32>, tensor<6x6x3x3xf32>, none) -> tensor<1x6x5x26xf32>
  %1 = "onnx.Conv"(%y, %v, %b) <{pads = array<i64: 1, 1, 1, 1>}> : (tensor<1x2x40x9xf32>, tensor<3x2x3x3xf32>, none) -> tensor<1x3x40x9xf32>
  %2 = "onnx.Conv"(%z, %w, %b) <{pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 2>}> : (tensor<1x4x5x26xf32>, tensor<4x4x3x3xf32>, none) -> tensor<1x4x5x13xf32>
  %3 = "onnx.Conv"(%z, %g, %b) <{group = 2 : i64, pads = array<i64: 1, 1, 1, 1>}> : (tensor<1x4x5x26xf32>, tensor<4x2x3x3xf32>, none) -> tensor<1x4x5x26xf32>
  return %0, %1, %2, %3 : tensor<1x6x5x26xf32>, tensor<1x3x40x9xf32>, tensor<1x4x5x13xf32>, tensor<1x4x5x26xf32>
}
