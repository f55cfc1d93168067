// A piece is a call of the function that its target brought: addresses in two arrays, scratch memory, values of open sizes. A status ends the run.
// RUN: %ingot-opt --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 %s | FileCheck %s
// RUN: sed 's/func.func private @brought/func.func private @other/' %s > %t.mlir
// RUN: not %ingot-opt --lower-kernels=target=x86-64-v3 %t.mlir 2>&1 | FileCheck %s --check-prefix=MISSING

// MISSING: error: the function of a piece is not declared: @brought

// CHECK-LABEL: func.func @model
// CHECK: plan.launch @npu_(%arg0) {checked, items = #onnx.size<1>, plan.error = 18 : i64, scratchBytes = #onnx.size<"64*n">, symbols = #onnx.sizes<"n">}

// CHECK: func.func private @brought(memref<1xindex>, memref<2xindex>, memref<1xi8>, memref<1xi64>) -> i32 attributes {plan.object = dense<[1, 2]> : tensor<2xi8>}

// CHECK-LABEL: func.func private @npu_
// CHECK-SAME: (%[[X:.*]]: memref<{{[0-9]+}}xf32> {llvm.noalias}, %[[Y:.*]]: memref<{{[0-9]+}}xf32> {llvm.noalias}, %[[Z:.*]]: memref<{{[0-9]+}}xf32> {llvm.noalias}, %[[SCRATCH:.*]]: memref<{{[0-9]+}}xi8> {llvm.noalias}, %[[N:.*]]: index, %{{.*}}: index, %{{.*}}: index) -> i32
// CHECK-DAG: %[[PX:.*]] = memref.extract_aligned_pointer_as_index %[[X]]
// CHECK-DAG: %[[PY:.*]] = memref.extract_aligned_pointer_as_index %[[Y]]
// CHECK-DAG: %[[PZ:.*]] = memref.extract_aligned_pointer_as_index %[[Z]]
// CHECK-DAG: %[[SIZE:.*]] = arith.index_cast %[[N]]
// CHECK-DAG: memref.store %[[PX]], %[[INS:.*]][
// CHECK-DAG: memref.store %[[PY]], %[[OUTS:.*]][
// CHECK-DAG: memref.store %[[PZ]], %[[OUTS]][
// CHECK-DAG: memref.store %[[SIZE]], %[[SIZES:.*]][
// CHECK: %[[STATUS:.*]] = call @brought(%[[INS]], %[[OUTS]], %{{.*}}, %[[SIZES]])
// CHECK: arith.cmpi ne, %[[STATUS]]
// CHECK: scf.if
func.func @model(%x: tensor<?x4xf32, #onnx.sizes<"n", 4>>) -> (tensor<?x4xf32, #onnx.sizes<"n", 4>>, tensor<?x4xf32, #onnx.sizes<"n", 4>>) {
  %0:2 = "plan.kernel"(%x) <{piece = #plan.piece<@brought, scratch <"64*n">, sizes <"n">>, target = "npu:fast"}> ({
  ^bb0(%a: tensor<?x4xf32, #onnx.sizes<"n", 4>>):
    %1 = onnx.Relu %a : (tensor<?x4xf32, #onnx.sizes<"n", 4>>) -> tensor<?x4xf32, #onnx.sizes<"n", 4>>
    %2 = onnx.Softmax %1 {axis = 1 : i64} : (tensor<?x4xf32, #onnx.sizes<"n", 4>>) -> tensor<?x4xf32, #onnx.sizes<"n", 4>>
    plan.yield %1, %2 : tensor<?x4xf32, #onnx.sizes<"n", 4>>, tensor<?x4xf32, #onnx.sizes<"n", 4>>
  }) : (tensor<?x4xf32, #onnx.sizes<"n", 4>>) -> (tensor<?x4xf32, #onnx.sizes<"n", 4>>, tensor<?x4xf32, #onnx.sizes<"n", 4>>)
  return %0#0, %0#1 : tensor<?x4xf32, #onnx.sizes<"n", 4>>, tensor<?x4xf32, #onnx.sizes<"n", 4>>
}
func.func private @brought(memref<1xindex>, memref<2xindex>, memref<1xi8>, memref<1xi64>) -> i32 attributes {plan.object = dense<[1, 2]> : tensor<2xi8>}
