// Products: sizes that no tile divides. Columns behind the last whole vector are zeros in the packed weights and masked in the result.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V3
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v4 --layout-assign=target=x86-64-v4 --lower-kernels=target=x86-64-v4 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V4

// 7 rows of 19 columns on vectors of 16: one tile of 7 x 2 sums in registers, five steps of k without a loop; the last
// 3 columns of a row are stored under a mask.
// V4-LABEL: func.func private @matmul_
// V4-SAME: memref<35xf32>{{.*}}memref<160xf32>{{.*}}memref<133xf32>
// V4-NOT: scf.for
// V4-COUNT-70: vector.fma
// V4-NOT: vector.fma
// V4: vector.store %{{.*}}, %arg2
// V4: vector.maskedstore %arg2
// V3: func.func private @matmul_
// V3: vector.fma {{.*}} : vector<8xf32>
func.func @awkward(%x: tensor<7x5xf32>) -> tensor<7x19xf32> {
  %w = onnx.Constant dense<0.5> : tensor<5x19xf32>
  %0 = onnx.MatMul %x, %w : (tensor<7x5xf32>, tensor<5x19xf32>) -> tensor<7x19xf32>
  return %0 : tensor<7x19xf32>
}

// -----

// Weights of 4 MiB do not stay in the second cache: a single tile of five rows fetches in each turn the four lines that it will read 16 KiB further on.
// V3-LABEL: func.func @streamed
// V3: func.func private @matmul_{{[0-9]*}}(%{{.*}}: memref<2560xf32>{{.*}}, %[[W:arg1]]: memref<1048576xf32>
// V3: %[[FAR:.*]] = arith.addi %{{.*}}, %c4096
// V3-COUNT-4: memref.prefetch %[[W]]
// V3-NOT: memref.prefetch
// V3: vector.fma
func.func @streamed(%x: tensor<5x512xf32>) -> tensor<5x2048xf32> {
  %w = onnx.Constant dense<0.5> : tensor<512x2048xf32>
  %0 = onnx.MatMul %x, %w : (tensor<5x512xf32>, tensor<512x2048xf32>) -> tensor<5x2048xf32>
  return %0 : tensor<5x2048xf32>
}

// -----

// Of three rows the machine does that by itself.
// V3-LABEL: func.func @few
// V3-NOT: memref.prefetch
func.func @few(%x: tensor<3x512xf32>) -> tensor<3x2048xf32> {
  %w = onnx.Constant dense<0.5> : tensor<512x2048xf32>
  %0 = onnx.MatMul %x, %w : (tensor<3x512xf32>, tensor<512x2048xf32>) -> tensor<3x2048xf32>
  return %0 : tensor<3x2048xf32>
}

// -----

// Three tiles of rows meet weights of 12 MiB, of which a panel is 576 KiB: all tiles go over 172 steps of it, 33 KiB, before any goes on. Sums wait on the
// stack, and the next part is fetched meanwhile, a third by each tile.
// CHECK-LABEL: func.func @long
// V4: func.func private @matmul_
// V4: %[[WAITING:.*]] = memref.alloca() {{.*}} : memref<1152xf32>
// V4: scf.for %{{.*}} to %c3072{{.*}} step %c172
// V4: scf.for %{{.*}} to %c3{{.*}} step %c1
// V4: vector.load %[[WAITING]]
// V4: scf.for {{.*}} step %c4
// V4-COUNT-4: memref.prefetch
// V4-NOT: memref.prefetch
// V4: vector.store {{.*}}, %[[WAITING]]
// V4: scf.for %{{.*}} to %c3{{.*}} step %c1
// V4: vector.load %[[WAITING]]
// V4: vector.store {{.*}}, %arg2
func.func @long(%x: tensor<24x3072xf32>) -> tensor<24x1024xf32> {
  %w = onnx.Constant dense<0.5> : tensor<3072x1024xf32>
  %0 = onnx.MatMul %x, %w : (tensor<24x3072xf32>, tensor<3072x1024xf32>) -> tensor<24x1024xf32>
  return %0 : tensor<24x1024xf32>
}

// -----

// Of one row and of two, 4 vectors of 16 lanes at a time: four cache lines.
// V4-LABEL: func.func @narrow
// V4: func.func private @matmul_
// V4: %{{[0-9]+}}:4 = scf.for {{.*}} to %c256{{.*}} step %c4
// V4: func.func private @matmul_
// V4: %{{[0-9]+}}:8 = scf.for {{.*}} to %c256{{.*}} step %c4
func.func @narrow(%x: tensor<1x256xf32>, %z: tensor<2x256xf32>) -> (tensor<1x512xf32>, tensor<2x512xf32>) {
  %w = onnx.Constant dense<0.5> : tensor<256x512xf32>
  %0 = onnx.MatMul %x, %w : (tensor<1x256xf32>, tensor<256x512xf32>) -> tensor<1x512xf32>
  %1 = onnx.MatMul %z, %w : (tensor<2x256xf32>, tensor<256x512xf32>) -> tensor<2x512xf32>
  return %0, %1 : tensor<1x512xf32>, tensor<2x512xf32>
}

// -----

// Three tiles of rows of an AVX2 machine read B where it is.
// V3-LABEL: func.func @in_place
// V3: scratchBytes = #onnx.size<0>
func.func @in_place(%x: tensor<16x256xf32>, %w: tensor<256x256xf32>) -> tensor<16x256xf32> {
  %0 = onnx.MatMul %x, %w : (tensor<16x256xf32>, tensor<256x256xf32>) -> tensor<16x256xf32>
  return %0 : tensor<16x256xf32>
}

// -----

// Rows 4 KiB apart compete for the same sets of the caches: panels of B are copied first.
// V3-LABEL: func.func @copied
// V3: scratchBytes = #onnx.size<4194304>
func.func @copied(%x: tensor<16x1024xf32>, %w: tensor<1024x1024xf32>) -> tensor<16x1024xf32> {
  %0 = onnx.MatMul %x, %w : (tensor<16x1024xf32>, tensor<1024x1024xf32>) -> tensor<16x1024xf32>
  return %0 : tensor<16x1024xf32>
}

// -----

// More than 16 tiles are worth it whatever B's rows are.
// V3-LABEL: func.func @many
// V3: scratchBytes = #onnx.size<262144>
func.func @many(%x: tensor<128x256xf32>, %w: tensor<256x256xf32>) -> tensor<128x256xf32> {
  %0 = onnx.MatMul %x, %w : (tensor<128x256xf32>, tensor<256x256xf32>) -> tensor<128x256xf32>
  return %0 : tensor<128x256xf32>
}
