// ReadSize: a number in data becomes a size; one comparison without a sign finds those that are negative or beyond the bound.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V3
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v4 --layout-assign=target=x86-64-v4 --lower-kernels=target=x86-64-v4 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V4

// CHECK-LABEL: func.func private @readsize_(
// CHECK: [[N:%.*]] = memref.load %arg0
// CHECK: %c64 = arith.constant 64
// CHECK: [[BAD:%.*]] = arith.cmpi ugt, [[N]]
// CHECK: scf.if [[BAD]]
// CHECK: %c12_i32 = arith.constant 12
// CHECK: [[SIZE:%.*]] = arith.select [[BAD]], {{.*}}, [[N]]
// CHECK: memref.store [[SIZE]], %arg1
func.func @typical(%x: tensor<i64>) -> tensor<i64> attributes {onnx.facts = #onnx.sizes<"64-$0">} {
  %0 = "onnx.ReadSize"(%x) <{sizes = #onnx.sizes<64>}> {onnx.data_dependent_size = #onnx.symbol<"$0">} : (tensor<i64>) -> tensor<i64>
  return %0 : tensor<i64>
}

// -----

// Nothing bounds it but what an axis may have at all; the operand has an axis.
// CHECK-LABEL: func.func private @readsize_(
// CHECK: %c1099511627776{{(_i64)?}} = arith.constant
// CHECK: arith.cmpi ugt
func.func @awkward(%x: tensor<1xi64>) -> tensor<i64> {
  %0 = "onnx.ReadSize"(%x) {onnx.data_dependent_size = #onnx.symbol<"$0">} : (tensor<1xi64>) -> tensor<i64>
  return %0 : tensor<i64>
}
