// A reduction over short trailing axes and over others, with kept axes between them, becomes two.
// RUN: %ingot-opt --fusion-fuse --split-input-file %s | FileCheck %s

// CHECK-LABEL: @split
// CHECK: %[[FIRST:.*]] = onnx.Reduce %arg0 {axes = array<i64: 2>, keepdims, kind = "Max"} : (tensor<8x?x3xf32, #onnx.sizes<8, "n", 3>>) -> tensor<8x?x1xf32, #onnx.sizes<8, "n", 1>>
// CHECK: %[[SECOND:.*]] = onnx.Reduce %[[FIRST]] {axes = array<i64: 0>, keepdims, kind = "Max"}
// CHECK: onnx.Reshape %[[SECOND]], {{.*}} -> tensor<?xf32, #onnx.sizes<"n">>
func.func @split(%x: tensor<8x?x3xf32, #onnx.sizes<8, "n", 3>>) -> tensor<?xf32, #onnx.sizes<"n">> {
  %0 = onnx.Reduce %x {axes = array<i64: 0, 2>, kind = "Max"} : (tensor<8x?x3xf32, #onnx.sizes<8, "n", 3>>) -> tensor<?xf32, #onnx.sizes<"n">>
  return %0 : tensor<?xf32, #onnx.sizes<"n">>
}

// -----

// Axes that are all trailing ones stay together, and so do long ones; a mean of whole numbers is rounded once.
// CHECK-LABEL: @kept
// CHECK-COUNT-3: onnx.Reduce %arg
// CHECK-NOT: onnx.Reduce
func.func @kept(%x: tensor<8x5x3xf32>, %y: tensor<8x5x17xf32>, %z: tensor<8x5x3xi32>) -> (tensor<8xf32>, tensor<5xf32>, tensor<5xi32>) {
  %0 = onnx.Reduce %x {axes = array<i64: 1, 2>, kind = "Sum"} : (tensor<8x5x3xf32>) -> tensor<8xf32>
  %1 = onnx.Reduce %y {axes = array<i64: 0, 2>, kind = "Sum"} : (tensor<8x5x17xf32>) -> tensor<5xf32>
  %2 = onnx.Reduce %z {axes = array<i64: 0, 2>, kind = "Mean"} : (tensor<8x5x3xi32>) -> tensor<5xi32>
  return %0, %1, %2 : tensor<8xf32>, tensor<5xf32>, tensor<5xi32>
}
