// TopK of a few: the best so far are kept in the result, in order; an element that beats the last of them is moved up to its place, NaN first.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V3
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v4 --layout-assign=target=x86-64-v4 --lower-kernels=target=x86-64-v4 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V4

// CHECK-LABEL: func.func private @topk_
// CHECK: scf.for {{.*}} to %c4 step
// CHECK: scf.for {{.*}} to %c64{{.*}} step
// CHECK: [[X:%.*]] = memref.load %arg0
// CHECK: arith.cmpf uno, [[X]], [[X]]
// CHECK: scf.if
// CHECK: scf.while
// CHECK: scf.condition
// CHECK: memref.store {{.*}}, %arg1
// CHECK: memref.store {{.*}}, %arg2
// CHECK: memref.store [[X]], %arg1
func.func @typical(%x: tensor<4x64xf32>) -> (tensor<4x3xf32>, tensor<4x3xi64>) {
  %k = onnx.Constant dense<3> : tensor<1xi64>
  %0, %i = "onnx.TopK"(%x, %k) <{axis = 1 : i64}> : (tensor<4x64xf32>, tensor<1xi64>) -> (tensor<4x3xf32>, tensor<4x3xi64>)
  return %0, %i : tensor<4x3xf32>, tensor<4x3xi64>
}
