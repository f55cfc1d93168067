// Reductions: along rows several vectors of partial sums, which become one number by halves; along columns a vector holds as many results.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V3
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v4 --layout-assign=target=x86-64-v4 --lower-kernels=target=x86-64-v4 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V4

// CHECK-LABEL: func.func private @reduce_
// CHECK: scf.for {{.*}} = %c0 to %c4 step %c1
// V4-COUNT-4: vector.load %arg0{{.*}} vector<16xf32>
// V4: vector.shuffle {{.*}}[8, 9, 10, 11, 12, 13, 14, 15]
// CHECK: vector.shuffle {{.*}}[4, 5, 6, 7] : vector<8xf32>
// CHECK: vector.shuffle {{.*}}[2, 3] : vector<4xf32>
// CHECK: vector.shuffle {{.*}}[1] : vector<2xf32>
// CHECK: arith.addf {{.*}} : vector<1xf32>
// CHECK: memref.store %{{.*}}, %arg1[%{{.*}}] : memref<4xf32>
func.func @typical(%x: tensor<4x64xf32>) -> tensor<4xf32> {
  %0 = onnx.Reduce %x {axes = array<i64: 1>, kind = "Sum"} : (tensor<4x64xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// 7 columns are one masked vector of maxima; the five rows are read without a loop.
// CHECK-LABEL: func.func private @reduce_
// V3: arith.maximumf
// V4-COUNT-5: vector.maskedload %arg0
// V4-NOT: scf.for
// V4: vector.maskedstore %arg1
func.func @awkward(%x: tensor<5x7xf32>) -> tensor<7xf32> {
  %0 = onnx.Reduce %x {axes = array<i64: 0>, kind = "Max"} : (tensor<5x7xf32>) -> tensor<7xf32>
  return %0 : tensor<7xf32>
}

// -----

// Wide columns go down together: sums in an array, eight rows at a time, then the two that are left.
// CHECK-LABEL: func.func private @reduce_
// CHECK: memref.alloca{{.*}}256xf32
// CHECK: scf.for {{.*}} to %c16{{.*}} step %c8
// CHECK: scf.for {{.*}} to %c256{{.*}} step
// CHECK-COUNT-8: vector.load %arg0
// CHECK: scf.for {{.*}} to %c256{{.*}} step
// CHECK-COUNT-2: vector.load %arg0
// CHECK: vector.store {{.*}}, %arg1
func.func @wide(%x: tensor<18x256xf32>) -> tensor<256xf32> {
  %0 = onnx.Reduce %x {axes = array<i64: 0>, kind = "Sum"} : (tensor<18x256xf32>) -> tensor<256xf32>
  return %0 : tensor<256xf32>
}
