// Interpolate: tables say which pixels a place is made of; those of rows are read once for a row of the result.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V3
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v4 --layout-assign=target=x86-64-v4 --lower-kernels=target=x86-64-v4 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V4

// CHECK-LABEL: func.func private @interpolate_(
// CHECK: scf.for {{.*}} to %c16
// CHECK: scf.for {{.*}} to %c16
// CHECK: memref.load %arg1
// CHECK: memref.load %arg2
// V3: scf.for {{.*}} to %c16
// CHECK: vector.load %arg3
// CHECK: vector.load %arg4
// Two by two pixels.
// CHECK-COUNT-4: vector.gather %arg0
// CHECK: vector.store {{.*}}, %arg5
// CHECK-NOT: vector.gather
func.func @typical(%x: tensor<1x16x8x8xf32>) -> tensor<1x16x16x16xf32> {
  %n = onnx.None : none
  %s = onnx.Constant dense<[1.0, 1.0, 2.0, 2.0]> : tensor<4xf32>
  %0 = "onnx.Resize"(%x, %n, %s, %n) <{mode = "linear"}> : (tensor<1x16x8x8xf32>, none, tensor<4xf32>, none) -> tensor<1x16x16x16xf32>
  return %0 : tensor<1x16x16x16xf32>
}

// -----

// Nearest pixels: one tap, no weight is read. 11 columns are a vector and a rest.
// CHECK-LABEL: func.func private @interpolate_(
// CHECK-NOT: load %arg2
// CHECK: scf.for {{.*}} to %c3
// CHECK: scf.for {{.*}} to %c8
// CHECK: memref.load %arg1
// V3: vector.gather %arg0
// V3: vector.store {{.*}}, %arg5
// V3: scf.for {{.*}} = %c8{{.*}} to %c11
// V3: memref.store {{.*}}, %arg5
// V4: vector.maskedload %arg3
// V4: vector.gather %arg0
// V4: vector.maskedstore %arg5
// CHECK-NOT: mulf
func.func @awkward(%x: tensor<1x3x5x7xf32>) -> tensor<1x3x8x11xf32> {
  %n = onnx.None : none
  %s = onnx.Constant dense<[1, 3, 8, 11]> : tensor<4xi64>
  %0 = "onnx.Resize"(%x, %n, %n, %s) <{mode = "nearest"}> : (tensor<1x3x5x7xf32>, none, none, tensor<4xi64>) -> tensor<1x3x8x11xf32>
  return %0 : tensor<1x3x8x11xf32>
}
