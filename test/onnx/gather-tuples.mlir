// Tuples of open length: what has but one axis to address, or the rank that the model declares, tells how long they are.
// RUN: %ingot-opt --graph-simplify --split-input-file --verify-diagnostics %s | FileCheck %s

// CHECK-LABEL: @one
// CHECK: return {{.*}} : tensor<2x3xf32>
func.func @one(%x: tensor<2x?xf32, #onnx.sizes<2, "n">>, %i: tensor<2x3x?xi64, #onnx.sizes<2, 3, "w">>) -> tensor<*xf32> {
  %y = onnx.GatherND %x, %i {batch_dims = 1 : i64} : (tensor<2x?xf32, #onnx.sizes<2, "n">>, tensor<2x3x?xi64, #onnx.sizes<2, 3, "w">>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// CHECK-LABEL: @declared
// CHECK: return {{.*}} : tensor<3x?xf32, #onnx.sizes<3, "c">>
func.func @declared(%x: tensor<?x?x?xf32, #onnx.sizes<"a", "b", "c">>, %i: tensor<3x?xi64, #onnx.sizes<3, "w">>) -> (tensor<*xf32> {onnx.rank = 2 : i64}) {
  %y = onnx.GatherND %x, %i : (tensor<?x?x?xf32, #onnx.sizes<"a", "b", "c">>, tensor<3x?xi64, #onnx.sizes<3, "w">>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// Nothing tells: the result has one axis or two.
// CHECK-LABEL: @either
// CHECK: return {{.*}} : tensor<*xf32>
func.func @either(%x: tensor<?x?xf32, #onnx.sizes<"a", "b">>, %i: tensor<3x?xi64, #onnx.sizes<3, "w">>) -> tensor<*xf32> {
  %y = onnx.GatherND %x, %i : (tensor<?x?xf32, #onnx.sizes<"a", "b">>, tensor<3x?xi64, #onnx.sizes<3, "w">>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @contradicts(%x: tensor<?x?xf32, #onnx.sizes<"a", "b">>, %i: tensor<3x?xi64, #onnx.sizes<3, "w">>) -> (tensor<*xf32> {onnx.rank = 3 : i64}) {
  // expected-error@+1 {{tuples of 0 after 0 batch dimensions do not fit}}
  %y = onnx.GatherND %x, %i : (tensor<?x?xf32, #onnx.sizes<"a", "b">>, tensor<3x?xi64, #onnx.sizes<3, "w">>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
