// RangeSize: the length of a range, without a loop; of integers as a distance without a sign, so that none is too large.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V3
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v4 --layout-assign=target=x86-64-v4 --lower-kernels=target=x86-64-v4 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V4

// CHECK-LABEL: func.func @typical
// CHECK: plan.launch @rangesize_({{.*}}) {checked, dataDependentSize = #onnx.symbol<"$0">
// CHECK-LABEL: func.func private @rangesize_(
// CHECK: [[DOWN:%.*]] = arith.cmpi slt, [[DELTA:%.*]], %c0_i64
// CHECK: [[NONE:%.*]] = arith.cmpi eq, [[DELTA]], %c0_i64
// CHECK: arith.divui
// CHECK: [[LONG:%.*]] = arith.cmpi ugt, [[LENGTH:%.*]], %c1099511627776_i64
// CHECK: [[BAD:%.*]] = arith.ori [[NONE]], [[LONG]]
// CHECK: scf.if [[BAD]]
// CHECK: %c12_i32 = arith.constant 12
// CHECK: [[SIZE:%.*]] = arith.select [[BAD]], {{.*}}, [[LENGTH]]
// CHECK: memref.store [[SIZE]], %arg3
func.func @typical(%s: tensor<i64>, %l: tensor<i64>, %d: tensor<i64>) -> tensor<i64> {
  %0 = "onnx.RangeSize"(%s, %l, %d) {onnx.data_dependent_size = #onnx.symbol<"$0">} : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<i64>
  return %0 : tensor<i64>
}

// -----

// Floats: the distance as they have it, the rest in float64; what is no number is too long (ugt).
// CHECK-LABEL: func.func private @rangesize_(
// CHECK: arith.subf {{.*}} : f32
// CHECK: arith.divf {{.*}} : f64
// CHECK: [[LENGTH:%.*]] = math.ceil
// CHECK: arith.cmpf ugt, [[LENGTH]]
// CHECK: arith.fptosi {{.*}} : f64 to i64
// CHECK: memref.store {{.*}}, %arg3
func.func @awkward(%s: tensor<f32>, %l: tensor<f32>, %d: tensor<f32>) -> tensor<i64> {
  %0 = "onnx.RangeSize"(%s, %l, %d) {onnx.data_dependent_size = #onnx.symbol<"$0">} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<i64>
  return %0 : tensor<i64>
}
