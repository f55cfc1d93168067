// Kernels become functions: equal ones are one, weights are packed once, tiles are balanced.
// RUN: %ingot-opt --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s

// Two equal products and a third with an epilogue: two functions. Equal weights are one entry of the section.
// CHECK-LABEL: func.func @shared
// CHECK: %[[W0:.*]] = plan.weight at 0
// CHECK: plan.launch @[[F:.*]](%arg0, %[[W0]]
// CHECK: plan.weight at 0
// CHECK: plan.launch @[[F]](
// CHECK: plan.weight at 0
// CHECK: plan.launch @[[G:.*]](
// CHECK: func.func private @
// CHECK: func.func private @
// CHECK-NOT: func.func private @
func.func @shared(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %w = onnx.Constant dense<0.5> : tensor<32x32xf32>
  %0 = onnx.MatMul %x, %w : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %1 = onnx.MatMul %0, %w : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %2 = onnx.MatMul %1, %w : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %3 = onnx.Relu %2 : (tensor<32x32xf32>) -> tensor<32x32xf32>
  return %3 : tensor<32x32xf32>
}

// -----

// 32 rows are tiles of 6 + 6 + 5 + 5 + 5 + 5, never a small rest: two loops, of 12 and of 10 sums (two vectors a row).
// The sums stay in vectors along k; the epilogue works on them before they are stored.
// CHECK-LABEL: func.func @epilogue
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c2{{.*}} step
// CHECK: %{{[0-9]+}}:12 = scf.for
// CHECK: vector.fma
// CHECK: scf.yield {{.*}} : vector<8xf32>
// CHECK: %[[NEGATIVE:.*]] = arith.cmpf olt
// CHECK-NEXT: %[[Y:.*]] = arith.select %[[NEGATIVE]]
// CHECK: vector.store %[[Y]], %arg2
// CHECK: scf.for %{{.*}} = %c2{{.*}} to %c6{{.*}} step
// CHECK: %{{[0-9]+}}:10 = scf.for {{.*}} iter_args
// CHECK-NOT: iter_args
func.func @epilogue(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %w = onnx.Constant dense<0.5> : tensor<32x32xf32>
  %0 = onnx.MatMul %x, %w : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %1 = onnx.Relu %0 : (tensor<32x32xf32>) -> tensor<32x32xf32>
  return %1 : tensor<32x32xf32>
}

// -----

// Kernels that differ in nothing but the names of data-dependent sizes are one, wherever the names stand in a sum.
// CHECK-LABEL: func.func @found
// CHECK: plan.launch @[[F:[a-z_0-9]+]](%arg0) {{.*}}symbols = #onnx.sizes<"$10", "$2">
// CHECK: plan.launch @[[F]](%arg1) {{.*}}symbols = #onnx.sizes<"$4", "$3">
// CHECK: func.func private @[[F]](
// CHECK-NOT: func.func private @
func.func @found(%x: tensor<?x?xf32, #onnx.sizes<"$2", "$10+$2">>, %y: tensor<?x?xf32, #onnx.sizes<"$3", "$3+$4">>) -> (tensor<?x?xf32, #onnx.sizes<"$2", "$10+$2">>, tensor<?x?xf32, #onnx.sizes<"$3", "$3+$4">>) {
  %0 = onnx.Relu %x : (tensor<?x?xf32, #onnx.sizes<"$2", "$10+$2">>) -> tensor<?x?xf32, #onnx.sizes<"$2", "$10+$2">>
  %1 = onnx.Relu %y : (tensor<?x?xf32, #onnx.sizes<"$3", "$3+$4">>) -> tensor<?x?xf32, #onnx.sizes<"$3", "$3+$4">>
  return %0, %1 : tensor<?x?xf32, #onnx.sizes<"$2", "$10+$2">>, tensor<?x?xf32, #onnx.sizes<"$3", "$3+$4">>
}

// -----

// Two data-dependent sizes are not one that occurs twice.
// CHECK-LABEL: func.func @two
// CHECK: plan.launch @[[F:[a-z_0-9]+]](%arg0)
// CHECK-NOT: plan.launch @[[F]](
// CHECK: plan.launch @{{.*}}(%arg1)
func.func @two(%x: tensor<?x?xf32, #onnx.sizes<"$2", "$3">>, %y: tensor<?x?xf32, #onnx.sizes<"$2", "$2">>) -> (tensor<?x?xf32, #onnx.sizes<"$2", "$3">>, tensor<?x?xf32, #onnx.sizes<"$2", "$2">>) {
  %0 = onnx.Relu %x : (tensor<?x?xf32, #onnx.sizes<"$2", "$3">>) -> tensor<?x?xf32, #onnx.sizes<"$2", "$3">>
  %1 = onnx.Relu %y : (tensor<?x?xf32, #onnx.sizes<"$2", "$2">>) -> tensor<?x?xf32, #onnx.sizes<"$2", "$2">>
  return %0, %1 : tensor<?x?xf32, #onnx.sizes<"$2", "$3">>, tensor<?x?xf32, #onnx.sizes<"$2", "$2">>
}

// -----

// What is said about a kernel elsewhere (its location) makes no difference; an attribute of an operation does.
// CHECK-LABEL: func.func @attributes
// CHECK: plan.launch @[[F:[a-z_0-9]+]](%arg0)
// CHECK: plan.launch @[[F]](
// CHECK: plan.launch @[[G:[a-z_0-9]+]](
// CHECK: func.func private @[[F]](
// CHECK: func.func private @[[G]](
// CHECK-NOT: func.func private @
func.func @attributes(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %0 = onnx.Softmax %x {axis = 1 : i64} : (tensor<4x64xf32>) -> tensor<4x64xf32> loc("first")
  %1 = onnx.Softmax %0 {axis = 1 : i64} : (tensor<4x64xf32>) -> tensor<4x64xf32> loc("second")
  %2 = onnx.Softmax %1 {axis = 0 : i64} : (tensor<4x64xf32>) -> tensor<4x64xf32>
  return %2 : tensor<4x64xf32>
}

// -----

// An attribute that says what its absence means makes no difference either.
// CHECK-LABEL: func.func @default
// CHECK: plan.launch @[[F:[a-z_0-9]+]](%arg0)
// CHECK: plan.launch @[[F]](
// CHECK: func.func private @[[F]](
// CHECK-NOT: func.func private @
func.func @default(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %0 = onnx.Softmax %x {axis = -1 : i64} : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %1 = onnx.Softmax %0 : (tensor<4x64xf32>) -> tensor<4x64xf32>
  return %1 : tensor<4x64xf32>
}
