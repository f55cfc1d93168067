// NonZero: one walk counts, so that the length of a row of the result is known; a second one writes the places, a vector of elements at a time.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V3
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v4 --layout-assign=target=x86-64-v4 --lower-kernels=target=x86-64-v4 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V4

// CHECK-LABEL: func.func private @nonzero_
// CHECK: scf.for {{.*}} to %c32 step
// CHECK: arith.cmpf une
// CHECK: arith.extui
// CHECK: memref.store {{.*}}, %arg2
// CHECK: memref.load %arg2
// CHECK: scf.for {{.*}} to %c32{{.*}} step
// CHECK: arith.cmpf une
// CHECK: math.ctpop
// CHECK: scf.for
// CHECK: math.cttz
// CHECK: memref.store {{.*}}, %arg1
// CHECK: memref.store {{.*}}, %arg1
// CHECK: memref.store {{.*}}, %arg2
func.func @typical(%x: tensor<4x8xf32>) -> (tensor<2x?xi64>, tensor<i64>) {
  %0, %n = "onnx.NonZero"(%x) : (tensor<4x8xf32>) -> (tensor<2x?xi64>, tensor<i64>)
  return %0, %n : tensor<2x?xi64>, tensor<i64>
}
