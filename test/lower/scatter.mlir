// ScatterND: the data is copied unless the result lies in its buffer; then each index is checked, and its row written.
// Constant indices of a box are not read, and take no bytes of the weights.
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

// -----

// Rows 1 and 2, columns 3 to 18 of each: one row of one or two vectors, twice.
// CHECK-LABEL: func.func @box
// CHECK: plan.weight at 0 : tensor<0xi64>
// CHECK: func.func private @scatter_
// CHECK: scf.for {{.*}} to %c80 step
// CHECK: scf.for {{.*}} to %c2 step
// CHECK-NOT: memref.load
// V4: vector.load %arg2{{.*}}vector<16xf32>
// V4: vector.store {{.*}}, %arg3{{.*}}vector<16xf32>
// V3: vector.load %arg2{{.*}}vector<8xf32>
// CHECK-NOT: memref.load
// CHECK: return
func.func @box(%x: tensor<4x20xf32>, %u: tensor<2x16xf32>) -> tensor<4x20xf32> {
  %i = onnx.Constant dense<[[[1, 3], [1, 4], [1, 5], [1, 6], [1, 7], [1, 8], [1, 9], [1, 10], [1, 11], [1, 12], [1, 13], [1, 14], [1, 15], [1, 16], [1, 17], [1, 18]],
                            [[2, 3], [2, 4], [2, 5], [2, 6], [2, 7], [2, 8], [2, 9], [2, 10], [2, 11], [2, 12], [2, 13], [2, 14], [2, 15], [2, 16], [2, 17], [2, 18]]]> : tensor<2x16x2xi64>
  %0 = "onnx.ScatterND"(%x, %i, %u) : (tensor<4x20xf32>, tensor<2x16x2xi64>, tensor<2x16xf32>) -> tensor<4x20xf32>
  return %0 : tensor<4x20xf32>
}

// -----

// Only the run knows the rows: it fails where there are not four.
// CHECK-LABEL: func.func @open
// CHECK: func.func private @scatter_
// CHECK: [[ROOM:%.*]] = arith.addi %c-3, %arg4
// CHECK: arith.cmpi sle, [[ROOM]]
// CHECK: scf.if
// CHECK: memref.store
// CHECK: arith.cmpi sgt, [[ROOM]]
// CHECK: scf.if
func.func @open(%x: tensor<?x8xf32, #onnx.sizes<"n", 8>>, %u: tensor<2x8xf32>) -> tensor<?x8xf32, #onnx.sizes<"n", 8>> {
  %i = onnx.Constant dense<[[3], [1]]> : tensor<2x1xi64>
  %0 = "onnx.ScatterND"(%x, %i, %u) : (tensor<?x8xf32, #onnx.sizes<"n", 8>>, tensor<2x1xi64>, tensor<2x8xf32>) -> tensor<?x8xf32, #onnx.sizes<"n", 8>>
  return %0 : tensor<?x8xf32, #onnx.sizes<"n", 8>>
}

// -----

// 1, 2, 4 do not count evenly.
// CHECK-LABEL: func.func @uneven
// CHECK: func.func private @scatter_
// CHECK: memref.load %arg1
func.func @uneven(%x: tensor<8x16xf32>, %u: tensor<3x16xf32>) -> tensor<8x16xf32> {
  %i = onnx.Constant dense<[[1], [2], [4]]> : tensor<3x1xi64>
  %0 = "onnx.ScatterND"(%x, %i, %u) : (tensor<8x16xf32>, tensor<3x1xi64>, tensor<3x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
