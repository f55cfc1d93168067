// Cubic interpolation of an image is one axis after the other, the one that shrinks first.
// RUN: %ingot-opt --fusion-fuse --split-input-file %s | FileCheck %s

// CHECK-LABEL: @cubic
// CHECK-SAME: %[[X:[^:]*]]: tensor<1x2x3x8xf32>, %[[RP:[^:]*]]: tensor<4x6xi32>, %[[RW:[^:]*]]: tensor<4x6xf32>, %[[CP:[^:]*]]: tensor<4x4xi32>, %[[CW:[^:]*]]: tensor<4x4xf32>
// CHECK: %[[C:.*]] = onnx.Interpolate %[[X]], %[[CP]], %[[CW]] {axes = array<i64: 3>, nearest = false} {{.*}} -> tensor<1x2x3x4xf32>
// CHECK: %[[Y:.*]] = onnx.Interpolate %[[C]], %[[RP]], %[[RW]] {axes = array<i64: 2>, nearest = false} {{.*}} -> tensor<1x2x6x4xf32>
// CHECK: return %[[Y]]
func.func @cubic(%x: tensor<1x2x3x8xf32>, %rp: tensor<4x6xi32>, %rw: tensor<4x6xf32>, %cp: tensor<4x4xi32>, %cw: tensor<4x4xf32>) -> tensor<1x2x6x4xf32> {
  %0 = onnx.Interpolate %x, %rp, %rw, %cp, %cw {axes = array<i64: 2, 3>, nearest = false} : (tensor<1x2x3x8xf32>, tensor<4x6xi32>, tensor<4x6xf32>, tensor<4x4xi32>, tensor<4x4xf32>) -> tensor<1x2x6x4xf32>
  return %0 : tensor<1x2x6x4xf32>
}

// -----

// Few taps take no longer together, and float16 would be rounded in between.
// CHECK-LABEL: @stays
// CHECK: onnx.Interpolate {{.*}} {axes = array<i64: 2, 3>, nearest = false} {{.*}} -> tensor<1x2x6x6xf32>
// CHECK: onnx.Interpolate {{.*}} {axes = array<i64: 2, 3>, nearest = false} {{.*}} -> tensor<1x2x6x6xf16>
func.func @stays(%x: tensor<1x2x3x3xf32>, %p: tensor<2x6xi32>, %w: tensor<2x6xf32>, %h: tensor<1x2x3x3xf16>, %q: tensor<4x6xi32>, %v: tensor<4x6xf16>)
    -> (tensor<1x2x6x6xf32>, tensor<1x2x6x6xf16>) {
  %0 = onnx.Interpolate %x, %p, %w, %p, %w {axes = array<i64: 2, 3>, nearest = false} : (tensor<1x2x3x3xf32>, tensor<2x6xi32>, tensor<2x6xf32>, tensor<2x6xi32>, tensor<2x6xf32>) -> tensor<1x2x6x6xf32>
  %1 = onnx.Interpolate %h, %q, %v, %q, %v {axes = array<i64: 2, 3>, nearest = false} : (tensor<1x2x3x3xf16>, tensor<4x6xi32>, tensor<4x6xf16>, tensor<4x6xi32>, tensor<4x6xf16>) -> tensor<1x2x6x6xf16>
  return %0, %1 : tensor<1x2x6x6xf32>, tensor<1x2x6x6xf16>
}
