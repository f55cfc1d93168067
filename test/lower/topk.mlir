// TopK: a list of the best so far, with whose last one a vector of elements is compared; what beats it is inserted in vectors, NaN first. Where k is large the line is sorted by radix.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V3
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v4 --layout-assign=target=x86-64-v4 --lower-kernels=target=x86-64-v4 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V4

// The list is one vector: k is less than that. It moves by a shuffle.
// CHECK-LABEL: func.func private @topk_(
// V3: vector.store {{.*}} vector<8xf32>
// V4: vector.store {{.*}} vector<16xf32>
// CHECK: scf.for {{.*}} to %c4
// CHECK: scf.for {{.*}} to %c3
// CHECK: vector.shuffle
// CHECK: arith.cmpi sge
// V3: scf.for {{.*}} to %c59{{.*}} step %c8
// V4: scf.for {{.*}} to %c51{{.*}} step %c16
// CHECK: arith.cmpf ugt, {{.*}} : vector
// CHECK: vector.reduction <or>
// CHECK: scf.if
// CHECK: [[X:%.*]] = memref.load %arg0
// CHECK: arith.cmpf ugt, [[X]]
// CHECK: scf.if
// CHECK-NOT: scf.while
// CHECK-COUNT-2: vector.shuffle
// CHECK-NOT: arith.cmpi sge
// CHECK: memref.store {{.*}}, %arg1
// CHECK: memref.store {{.*}}, %arg2
func.func @typical(%x: tensor<4x64xf32>) -> (tensor<4x3xf32>, tensor<4x3xi64>) {
  %k = onnx.Constant dense<3> : tensor<1xi64>
  %0, %i = "onnx.TopK"(%x, %k) <{axis = 1 : i64}> : (tensor<4x64xf32>, tensor<1xi64>) -> (tensor<4x3xf32>, tensor<4x3xi64>)
  return %0, %i : tensor<4x3xf32>, tensor<4x3xi64>
}

// -----

// Across lines, the smallest, of which nobody asks where they are: a list for each lane, longer than a vector.
// CHECK-LABEL: func.func private @topk_(
// CHECK: scf.for {{.*}} to %c2
// V3: scf.for {{.*}} to %c9{{.*}} step %c8
// V4: arith.constant 9 : index
// CHECK: scf.for {{.*}} to %c30
// CHECK: scf.while
// CHECK: arith.cmpf ult, {{.*}} : vector
// CHECK: vector.reduction <or>
// CHECK: scf.while
// CHECK: memref.store {{.*}}, %arg1
// CHECK-NOT: memref.store {{.*}}, %arg2
func.func @awkward(%x: tensor<2x500x9xf32>) -> tensor<2x30x9xf32> {
  %k = onnx.Constant dense<30> : tensor<1xi64>
  %0, %i = "onnx.TopK"(%x, %k) <{axis = 1 : i64, largest = 0 : i64}> : (tensor<2x500x9xf32>, tensor<1xi64>) -> (tensor<2x30x9xf32>, tensor<2x30x9xi64>)
  return %0 : tensor<2x30x9xf32>
}

// -----

// All elements: the bits of each are the key, its index below them.
// CHECK-LABEL: func.func private @topk_(
// CHECK-NOT: vector.reduction
// CHECK: arith.bitcast {{.*}} : f32 to i32
// CHECK: arith.shli
// CHECK-COUNT-4: iter_args
// CHECK: memref.store {{.*}}, %arg1
func.func @all(%x: tensor<500xf32>) -> (tensor<500xf32>, tensor<500xi64>) {
  %k = onnx.Constant dense<500> : tensor<1xi64>
  %0, %i = "onnx.TopK"(%x, %k) : (tensor<500xf32>, tensor<1xi64>) -> (tensor<500xf32>, tensor<500xi64>)
  return %0, %i : tensor<500xf32>, tensor<500xi64>
}

// -----

// Where only the run knows how long lines are it decides; integers of 64 bits are sorted by comparing.
// CHECK-LABEL: func.func private @topk_(
// CHECK: arith.cmpi sgt
// CHECK: scf.if
// CHECK: vector.reduction <or>
func.func @open(%x: tensor<?xi64, #onnx.sizes<"n">>) -> (tensor<20xi64>, tensor<20xi64>) {
  %k = onnx.Constant dense<20> : tensor<1xi64>
  %0, %i = "onnx.TopK"(%x, %k) : (tensor<?xi64, #onnx.sizes<"n">>, tensor<1xi64>) -> (tensor<20xi64>, tensor<20xi64>)
  return %0, %i : tensor<20xi64>, tensor<20xi64>
}

// -----

// The best one takes no list: vectors are compared, the last of which begins where it is whole, and then their lanes.
// CHECK-LABEL: func.func private @topk_(
// CHECK: scf.for {{.*}} to %c4
// V3: scf.for {{.*}} to %c56{{.*}} step %c8
// V4: scf.for {{.*}} to %c48{{.*}} step %c16
// CHECK: arith.cmpf ugt, {{.*}} : vector
// V3: vector.load %arg0
// V4: vector.load %arg0
// CHECK: vector.shuffle
// CHECK-NOT: scf.while
// CHECK: memref.store {{.*}}, %arg1
// CHECK: memref.store {{.*}}, %arg2
func.func @one(%x: tensor<4x61xf32>) -> (tensor<4x1xf32>, tensor<4x1xi64>) {
  %k = onnx.Constant dense<1> : tensor<1xi64>
  %0, %i = "onnx.TopK"(%x, %k) <{axis = 1 : i64}> : (tensor<4x61xf32>, tensor<1xi64>) -> (tensor<4x1xf32>, tensor<4x1xi64>)
  return %0, %i : tensor<4x1xf32>, tensor<4x1xi64>
}
