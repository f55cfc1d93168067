// Ensembles of trees: eight rows walk a tree at once, each step without a branch, and leaves are added up in the order of the trees.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s

// Tiles of 32 rows, whose results begin at zero; all trees for a tile before the next one.
// CHECK-LABEL: func.func private @trees_(
// CHECK: scf.for [[TILE:%.*]] = %c0 to %c64 step %c32
// CHECK: scf.for [[ROW:%.*]] = [[TILE]]
// CHECK: memref.store %cst, %arg6{{\[}}[[ROW]]]
// CHECK: scf.for [[TREE:%.*]] =
// CHECK: [[ROOT:%.*]] = memref.load %arg4{{\[}}[[TREE]]]
// CHECK: [[DEPTH:%.*]] = memref.load %arg5{{\[}}[[TREE]]]
// CHECK: scf.for {{.*}} step %c8
// The tree is shallow: as many steps as its deepest leaf needs, and nobody asks whether a row has arrived.
// CHECK: scf.for {{.*}} iter_args({{.*}} = [[ROOT]], {{.*}}) -> (i64, i64, i64, i64, i64, i64, i64, i64)
// CHECK-NOT: scf.if
// CHECK-COUNT-8: arith.cmpf ugt
// CHECK-NOT: scf.while
// CHECK: scf.yield
// CHECK-COUNT-8: arith.addf
func.func @shallow(%x: tensor<64x4xf32>) -> tensor<64x1xf32> {
  %splits = onnx.Constant dense<[0.5, 0x7FC00000, 0x7FC00000, 1.5, 0x7FC00000, 0x7FC00000]> : tensor<6xf32>
  %links = onnx.Constant dense<[4294967296, 4294967296, 8589934592, 17179869185, 17179869184, 21474836480]> : tensor<6xi64>
  %weights = onnx.Constant dense<[[0.0], [1.0], [2.0], [0.0], [3.0], [4.0]]> : tensor<6x1xf32>
  %roots = onnx.Constant dense<[0, 3]> : tensor<2xi64>
  %depths = onnx.Constant dense<[1, 1]> : tensor<2xi64>
  %n = onnx.None : none
  %0 = "onnx.Trees"(%x, %splits, %links, %weights, %roots, %depths, %n) <{features = 4 : i64, count = 1 : i64, missing = "never", combine = "sum"}> : (tensor<64x4xf32>, tensor<6xf32>, tensor<6xi64>, tensor<6x1xf32>, tensor<2xi64>, tensor<2xi64>, none) -> tensor<64x1xf32>
  return %0 : tensor<64x1xf32>
}

// -----

// The largest of all leaves. Three rows are fewer than a tile: one row goes through several trees at once, here two.
// CHECK-LABEL: func.func private @trees_(
// CHECK-NOT: step %c32
// CHECK: arith.cmpf ugt
// CHECK: {{arith.maximumf|arith.cmpf ogt|arith.select}}
func.func @largest(%x: tensor<3x4xf32>) -> tensor<3x1xf32> {
  %splits = onnx.Constant dense<[0.5, 0x7FC00000, 0x7FC00000, 1.5, 0x7FC00000, 0x7FC00000]> : tensor<6xf32>
  %links = onnx.Constant dense<[4294967296, 4294967296, 8589934592, 17179869185, 17179869184, 21474836480]> : tensor<6xi64>
  %weights = onnx.Constant dense<[[0.0], [1.0], [2.0], [0.0], [3.0], [4.0]]> : tensor<6x1xf32>
  %roots = onnx.Constant dense<[0, 3]> : tensor<2xi64>
  %depths = onnx.Constant dense<[1, 1]> : tensor<2xi64>
  %n = onnx.None : none
  %0 = "onnx.Trees"(%x, %splits, %links, %weights, %roots, %depths, %n) <{features = 4 : i64, count = 1 : i64, missing = "never", combine = "max"}> : (tensor<3x4xf32>, tensor<6xf32>, tensor<6xi64>, tensor<6x1xf32>, tensor<2xi64>, tensor<2xi64>, none) -> tensor<3x1xf32>
  return %0 : tensor<3x1xf32>
}
