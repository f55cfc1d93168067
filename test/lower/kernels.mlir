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
