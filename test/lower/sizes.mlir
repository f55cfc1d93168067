// Sizes that are read as a tensor: each is computed from the symbols and stored, without a loop.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V3
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v4 --layout-assign=target=x86-64-v4 --lower-kernels=target=x86-64-v4 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V4

// CHECK-LABEL: func.func @typical
// CHECK: plan.launch @sizes_() {{.*}}symbols = #onnx.sizes<"n">
// CHECK-LABEL: func.func private @sizes_(
// CHECK-NOT: scf.for
// CHECK: [[N:%.*]] = arith.index_cast %arg1
// CHECK: memref.store [[N]], %arg0[%c0{{.*}}]
// CHECK: arith.index_cast %c8
// CHECK: memref.store {{.*}}, %arg0[%c1{{.*}}]
func.func @typical(%x: tensor<?x8xf32, #onnx.sizes<"n", 8>>) -> tensor<2xi64> {
  %0 = "onnx.Sizes"() <{values = #onnx.sizes<"n", 8>}> : () -> tensor<2xi64>
  return %0 : tensor<2xi64>
}

// -----

// A quotient, as a float.
// CHECK-LABEL: func.func private @sizes_(
// CHECK: [[SUM:%.*]] = arith.addi {{.*}}, %arg1
// CHECK: arith.divui [[SUM]], %c2
// CHECK: [[FLOAT:%.*]] = arith.sitofp {{.*}} : i64 to f32
// CHECK: memref.store [[FLOAT]], %arg0
func.func @awkward(%x: tensor<?xf32, #onnx.sizes<"n">>) -> tensor<f32> {
  %0 = "onnx.Sizes"() <{values = #onnx.sizes<"div(1+n,2)">}> : () -> tensor<f32>
  return %0 : tensor<f32>
}
