// Range: vectors of lane numbers, scaled and moved; how many there are says the size of the result.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V3
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v4 --layout-assign=target=x86-64-v4 --lower-kernels=target=x86-64-v4 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V4

// CHECK-LABEL: func.func private @range_(
// CHECK: [[START:%.*]] = memref.load %arg0
// CHECK: [[DELTA:%.*]] = memref.load %arg1
// CHECK: scf.for
// CHECK: vector.step
// CHECK: arith.muli
// CHECK: arith.addi
// V3: vector.store {{.*}}, %arg2{{.*}} vector<8xi64>
// V4: vector.store {{.*}}, %arg2{{.*}} vector<16xi64>
// CHECK: scf.if
// V3: scf.for [[I:%.*]] = {{.*}} to %arg3
// V3: [[STEPS:%.*]] = arith.muli {{.*}}, [[DELTA]]
// V3: arith.addi [[STEPS]], [[START]]
// V3: memref.store {{.*}}, %arg2
// V4: vector.create_mask
// V4: vector.maskedstore %arg2
func.func @typical(%x: tensor<?xf32, #onnx.sizes<"n">>) -> tensor<?xi64, #onnx.sizes<"n">> {
  %s = onnx.Constant dense<0> : tensor<i64>
  %l = "onnx.Sizes"() <{values = #onnx.sizes<"n">}> : () -> tensor<i64>
  %o = onnx.Constant dense<1> : tensor<i64>
  %0 = "onnx.Range"(%s, %l, %o) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #onnx.sizes<"n">>
  return %0 : tensor<?xi64, #onnx.sizes<"n">>
}

// -----

// A length that is a quotient of sizes, and an epilogue on the numbers while they are in registers.
// CHECK-LABEL: func.func @awkward
// CHECK: symbols = #onnx.sizes<"n">
// CHECK-LABEL: func.func private @range_(
// CHECK: arith.divui {{.*}}, %c3
// CHECK: vector.step
// CHECK: arith.muli
// CHECK: [[X:%.*]] = arith.addi {{.*}} : vector
// CHECK-NEXT: [[Y:%.*]] = arith.muli [[X]], [[X]]
// CHECK: vector.store [[Y]], %arg2
func.func @awkward(%x: tensor<?xi64, #onnx.sizes<"n">>) -> tensor<?xi64, #onnx.sizes<"div(2+n,3)">> {
  %s = onnx.Constant dense<5> : tensor<i64>
  %l = "onnx.Sizes"() <{values = #onnx.sizes<"5+n">}> : () -> tensor<i64>
  %o = onnx.Constant dense<3> : tensor<i64>
  %0 = "onnx.Range"(%s, %l, %o) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #onnx.sizes<"div(2+n,3)">>
  %1 = "onnx.Mul"(%0, %0) : (tensor<?xi64, #onnx.sizes<"div(2+n,3)">>, tensor<?xi64, #onnx.sizes<"div(2+n,3)">>) -> tensor<?xi64, #onnx.sizes<"div(2+n,3)">>
  return %1 : tensor<?xi64, #onnx.sizes<"div(2+n,3)">>
}
