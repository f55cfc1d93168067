// Standardize: mean, variance and the result each walk over the row; the scale is applied before it is stored.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v4 --layout-assign=target=x86-64-v4 --lower-kernels=target=x86-64-v4 --split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func private @standardize_
// CHECK: scf.for {{.*}} = %c0 to %c4 step %c1
// CHECK-COUNT-4: vector.load %arg0{{.*}} vector<16xf32>
// CHECK: arith.divf
// CHECK-COUNT-4: vector.load %arg0{{.*}} vector<16xf32>
// CHECK: [[ROOT:%.*]] = math.sqrt
// CHECK: arith.divf %{{.*}}, [[ROOT]] : f32
// CHECK-NOT: arith.divf
// CHECK: vector.load %arg0
// CHECK: vector.load %arg1
// CHECK: vector.store {{.*}}, %arg2
func.func @typical(%x: tensor<4x64xf32>, %s: tensor<64xf32>) -> tensor<4x64xf32> {
  %0 = "onnx.Standardize"(%x) <{epsilon = 1.0e-05 : f32, axes = array<i64: 1>}> : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %1 = onnx.Mul %0, %s : (tensor<4x64xf32>, tensor<64xf32>) -> tensor<4x64xf32>
  return %1 : tensor<4x64xf32>
}

// -----

// Without the mean (RMS) a row of 7 is read twice, under a mask.
// CHECK-LABEL: func.func private @standardize_
// CHECK: vector.maskedload %arg0
// CHECK: math.sqrt
// CHECK: vector.maskedload %arg0
// CHECK: vector.maskedstore %arg1
// CHECK-NOT: maskedload
func.func @awkward(%x: tensor<4x7xf32>) -> tensor<4x7xf32> {
  %0 = "onnx.Standardize"(%x) <{epsilon = 1.0e-05 : f32, axes = array<i64: 1>, uncentered}> : (tensor<4x7xf32>) -> tensor<4x7xf32>
  return %0 : tensor<4x7xf32>
}
