// Movements: a transposition reads and writes whole vectors, a square of registers being turned in between; small ones go element by element.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V3
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v4 --layout-assign=target=x86-64-v4 --lower-kernels=target=x86-64-v4 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V4

// CHECK-LABEL: func.func private @move_
// V3: scf.for {{.*}} to %c24 step %c8
// V3: scf.for {{.*}} to %c16 step %c8
// V3-COUNT-8: vector.load %arg0{{.*}} vector<8xf32>
// V3-COUNT-24: vector.shuffle
// V3-NOT: vector.shuffle
// V3-COUNT-8: vector.store {{.*}}, %arg1
func.func @typical(%x: tensor<16x24xf32>) -> tensor<24x16xf32> {
  %0 = "onnx.Transpose"(%x) <{perm = array<i64: 1, 0>}> : (tensor<16x24xf32>) -> tensor<24x16xf32>
  return %0 : tensor<24x16xf32>
}

// -----

// CHECK-LABEL: func.func private @move_
// V3: scf.for {{.*}} to %c5 step
// V3-NOT: scf.for
// V3-COUNT-3: memref.store {{.*}}, %arg1
func.func @awkward(%x: tensor<3x5xf32>) -> tensor<5x3xf32> {
  %0 = "onnx.Transpose"(%x) <{perm = array<i64: 1, 0>}> : (tensor<3x5xf32>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}

// -----

// Of a source of 1 MB and more, 128 columns (512 bytes of each row) are read beside each other, and what is left of 1000 a square at a time.
// CHECK-LABEL: func.func private @move_
// V3: scf.for [[STRIP:%.*]] = {{.*}} step %c128
// V3: scf.for {{.*}} to %c2048{{.*}} step %c8
// V3: scf.for {{.*}} to %c128{{.*}} step %c8
// V3: vector.store
// V3: scf.for {{.*}} = %c896{{.*}} to %c1000{{.*}} step %c8
// V3: scf.for {{.*}} to %c2048{{.*}} step %c8
// V3: vector.store
func.func @large(%x: tensor<2048x1000xf32>) -> tensor<1000x2048xf32> {
  %0 = "onnx.Transpose"(%x) <{perm = array<i64: 1, 0>}> : (tensor<2048x1000xf32>) -> tensor<1000x2048xf32>
  return %0 : tensor<1000x2048xf32>
}
