// Pooling: the maximum stays in a register over the window; where a window hangs over the edge its bounds are cut, not its elements tested.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V3
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v4 --layout-assign=target=x86-64-v4 --lower-kernels=target=x86-64-v4 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V4

// Windows side by side: rows of results are vectors, and no window needs a test.
// CHECK-LABEL: func.func private @pool_
// V4: scf.for {{.*}} = %c0 to %c64 step %c1
// V4: scf.for {{.*}} to %c2{{.*}} iter_args({{.*}}) -> (vector<16xf32>)
// V4: scf.for {{.*}} to %c2{{.*}} iter_args({{.*}}) -> (vector<16xf32>)
// V4: vector.maskedload %arg0
// V4: vector.maskedload %arg0
// V4: vector.maskedstore %arg1
// V4-NOT: memref.load
func.func @typical(%x: tensor<1x16x8x8xf32>) -> tensor<1x16x4x4xf32> {
  %0, %i = "onnx.MaxPool"(%x) <{kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>}> : (tensor<1x16x8x8xf32>) -> (tensor<1x16x4x4xf32>, tensor<1x16x4x4xi64>)
  return %0 : tensor<1x16x4x4xf32>
}

// -----

// Windows of 3 with padding: the first and the last result of a row have a loop of two columns each, those between
// them are a vector. The rows of the window are bounds of its loop.
// CHECK-LABEL: func.func private @pool_
// CHECK: scf.for {{.*}} = %c0 to %c15 step %c1
// V4: scf.for {{.*}} = [[FIRST:%.*]] to [[LAST:%.*]] step {{.*}} iter_args({{.*}}) -> (f32)
// V4: scf.for {{.*}} = %c1_{{.*}} to %c3_{{.*}} iter_args({{.*}}) -> (f32)
// V4: scf.for {{.*}} = [[FIRST]] to [[LAST]] step {{.*}} iter_args({{.*}}) -> (vector<16xf32>)
// V4: scf.for {{.*}} = %c0_{{.*}} to %c3_{{.*}} iter_args({{.*}}) -> (vector<16xf32>)
// V4: scf.for {{.*}} = [[FIRST]] to [[LAST]] step {{.*}} iter_args({{.*}}) -> (f32)
// V4: scf.for {{.*}} = %c0_{{.*}} to %c2_{{.*}} iter_args({{.*}}) -> (f32)
// CHECK-NOT: scf.if
func.func @awkward(%x: tensor<1x3x5x5xf32>) -> tensor<1x3x5x5xf32> {
  %0, %i = "onnx.MaxPool"(%x) <{kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>}> : (tensor<1x3x5x5xf32>) -> (tensor<1x3x5x5xf32>, tensor<1x3x5x5xi64>)
  return %0 : tensor<1x3x5x5xf32>
}
