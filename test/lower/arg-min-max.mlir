// ArgMax: each lane keeps its largest value and where it was; at the end the first place of the largest of all lanes counts.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V3
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v4 --layout-assign=target=x86-64-v4 --lower-kernels=target=x86-64-v4 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V4

// CHECK-LABEL: func.func private @argminmax_
// CHECK: scf.for {{.*}} to %c4 step
// V3: scf.for {{.*}} to %c64 step {{.*}} -> (vector<8xf32>, vector<8xi32>)
// V4: (vector<16xf32>, vector<16xi32>)
// CHECK: arith.maximumf {{.*}} : vector<1xf32>
// CHECK: vector.shuffle {{.*}} : vector<2xi32>
// CHECK: memref.store {{.*}}, %arg1[%{{.*}}] : memref<4xi64>
func.func @typical(%x: tensor<4x64xf32>) -> tensor<4xi64> {
  %0 = "onnx.ArgMax"(%x) <{axis = 1 : i64, keepdims = 0 : i64}> : (tensor<4x64xf32>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}
