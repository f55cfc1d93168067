// Unique: numbers of the elements are sorted by value; the first of equal ones stands for all; scratch holds three numbers for each.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V3
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v4 --layout-assign=target=x86-64-v4 --lower-kernels=target=x86-64-v4 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V4

// CHECK-LABEL: func.func @typical
// CHECK: scratchBytes = #onnx.size<384>
// CHECK-LABEL: func.func private @unique_(
// CHECK: [[ORDER:%.*]] = memref.view %arg3[%c0]
// CHECK: [[LEADER:%.*]] = memref.view %arg3[%c128]
// CHECK: [[NUMBER:%.*]] = memref.view %arg3[%c256]
// CHECK: scf.for {{.*}} to %c16
// CHECK: memref.store {{.*}}, [[ORDER]]
// Heap sort: 7 turns build the heap, 16 take from it.
// CHECK: scf.for {{.*}} to %c23
// CHECK: scf.while
// CHECK: arith.cmpf oeq
// CHECK: arith.cmpf uno
// Who stands for each, and its number.
// CHECK: memref.store %c0_i64{{.*}}, %arg2
// CHECK: scf.for {{.*}} to %c16
// CHECK: memref.store {{.*}}, [[LEADER]]
// CHECK: memref.store {{.*}}, [[NUMBER]]
// CHECK: scf.for {{.*}} to %c16
// CHECK: scf.if
// CHECK: memref.store {{.*}}, %arg1
func.func @typical(%x: tensor<16xf32>) -> (tensor<?xf32, #onnx.sizes<"$0">>, tensor<i64>) attributes {onnx.facts = #onnx.sizes<"16-$0">} {
  %y, %f, %i, %c, %n = "onnx.Unique"(%x) {onnx.data_dependent_size = #onnx.symbol<"$0">} : (tensor<16xf32>) -> (tensor<?xf32, #onnx.sizes<"$0">>, tensor<?xi64, #onnx.sizes<"$0">>, tensor<16xi64>, tensor<?xi64, #onnx.sizes<"$0">>, tensor<i64>)
  return %y, %n : tensor<?xf32, #onnx.sizes<"$0">>, tensor<i64>
}

// -----

// Columns in the order in which they occur: a loop compares two of them, and another one copies those that are kept.
// CHECK-LABEL: func.func private @unique_(
// CHECK: scf.for {{.*}} to %c6
// CHECK: scf.while
// CHECK: scf.while
// CHECK: arith.cmpi eq, {{.*}} : i64
// In the order of the first ones, which a loop of its own numbers.
// CHECK: memref.store %c0_i64{{.*}}, %arg3
// CHECK: scf.for {{.*}} to %c5
// CHECK: scf.for {{.*}} to %c5
// CHECK: scf.if
// CHECK: memref.store {{.*}}, %arg3
// CHECK: scf.for {{.*}} to %c5
// CHECK: scf.if
// CHECK: scf.for {{.*}} to %c3
// CHECK: memref.store {{.*}}, %arg1
// CHECK: memref.store {{.*}}, %arg2
// CHECK: memref.store {{.*}}, %arg2
func.func @awkward(%x: tensor<3x5xi64>) -> (tensor<3x?xi64, #onnx.sizes<3, "$0">>, tensor<?xi64, #onnx.sizes<"$0">>, tensor<i64>) attributes {onnx.facts = #onnx.sizes<"5-$0">} {
  %y, %f, %i, %c, %n = "onnx.Unique"(%x) <{axis = 1 : i64, sorted = 0 : i64}> {onnx.data_dependent_size = #onnx.symbol<"$0">} : (tensor<3x5xi64>) -> (tensor<3x?xi64, #onnx.sizes<3, "$0">>, tensor<?xi64, #onnx.sizes<"$0">>, tensor<5xi64>, tensor<?xi64, #onnx.sizes<"$0">>, tensor<i64>)
  return %y, %c, %n : tensor<3x?xi64, #onnx.sizes<3, "$0">>, tensor<?xi64, #onnx.sizes<"$0">>, tensor<i64>
}
