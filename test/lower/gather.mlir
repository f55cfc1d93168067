// Gather: an index is made positive, checked once, and clamped, so that nothing outside of the tensor is read after a bad one; what it picks is copied in vectors.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V3
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v4 --layout-assign=target=x86-64-v4 --lower-kernels=target=x86-64-v4 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V4

// CHECK-LABEL: func.func private @gather_
// CHECK: scf.for [[I:%.*]] = %{{.*}} to %c3 step
// CHECK: [[INDEX:%.*]] = memref.load %arg1[[[I]]] : memref<3xi64>
// CHECK: arith.cmpi slt, [[INDEX]]
// CHECK: [[POSITIVE:%.*]] = arith.select
// CHECK: [[BAD:%.*]] = arith.cmpi uge, [[POSITIVE]]
// CHECK: scf.if [[BAD]]
// CHECK: arith.minui [[POSITIVE]]
// CHECK: scf.for {{.*}} to %c64{{.*}} step
// V3: vector.load %arg0{{.*}} vector<8xf32>
// V4: vector.load %arg0{{.*}} vector<16xf32>
// CHECK: vector.store {{.*}}, %arg2
func.func @typical(%x: tensor<10x64xf32>, %i: tensor<3xi64>) -> tensor<3x64xf32> {
  %0 = "onnx.Gather"(%x, %i) <{axis = 0 : i64}> : (tensor<10x64xf32>, tensor<3xi64>) -> tensor<3x64xf32>
  return %0 : tensor<3x64xf32>
}

// -----

// Along the innermost axis each index picks one element.
// CHECK-LABEL: func.func private @gather_
// CHECK: scf.for {{.*}} to %c4 step
// CHECK: scf.for [[I:%.*]] = %{{.*}} to %c3 step
// CHECK: memref.load %arg1[[[I]]]
// CHECK: scf.if
// CHECK: arith.minui
// CHECK: memref.load %arg0
// CHECK: memref.store {{.*}}, %arg2
func.func @awkward(%x: tensor<4x7xf32>, %i: tensor<3xi64>) -> tensor<4x3xf32> {
  %0 = "onnx.Gather"(%x, %i) <{axis = 1 : i64}> : (tensor<4x7xf32>, tensor<3xi64>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}
