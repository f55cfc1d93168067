// Running sums: the sum so far goes from iteration to iteration in a register, forwards or backwards.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V3
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v4 --layout-assign=target=x86-64-v4 --lower-kernels=target=x86-64-v4 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V4

// CHECK-LABEL: func.func private @cumulative_
// CHECK: scf.for {{.*}} to %c4 step
// CHECK: scf.for {{.*}} to %c16 step {{.*}} iter_args([[SUM:%.*]] = %{{.*}}) -> (f32)
// CHECK: [[X:%.*]] = memref.load %arg0
// CHECK: [[NEXT:%.*]] = arith.addf [[SUM]], [[X]] : f32
// CHECK: memref.store [[NEXT]], %arg1
// CHECK: scf.yield [[NEXT]]
func.func @typical(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %a = onnx.Constant dense<1> : tensor<i64>
  %0 = "onnx.CumSum"(%x, %a) : (tensor<4x16xf32>, tensor<i64>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// -----

// Backwards along the first axis: turn i is at row 4 - i.
// CHECK-LABEL: func.func private @cumulative_
// CHECK: scf.for {{.*}} to %c5 step {{.*}} iter_args
// CHECK: arith.subi %c4, %{{.*}} : index
// CHECK: arith.addf
// CHECK: scf.yield
func.func @awkward(%x: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %a = onnx.Constant dense<0> : tensor<i64>
  %0 = "onnx.CumSum"(%x, %a) <{reverse = 1 : i64}> : (tensor<5x7xf32>, tensor<i64>) -> tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}

// -----

// Wide columns go row by row, each from the row of the result before it.
// CHECK-LABEL: func.func private @cumulative_
// CHECK: scf.for {{.*}} to %c256{{.*}} step
// CHECK: scf.for {{.*}} = %c1{{.*}} to %c20{{.*}} step
// CHECK: scf.for {{.*}} to %c256{{.*}} step
// CHECK: vector.load %arg1
// CHECK: vector.load %arg0
// CHECK: arith.addf
// CHECK: vector.store {{.*}}, %arg1
func.func @wide(%x: tensor<20x256xf32>) -> tensor<20x256xf32> {
  %a = onnx.Constant dense<0> : tensor<i64>
  %0 = "onnx.CumSum"(%x, %a) : (tensor<20x256xf32>, tensor<i64>) -> tensor<20x256xf32>
  return %0 : tensor<20x256xf32>
}
