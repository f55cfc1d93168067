// Elementwise kernels: one loop over all elements where the shapes are alike; masks, or else scalars, for rows that are no whole vectors.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V3
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v4 --layout-assign=target=x86-64-v4 --lower-kernels=target=x86-64-v4 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V4

// Shapes that are alike are one row of 64 elements. The Relu works on the sum in the register.
// CHECK-LABEL: func.func private @elementwise_
// CHECK-SAME: memref<64xf32>, %{{.*}}: memref<64xf32>, %{{.*}}: memref<64xf32>
// CHECK: scf.for [[I:%.*]] = %c0 to %c64 step
// V3: [[X:%.*]] = vector.load %arg0[[[I]]] : memref<64xf32>, vector<8xf32>
// V3: [[SUM:%.*]] = arith.addf [[X]]
// V4: [[X:%.*]] = vector.load %arg0[[[I]]] : memref<64xf32>, vector<16xf32>
// V4: [[SUM:%.*]] = arith.addf [[X]]
// CHECK: arith.cmpf olt, [[SUM]]
// CHECK: vector.store %{{.*}}, %arg2[[[I]]]
// CHECK-NOT: scf.for
func.func @typical(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  %0 = onnx.Add %x, %y : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %1 = onnx.Relu %0 : (tensor<64xf32>) -> tensor<64xf32>
  return %1 : tensor<64xf32>
}

// -----

// Rows of 5 with one value for each: a masked vector a row, its value read once; without masks a loop of scalars.
// CHECK-LABEL: func.func private @elementwise_
// CHECK: scf.for [[ROW:%.*]] = %c0 to %c3 step %c1
// V3: scf.for {{.*}} to %c5 step
// V3: memref.load %arg1[[[ROW]]]
// V3: arith.addf {{.*}} : f32
// V3: memref.store
// V4: dense<[true, true, true, true, true, false,
// V4: vector.maskedload %arg0
// V4: memref.load %arg1[[[ROW]]]
// V4: vector.broadcast
// V4-NOT: scf.for
// V4: vector.maskedstore %arg2
func.func @awkward(%x: tensor<3x5xf32>, %y: tensor<3x1xf32>) -> tensor<3x5xf32> {
  %0 = onnx.Add %x, %y : (tensor<3x5xf32>, tensor<3x1xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// -----

// 16 MiB and more are stored past the caches, from the first cache line on: elements before it and behind the last vector are single ones. Plain stores are for
// results that do not begin at an element's multiple, and for those in an operand's place.
// CHECK-LABEL: func.func private @elementwise_
// CHECK: memref.extract_aligned_pointer_as_index %arg1
// CHECK: memref.extract_aligned_pointer_as_index %arg0
// CHECK: scf.if
// V3: vector.store {{.*}} {alignment = 32 : i64, nontemporal = true} : memref<4194305xf32>, vector<8xf32>
// V4: vector.store {{.*}} {alignment = 64 : i64, nontemporal = true} : memref<4194305xf32>, vector<16xf32>
// CHECK: memref.store
// CHECK: llvm.fence seq_cst
// CHECK: vector.store
// CHECK-NOT: nontemporal
func.func @past_caches(%x: tensor<4194305xf32>) -> tensor<4194305xf32> {
  %0 = onnx.Neg %x : (tensor<4194305xf32>) -> tensor<4194305xf32>
  return %0 : tensor<4194305xf32>
}

// -----

// Rows that are short keep plain stores, since each of them would begin and end with single elements.
// CHECK-LABEL: func.func private @elementwise_
// CHECK-NOT: nontemporal
func.func @short_rows(%x: tensor<1048576x17xf32>, %y: tensor<17xf32>) -> tensor<1048576x17xf32> {
  %0 = onnx.Add %x, %y : (tensor<1048576x17xf32>, tensor<17xf32>) -> tensor<1048576x17xf32>
  return %0 : tensor<1048576x17xf32>
}

// -----

// A long formula of floats computes two vectors side by side, and what is left one by one.
// CHECK-LABEL: func.func private @elementwise_
// V3: vector.load {{.*}} vector<16xf32>
// V3: vector.load {{.*}} vector<8xf32>
// V4: vector.load {{.*}} vector<32xf32>
// V4: vector.load {{.*}} vector<16xf32>
func.func @long(%x: tensor<120xf32>) -> tensor<120xf32> {
  %0 = onnx.Tanh %x : (tensor<120xf32>) -> tensor<120xf32>
  return %0 : tensor<120xf32>
}
