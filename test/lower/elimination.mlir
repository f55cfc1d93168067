// Determinants and inverses: the matrix is copied to scratch memory, where each column gets its pivot and the rows below are cleared.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s

// Three passes over the columns: the row with the largest element is searched, swapped to the diagonal, and multiples of it are subtracted below.
// The determinant is carried from column to column, with the sign of the swap.
// CHECK-LABEL: func.func private @elimination_(
// CHECK: [[A:%.*]] = memref.view {{.*}} to memref<9xf32>
// CHECK: scf.for {{.*}} to %c4
// CHECK: memref.load %arg0
// CHECK: memref.store {{.*}}, [[A]]
// CHECK: [[DET:%.*]] = scf.for [[K:%.*]] = {{.*}} iter_args([[SO_FAR:%.*]] = %cst) -> (f32)
// CHECK: [[BEST:%.*]]:2 = scf.for {{.*}} iter_args({{.*}}) -> (f32, index)
// CHECK: math.absf
// CHECK: arith.cmpf olt
// CHECK: scf.yield {{.*}} : f32, index
// CHECK: scf.for
// CHECK-COUNT-2: memref.store {{.*}}, [[A]]
// CHECK: [[PIVOT:%.*]] = memref.load [[A]]
// CHECK: [[NEXT:%.*]] = arith.mulf [[SO_FAR]], [[PIVOT]]
// CHECK: [[STAYS:%.*]] = arith.cmpi eq, [[BEST]]#1, [[K]]
// CHECK: arith.negf [[NEXT]]
// CHECK: arith.select [[STAYS]], [[NEXT]]
// CHECK: arith.cmpf oeq, [[PIVOT]]
// CHECK: scf.for
// CHECK: arith.divf
// CHECK: scf.for
// CHECK: arith.mulf
// CHECK: arith.subf
// CHECK: memref.store {{.*}}, [[A]]
// CHECK: memref.store [[DET]], %arg1
func.func @determinant(%x: tensor<4x3x3xf32>) -> tensor<4xf32> {
  %0 = "onnx.Det"(%x) : (tensor<4x3x3xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A unit matrix stands beside the matrix: rows in scratch memory are twice as long. The triangular system is solved from below.
// CHECK-LABEL: func.func private @elimination_(
// CHECK: [[A:%.*]] = memref.view {{.*}} to memref<50xf32>
// CHECK: memref.store {{.*}}, [[A]]
// CHECK: arith.cmpi eq
// CHECK: memref.store {{.*}}, [[A]]
// CHECK: math.absf
// CHECK: arith.divf
// CHECK: arith.subf
// CHECK: arith.divf
// CHECK: arith.subf
// CHECK: memref.store {{.*}}, %arg1
func.func @inverse(%x: tensor<2x5x5xf32>) -> tensor<2x5x5xf32> {
  %0 = "onnx.com.microsoft.Inverse"(%x) : (tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
  return %0 : tensor<2x5x5xf32>
}

// -----

// Neither the number of matrices nor their size need be known.
// CHECK-LABEL: func.func @open
// CHECK: plan.launch @elimination_({{.*}}scratchBytes = #onnx.size<"4*n*n">
// CHECK-LABEL: func.func private @elimination_(
// CHECK: scf.for
func.func @open(%x: tensor<?x?x?xf32, #onnx.sizes<"b", "n", "n">>) -> tensor<?xf32, #onnx.sizes<"b">> {
  %0 = "onnx.Det"(%x) : (tensor<?x?x?xf32, #onnx.sizes<"b", "n", "n">>) -> tensor<?xf32, #onnx.sizes<"b">>
  return %0 : tensor<?xf32, #onnx.sizes<"b">>
}
