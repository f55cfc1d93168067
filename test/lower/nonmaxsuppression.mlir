// NonMaxSuppression: for each class the boxes above the threshold are sorted by score, and each is compared with a vector of kept ones at a time, with a division only where it overlaps one nearly enough.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V3
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v4 --layout-assign=target=x86-64-v4 --lower-kernels=target=x86-64-v4 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V4

// CHECK-LABEL: func.func private @nonmaxsuppression_(
// CHECK: scf.for {{.*}} to %c2
// Scores, a vector at a time, and those of them that are high enough.
// V3: vector.load {{.*}} vector<8xf32>
// CHECK: arith.bitcast {{.*}} : f32 to i32
// CHECK: arith.cmpf olt
// Insertion sort of a few, radix sort of more, byte by byte.
// CHECK: scf.if
// CHECK: scf.while
// CHECK-COUNT-4: iter_args({{.*}} = %c0_i64
// Boxes, from the best on.
// CHECK: scf.while
// CHECK: scf.while
// CHECK-COUNT-5: vector.load
// CHECK: arith.cmpf {{.*}} : vector
// CHECK: vector.reduction <or>
// CHECK: scf.if
// CHECK: arith.divf {{.*}} : vector
// CHECK: vector.reduction <or>
// Four edges of a kept box and its area, then batch, class and box.
// CHECK-COUNT-5: memref.store {{.*}}xf32>
// CHECK: memref.store {{.*}}, %arg6
// CHECK-COUNT-3: memref.store {{.*}}, %arg5
func.func @typical(%b: tensor<1x10x4xf32>, %s: tensor<1x2x10xf32>) -> (tensor<?x3xi64, #onnx.sizes<"$0", 3>>, tensor<i64>) attributes {onnx.facts = #onnx.sizes<"8-$0">} {
  %m = onnx.Constant dense<4> : tensor<1xi64>
  %i = onnx.Constant dense<0.5> : tensor<1xf32>
  %t = onnx.Constant dense<0.1> : tensor<1xf32>
  %y, %n = "onnx.NonMaxSuppression"(%b, %s, %m, %i, %t) {onnx.data_dependent_size = #onnx.symbol<"$0">} : (tensor<1x10x4xf32>, tensor<1x2x10xf32>, tensor<1xi64>, tensor<1xf32>, tensor<1xf32>) -> (tensor<?x3xi64, #onnx.sizes<"$0", 3>>, tensor<i64>)
  return %y, %n : tensor<?x3xi64, #onnx.sizes<"$0", 3>>, tensor<i64>
}

// -----

// An open number of boxes as centre and size, no threshold (scores are read once), and only the number of kept ones is used.
// CHECK-LABEL: func.func private @nonmaxsuppression_(
// CHECK: scf.for {{.*}} to %c2
// CHECK: scf.for {{.*}} to %arg5
// CHECK: memref.load %arg1
// CHECK-NOT: memref.load %arg1
// CHECK: scf.while
// CHECK: [[HALF:%.*]] = arith.divf {{.*}} : f32
// CHECK: arith.subf {{.*}}, [[HALF]]
// CHECK: arith.addf {{.*}}, [[HALF]]
// CHECK: vector.reduction <or>
// CHECK: memref.store {{.*}}, %arg3
// CHECK-NOT: memref.store
func.func @awkward(%b: tensor<2x?x4xf32, #onnx.sizes<2, "n", 4>>, %s: tensor<2x1x?xf32, #onnx.sizes<2, 1, "n">>) -> tensor<i64> attributes {onnx.facts = #onnx.sizes<"6-$0">} {
  %m = onnx.Constant dense<3> : tensor<1xi64>
  %none = onnx.None : none
  %y, %n = "onnx.NonMaxSuppression"(%b, %s, %m, %none, %none) <{center_point_box = 1 : i64}> {onnx.data_dependent_size = #onnx.symbol<"$0">} : (tensor<2x?x4xf32, #onnx.sizes<2, "n", 4>>, tensor<2x1x?xf32, #onnx.sizes<2, 1, "n">>, tensor<1xi64>, none, none) -> (tensor<?x3xi64, #onnx.sizes<"$0", 3>>, tensor<i64>)
  return %n : tensor<i64>
}
