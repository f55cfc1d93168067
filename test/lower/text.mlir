// Calls on strings: one for each stretch of the result along which operands go on, or stay.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s

// Operands of one shape are one call, with the run's ingot_exec.
// CHECK-LABEL: func.func private @text_(
// CHECK-SAME: %[[EXEC:[a-z0-9]+]]: !llvm.ptr, %{{[a-z0-9]+}}: index, %{{[a-z0-9]+}}: index) -> i32
// CHECK-NOT: scf.for
// CHECK: %[[STATUS:.*]] = call @ingot_text_join(%[[EXEC]], %[[WORDS:.*]]) : (!llvm.ptr, memref<11xi64>) -> i32
// CHECK: scf.if
// CHECK: memref.store %[[STATUS]]
// CHECK: func.func private @ingot_text_join
func.func @typical(%x: tensor<3x4xi128>, %y: tensor<3x4xi128>) -> tensor<3x4xi128> {
  %none = onnx.None : none
  %z = onnx.Text %x, %y, %none {does = "join", to = 8 : i64} : (tensor<3x4xi128>, tensor<3x4xi128>, none) -> tensor<3x4xi128>
  return %z : tensor<3x4xi128>
}

// -----

// A column and a row: a call for each row, in which the one goes on and the other stays.
// CHECK-LABEL: func.func private @text_(
// CHECK: scf.for
// CHECK: call @ingot_text_equal
func.func @awkward(%x: tensor<3x1xi128>, %y: tensor<4xi128>) -> tensor<3x4xi1> {
  %none = onnx.None : none
  %z = onnx.Text %x, %y, %none {does = "equal", to = 9 : i64} : (tensor<3x1xi128>, tensor<4xi128>, none) -> tensor<3x4xi1>
  return %z : tensor<3x4xi1>
}

// -----

// What only moves strings moves numbers of 128 bits, one by one.
// CHECK-LABEL: func.func private @{{reorder|move|elementwise|gather}}_
// CHECK-NOT: vector
// CHECK: memref.load {{.*}} : memref<12xi128>
// CHECK-NOT: vector
// CHECK: memref.store {{.*}} : memref<12xi128>
func.func @moved(%x: tensor<3x4xi128>) -> tensor<4x3xi128> {
  %y = onnx.Transpose %x {perm = array<i64: 1, 0>} : (tensor<3x4xi128>) -> tensor<4x3xi128>
  return %y : tensor<4x3xi128>
}

// -----

// Rows of numbers, all in one call, and strings that are told apart, which takes scratch memory.
// CHECK-LABEL: func.func private @text_(
// CHECK-NOT: scf.for
// CHECK: call @ingot_text_count_grams
// CHECK-LABEL: func.func private @text_
// CHECK-SAME: memref<384xi8>
// CHECK: call @ingot_text_rank
func.func @wholes(%x: tensor<3x4xi64>, %s: tensor<12xi128>, %table: tensor<64xui8>) -> (tensor<3x7xf32>, tensor<12xi64>) {
  %none = onnx.None : none
  %y = onnx.Text %x, %table {does = "count_grams", to = 1 : i64, tail = #onnx.sizes<7>, rows} : (tensor<3x4xi64>, tensor<64xui8>) -> tensor<3x7xf32>
  %z = onnx.Text %s, %none {does = "rank", to = 7 : i64} : (tensor<12xi128>, none) -> tensor<12xi64>
  return %y, %z : tensor<3x7xf32>, tensor<12xi64>
}
