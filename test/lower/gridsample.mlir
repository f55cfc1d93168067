// GridSample: what the places of a piece of the grid need is computed once, lane by lane, and then read for each channel.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V3
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v4 --layout-assign=target=x86-64-v4 --lower-kernels=target=x86-64-v4 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V4

// CHECK-LABEL: func.func private @gridsample_(
// V3: scf.for {{.*}} to %c16 step
// The last coordinate comes first: every other number of the grid is x.
// CHECK: vector.shuffle
// CHECK: math.floor
// CHECK: vector.store {{.*}}, %alloca
// CHECK: scf.for {{.*}} to %c16{{.*}} step
// V3: scf.for {{.*}} to %c16{{.*}} step
// Four corners.
// CHECK-COUNT-4: vector.gather %arg0
// CHECK: vector.store {{.*}}, %arg2
// CHECK-NOT: vector.gather
func.func @typical(%x: tensor<1x16x8x8xf32>, %g: tensor<1x4x4x2xf32>) -> tensor<1x16x4x4xf32> {
  %0 = "onnx.GridSample"(%x, %g) : (tensor<1x16x8x8xf32>, tensor<1x4x4x2xf32>) -> tensor<1x16x4x4xf32>
  return %0 : tensor<1x16x4x4xf32>
}

// -----

// The nearest pixel at an open number of places: one element a place, and a rest both times.
// CHECK-LABEL: func.func private @gridsample_(
// CHECK: scf.for
// CHECK: scf.for
// CHECK: math.roundeven {{.*}} : vector
// V3: scf.for
// V3: math.roundeven {{.*}} : f32
// V4: vector.maskedload %arg1
// CHECK: scf.for {{.*}} to %c3
// CHECK: scf.for
// CHECK: vector.gather %arg0
// CHECK: vector.store {{.*}}, %arg2
// V3: scf.for
// V3: memref.store {{.*}}, %arg2
// V4: vector.gather %arg0
// V4: vector.maskedstore %arg2
// CHECK-NOT: vector.gather
func.func @awkward(%x: tensor<1x3x7x5xf32>, %g: tensor<1x?x3x2xf32, #onnx.sizes<1, "n", 3, 2>>) -> tensor<1x3x?x3xf32, #onnx.sizes<1, 3, "n", 3>> {
  %0 = "onnx.GridSample"(%x, %g) <{align_corners = 1 : i64, mode = "nearest", padding_mode = "border"}> : (tensor<1x3x7x5xf32>, tensor<1x?x3x2xf32, #onnx.sizes<1, "n", 3, 2>>) -> tensor<1x3x?x3xf32, #onnx.sizes<1, 3, "n", 3>>
  return %0 : tensor<1x3x?x3xf32, #onnx.sizes<1, 3, "n", 3>>
}
