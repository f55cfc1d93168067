// NonZero: one walk counts, so that the length of a row of the result is known; a second one writes the places.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V3
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v4 --layout-assign=target=x86-64-v4 --lower-kernels=target=x86-64-v4 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V4

// CHECK-LABEL: func.func private @nonzero_
// CHECK: memref.store %c0_i64, %arg2
// CHECK: scf.for {{.*}} to %c4 step
// CHECK: scf.for {{.*}} to %c8 step
// CHECK: arith.cmpf une
// CHECK: memref.store {{.*}}, %arg2
// CHECK: [[COUNT:%.*]] = memref.load %arg2
// CHECK: scf.for {{.*}} to %c4{{.*}} step
// CHECK: scf.for {{.*}} to %c8{{.*}} step
// CHECK: arith.cmpf une
// CHECK: memref.store {{.*}}, %arg1
// CHECK: memref.store {{.*}}, %arg1
func.func @typical(%x: tensor<4x8xf32>) -> (tensor<2x?xi64>, tensor<i64>) {
  %0, %n = "onnx.NonZero"(%x) : (tensor<4x8xf32>) -> (tensor<2x?xi64>, tensor<i64>)
  return %0, %n : tensor<2x?xi64>, tensor<i64>
}
