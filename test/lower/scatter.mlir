// ScatterND: the data is copied unless the result lies in its buffer; then each index is checked, and its row written.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V3
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v4 --layout-assign=target=x86-64-v4 --lower-kernels=target=x86-64-v4 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V4

// CHECK-LABEL: func.func private @scatter_
// CHECK: scf.if
// CHECK: scf.for {{.*}} to %c128 step
// CHECK: vector.store {{.*}}, %arg3
// CHECK: scf.for [[I:%.*]] = %{{.*}} to %c2 step
// CHECK: memref.load %arg1[[[I]]]
// CHECK: scf.if
// V3: scf.for {{.*}} to %c16{{.*}} step
// CHECK: vector.load %arg2
// CHECK: vector.store {{.*}}, %arg3
func.func @typical(%x: tensor<8x16xf32>, %i: tensor<2x1xi64>, %u: tensor<2x16xf32>) -> tensor<8x16xf32> {
  %0 = "onnx.ScatterND"(%x, %i, %u) : (tensor<8x16xf32>, tensor<2x1xi64>, tensor<2x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
