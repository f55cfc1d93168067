// Softmax: a row that fits registers is read once; its exponentials stay there until their sum is known, and are multiplied by its reciprocal.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V3
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v4 --layout-assign=target=x86-64-v4 --lower-kernels=target=x86-64-v4 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V4

// CHECK-LABEL: func.func private @softmax_
// CHECK: scf.for {{.*}} = %c0 to %c4 step %c1
// V4-COUNT-4: math.exp {{.*}} : vector<16xf32>
// V4-NOT: math.exp
// CHECK: [[ONE:%.*]] = arith.constant 1.000000e+00 : f32
// CHECK: arith.divf [[ONE]], %{{.*}} : f32
// CHECK-NOT: arith.divf
// V4-COUNT-4: vector.store {{.*}}, %arg1
func.func @typical(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %0 = "onnx.Softmax"(%x) <{axis = 1 : i64}> : (tensor<4x64xf32>) -> tensor<4x64xf32>
  return %0 : tensor<4x64xf32>
}

// -----

// Lanes behind a row of 7 do not count: they are loaded as what changes no maximum, and not stored.
// CHECK-LABEL: func.func private @softmax_
// CHECK: scf.for {{.*}} = %c0 to %c4 step %c1
// V4: vector.maskedload %arg0
// V4: math.exp {{.*}} : vector<16xf32>
// V4: vector.maskedstore %arg1
func.func @awkward(%x: tensor<4x7xf32>) -> tensor<4x7xf32> {
  %0 = "onnx.Softmax"(%x) <{axis = 1 : i64}> : (tensor<4x7xf32>) -> tensor<4x7xf32>
  return %0 : tensor<4x7xf32>
}
