// ReplaceRows: rows at a place that data tells, or without them; each work item copies its part of the three blocks.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func @typical
// CHECK: plan.launch @replacerows_(%arg0, %arg1, %arg2)
// CHECK-LABEL: func.func private @replacerows_(
// CHECK: [[PLACE:%.*]] = memref.load %arg2
// The place is within what is there.
// CHECK: arith.minsi
// CHECK: arith.maxsi
// CHECK: vector.load %arg0{{.*}} vector<8xf32>
// CHECK: vector.store {{.*}}, %arg3
// CHECK: vector.load %arg1{{.*}} vector<8xf32>
// CHECK: vector.store {{.*}}, %arg3
// CHECK: vector.load %arg0{{.*}} vector<8xf32>
// CHECK: vector.store {{.*}}, %arg3
func.func @typical(%x: tensor<100x4xf32>, %rows: tensor<7x4xf32>, %begin: tensor<i64>) -> tensor<107x4xf32> {
  %none = onnx.Constant dense<0> : tensor<i64>
  %0 = onnx.ReplaceRows %x, %rows, %begin, %none : (tensor<100x4xf32>, tensor<7x4xf32>, tensor<i64>, tensor<i64>) -> tensor<107x4xf32>
  return %0 : tensor<107x4xf32>
}

// -----

// How many rows are taken out is read from data; there are no new ones.
// CHECK-LABEL: func.func @awkward
// CHECK: plan.launch @readsize_
// CHECK: plan.launch @replacerows_(%arg0, %arg1){{.*}}symbols = #onnx.sizes<"$0", "n">
// CHECK-LABEL: func.func private @replacerows_(
// CHECK-NOT: memref.load %arg{{.*}}f64
// CHECK: vector.load %arg0{{.*}} vector<8xf64>
// CHECK: vector.store {{.*}}, %arg2
// CHECK: memref.load %arg0
// CHECK: vector.load %arg0
// CHECK: return
func.func @awkward(%x: tensor<?xf64, #onnx.sizes<"n">>, %begin: tensor<i64>, %removed: tensor<i64>) -> tensor<?xf64> attributes {onnx.reads_sizes = false} {
  %none = onnx.None : none
  %0 = onnx.ReplaceRows %x, %none, %begin, %removed : (tensor<?xf64, #onnx.sizes<"n">>, none, tensor<i64>, tensor<i64>) -> tensor<?xf64>
  return %0 : tensor<?xf64>
}
