// Append: each work item writes the rows of one part of the cache; the cache itself is copied only where the result lies elsewhere.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V3
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v4 --layout-assign=target=x86-64-v4 --lower-kernels=target=x86-64-v4 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V4

// CHECK-LABEL: func.func @typical
// CHECK: plan.launch @append_(%arg0, %arg1) {{.*}}plan.in_place = array<i64: 0>
// CHECK-LABEL: func.func private @append_(
// CHECK-DAG: [[CACHE:%.*]] = memref.extract_aligned_pointer_as_index %arg0
// CHECK-DAG: [[RESULT:%.*]] = memref.extract_aligned_pointer_as_index %arg2
// CHECK: [[COPY:%.*]] = arith.cmpi ne, [[CACHE]], [[RESULT]]
// CHECK: scf.for [[I:%.*]] = {{.*}} to %c2
// CHECK: scf.if [[COPY]]
// CHECK: scf.for {{.*}} to %c64
// CHECK: [[ROOM:%.*]] = arith.muli [[I]], %c64
// CHECK: [[TO:%.*]] = arith.addi [[ROOM]], %c20
// V3: vector.load %arg1{{.*}} vector<8xf32>
// V3: vector.store {{.*}}, %arg2[[[TO]]]
// V3: scf.for {{.*}} = %c8{{.*}} to %c12
func.func @typical(%c: tensor<1x2x16x4xf32>, %r: tensor<1x2x3x4xf32>) -> tensor<1x2x16x4xf32> {
  %0 = "onnx.Append"(%c, %r) <{axis = 2 : i64, sizes = #onnx.sizes<5>}> : (tensor<1x2x16x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x16x4xf32>
  return %0 : tensor<1x2x16x4xf32>
}

// -----

// All sizes open: where the rows begin is computed by the run, which is checked for there being room.
// CHECK-LABEL: func.func @awkward
// CHECK-SAME: onnx.checks = {{\[\[}}#onnx.sizes<"-n-past+room">, ""]]
// CHECK: items = #onnx.size<"b">{{.*}}symbols = #onnx.sizes<"b", "n", "past", "room">
// CHECK-LABEL: func.func private @append_(
// CHECK: scf.for [[I:%.*]] = %arg7 to %arg8
// CHECK: scf.if
// CHECK: [[TO:%.*]] = arith.addi
// CHECK: scf.for
// CHECK: vector.load %arg1
// CHECK: vector.store {{.*}}, %arg2
// V3: scf.for
// V3: memref.store {{.*}}, %arg2
// V4: scf.if
// V4: vector.maskedstore %arg2
func.func @awkward(%c: tensor<?x?x4xf32, #onnx.sizes<"b", "room", 4>>, %r: tensor<?x?x4xf32, #onnx.sizes<"b", "n", 4>>) -> tensor<?x?x4xf32, #onnx.sizes<"b", "room", 4>> {
  %0 = "onnx.Append"(%c, %r) <{axis = 1 : i64, sizes = #onnx.sizes<"past">}> : (tensor<?x?x4xf32, #onnx.sizes<"b", "room", 4>>, tensor<?x?x4xf32, #onnx.sizes<"b", "n", 4>>) -> tensor<?x?x4xf32, #onnx.sizes<"b", "room", 4>>
  return %0 : tensor<?x?x4xf32, #onnx.sizes<"b", "room", 4>>
}
