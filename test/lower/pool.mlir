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

// Windows of 3 with padding: the columns of a row of the input, two vectors that overlap, are folded into a line between its padding, and the windows of
// the line into results. The rows of the window are bounds of a loop, and columns need none.
// CHECK-LABEL: func.func private @pool_
// CHECK: [[LINE:%.*]] = memref.alloca()
// CHECK: vector.store {{.*}}, [[LINE]]
// CHECK: scf.for {{.*}} -> (vector<4xf32>)
// CHECK: vector.store {{.*}}, [[LINE]]{{.*}} vector<4xf32>
// CHECK: scf.for {{.*}} -> (vector<4xf32>)
// CHECK: vector.store {{.*}}, [[LINE]]{{.*}} vector<4xf32>
// CHECK-COUNT-3: vector.load [[LINE]]
// CHECK: vector.store {{.*}}, %arg1
// CHECK-COUNT-3: vector.load [[LINE]]
// CHECK: vector.store {{.*}}, %arg1
// CHECK-NOT: scf.if
func.func @awkward(%x: tensor<1x3x5x5xf32>) -> tensor<1x3x5x5xf32> {
  %0, %i = "onnx.MaxPool"(%x) <{kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>}> : (tensor<1x3x5x5xf32>) -> (tensor<1x3x5x5xf32>, tensor<1x3x5x5xi64>)
  return %0 : tensor<1x3x5x5xf32>
}

// -----

// Threads share planes where there are many. The rows of a plane go through the first pass before any of them goes through the second one. An average
// divides by the taps of its column, which are counted once.
// CHECK-LABEL: func.func private @pool_
// CHECK: [[LINES:%.*]] = memref.alloca()
// CHECK: [[TAPS:%.*]] = memref.alloca()
// CHECK: arith.sitofp
// CHECK: vector.store {{.*}}, [[TAPS]]
// CHECK: scf.for {{.*}} = %arg2 to %arg3
// CHECK: scf.for {{.*}} to %c7
// CHECK: vector.store {{.*}}, [[LINES]]
// CHECK: scf.for {{.*}} to %c7
// CHECK: vector.load [[TAPS]]
// CHECK: arith.divf
func.func @planes(%x: tensor<1x32x7x7xf32>) -> tensor<1x32x7x7xf32> {
  %0 = "onnx.AveragePool"(%x) <{kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>}> : (tensor<1x32x7x7xf32>) -> tensor<1x32x7x7xf32>
  return %0 : tensor<1x32x7x7xf32>
}
