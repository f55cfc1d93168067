// Attention: a block of rows goes over blocks of keys: scores, their largest, exponentials and sums in scratch, then the rows of V weighed by them.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V3
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v4 --layout-assign=target=x86-64-v4 --lower-kernels=target=x86-64-v4 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V4

// 64 rows of each of two heads: four work items of 32. Two vectors of rows by so many keys as fit into registers; the score is scaled before it is stored.
// CHECK-LABEL: func.func @typical
// CHECK: plan.launch @attention_({{.*}}) {items = #onnx.size<4>
// CHECK-LABEL: func.func private @attention_(
// CHECK: scf.for %{{.*}} = %arg5 to %arg6
// V3: scf.for %{{.*}} to %c64{{.*}} step %c6
// V3: %{{[0-9]+}}:12 = scf.for %{{.*}} to %c8
// V4: scf.for %{{.*}} to %c64{{.*}} step %c8
// V4: %{{[0-9]+}}:16 = scf.for %{{.*}} to %c8
// CHECK: vector.fma
// CHECK: [[SCORE:%.*]] = arith.mulf
// CHECK: vector.store [[SCORE]]
// What was summed before counts less by the exponential of what the largest has grown.
// CHECK: math.exp
// CHECK: scf.for %{{.*}} to %c64
// CHECK: math.exp
// CHECK: vector.store
// Sums of eight rows by a vector of columns where there are registers for more, else of six.
// V3: %{{[0-9]+}}:6 = scf.for
// V4: %{{[0-9]+}}:8 = scf.for
// CHECK: vector.fma
// CHECK: arith.divf
// CHECK: vector.store %{{.*}}, %arg3
func.func @typical(%q: tensor<1x2x64x8xf32>, %k: tensor<1x2x64x8xf32>, %v: tensor<1x2x64x8xf32>) -> tensor<1x2x64x8xf32> {
  %0 = onnx.Attend %q, %k, %v {perm = array<i64: 0, 1, 2, 3>, valueWidth = 8 : i64, walkK = #onnx.strided<<0>, <1024, 512, 8, 1>>, walkQ = #onnx.strided<<0>, <1024, 512, 8, 1>>, walkV = #onnx.strided<<0>, <1024, 512, 8, 1>>, width = 8 : i64} : (tensor<1x2x64x8xf32>, tensor<1x2x64x8xf32>, tensor<1x2x64x8xf32>) -> tensor<1x2x64x8xf32> {
  ^bb0(%a: tensor<1x2x64x64xf32>):
    %half = onnx.Constant dense<0.5> : tensor<f32>
    %s = onnx.Mul %a, %half : (tensor<1x2x64x64xf32>, tensor<f32>) -> tensor<1x2x64x64xf32>
    onnx.Score %s : tensor<1x2x64x64xf32>
  }
  return %0 : tensor<1x2x64x8xf32>
}

// -----

// Decoding: one query, whose scores are dot products along a width of 4; keys are open, so a block of them may end early and is filled up with minus
// infinity. Heads lie side by side: a key is 24 elements behind the one before.
// CHECK-LABEL: func.func @awkward
// CHECK: items = #onnx.size<"max(1,min(16,2*b))">{{.*}}symbols = #onnx.sizes<"b", "keys">
// CHECK-LABEL: func.func private @attention_(
// CHECK: scf.for [[BLOCK:%.*]] = %{{.*}} to %arg6
// CHECK: scf.for
// CHECK: arith.muli {{.*}}, %c24
// CHECK: vector.load %arg1{{.*}} vector<4xf32>
// The mask is added to a vector of scores.
// CHECK: vector.load %arg2
// CHECK: arith.addf
// CHECK: 0xFF800000
// CHECK: math.exp
// CHECK: vector.fma {{.*}} : vector<4xf32>
// CHECK: arith.divf
// CHECK: store {{.*}}%arg3
func.func @awkward(%x: tensor<?x1x24xf32, #onnx.sizes<"b", 1, 24>>, %past: tensor<?x?x24xf32, #onnx.sizes<"b", "keys", 24>>, %mask: tensor<?x1x1x?xf32, #onnx.sizes<"b", 1, 1, "keys">>) -> tensor<?x1x2x4xf32, #onnx.sizes<"b", 1, 2, 4>> {
  %0 = onnx.Attend %x, %past, %past, %mask {empty = "zero", perm = array<i64: 0, 2, 1, 3>, valueWidth = 4 : i64, walkK = #onnx.strided<<8>, <"24*keys", 4, 24, 1>>, walkQ = #onnx.strided<<0>, <24, 4, 24, 1>>, walkV = #onnx.strided<<16>, <"24*keys", 4, 24, 1>>, width = 4 : i64} : (tensor<?x1x24xf32, #onnx.sizes<"b", 1, 24>>, tensor<?x?x24xf32, #onnx.sizes<"b", "keys", 24>>, tensor<?x?x24xf32, #onnx.sizes<"b", "keys", 24>>, tensor<?x1x1x?xf32, #onnx.sizes<"b", 1, 1, "keys">>) -> tensor<?x1x2x4xf32, #onnx.sizes<"b", 1, 2, 4>> {
  ^bb0(%a: tensor<?x2x1x?xf32, #onnx.sizes<"b", 2, 1, "keys">>, %m: tensor<?x1x1x?xf32, #onnx.sizes<"b", 1, 1, "keys">>):
    %s = onnx.Add %a, %m : (tensor<?x2x1x?xf32, #onnx.sizes<"b", 2, 1, "keys">>, tensor<?x1x1x?xf32, #onnx.sizes<"b", 1, 1, "keys">>) -> tensor<?x2x1x?xf32, #onnx.sizes<"b", 2, 1, "keys">>
    onnx.Score %s : tensor<?x2x1x?xf32, #onnx.sizes<"b", 2, 1, "keys">>
  }
  return %0 : tensor<?x1x2x4xf32, #onnx.sizes<"b", 1, 2, 4>>
}

// -----

// 200 rows are 25 vectors of 8 in seven blocks. They are cut where pairs of vectors end, of which there are thirteen, so that only the last block has a single one.
// CHECK-LABEL: func.func @uneven
// CHECK-LABEL: func.func private @attention_(
// V3: arith.muli %{{.*}}, %c13
// V3: arith.divui %{{.*}}, %c7
// V3: arith.muli %{{.*}}, %c2
// V3: arith.minsi %{{.*}}, %c25
func.func @uneven(%q: tensor<1x1x200x64xf32>, %k: tensor<1x1x64x64xf32>, %v: tensor<1x1x64x64xf32>) -> tensor<1x1x200x64xf32> {
  %0 = onnx.Attend %q, %k, %v {perm = array<i64: 0, 1, 2, 3>, valueWidth = 64 : i64, walkK = #onnx.strided<<0>, <4096, 4096, 64, 1>>, walkQ = #onnx.strided<<0>, <12800, 12800, 64, 1>>, walkV = #onnx.strided<<0>, <4096, 4096, 64, 1>>, width = 64 : i64} : (tensor<1x1x200x64xf32>, tensor<1x1x64x64xf32>, tensor<1x1x64x64xf32>) -> tensor<1x1x200x64xf32> {
  ^bb0(%a: tensor<1x1x200x64xf32>):
    onnx.Score %a : tensor<1x1x200x64xf32>
  }
  return %0 : tensor<1x1x200x64xf32>
}

// -----

// Twelve heads take two blocks each of 160 rows, so that there are tasks for several threads. A block has whole tiles of two vectors of rows.
// CHECK-LABEL: func.func @wholeTiles
// CHECK: plan.launch @attention_({{.*}} plan.choice = "vectors keys={{[0-9]+}} rows=96;
func.func @wholeTiles(%q: tensor<1x12x160x64xf32>, %k: tensor<1x12x64x64xf32>, %v: tensor<1x12x64x64xf32>) -> tensor<1x12x160x64xf32> {
  %0 = onnx.Attend %q, %k, %v {perm = array<i64: 0, 1, 2, 3>, valueWidth = 64 : i64, walkK = #onnx.strided<<0>, <49152, 4096, 64, 1>>, walkQ = #onnx.strided<<0>, <122880, 10240, 64, 1>>, walkV = #onnx.strided<<0>, <49152, 4096, 64, 1>>, width = 64 : i64} : (tensor<1x12x160x64xf32>, tensor<1x12x64x64xf32>, tensor<1x12x64x64xf32>) -> tensor<1x12x160x64xf32> {
  ^bb0(%a: tensor<1x12x160x64xf32>):
    onnx.Score %a : tensor<1x12x160x64xf32>
  }
  return %0 : tensor<1x12x160x64xf32>
}

// -----

// The last key of a query is read from %arg3, and no block behind it is computed. What is below the first key, or above the last one that there is, is cut off.
// CHECK-LABEL: func.func private @attention_(
// CHECK: [[GIVEN:%.*]] = memref.load %arg3
// CHECK: [[SOME:%.*]] = arith.maxsi [[GIVEN]], %c-1
// CHECK: arith.minsi [[SOME]]
// CHECK: llvm.intr.expect
// CHECK: [[END:%.*]] = arith.index_cast %{{.*}} : i64 to index
// CHECK: scf.for %{{.*}} = %c0{{.*}} to [[END]] step
// CHECK: vector.fma
func.func @untilTheLast(%q: tensor<2x3x1x16xf32>, %k: tensor<2x3x300x16xf32>, %v: tensor<2x3x300x16xf32>, %place: tensor<2x1x1x1xi64>) -> tensor<2x3x1x16xf32> {
  %0 = onnx.Attend %q, %k, %v, %place {perm = array<i64: 0, 1, 2, 3>, valueWidth = 16 : i64, walkK = #onnx.strided<<0>, <14400, 4800, 16, 1>>, walkQ = #onnx.strided<<0>, <48, 16, 16, 1>>, walkV = #onnx.strided<<0>, <14400, 4800, 16, 1>>, width = 16 : i64} : (tensor<2x3x1x16xf32>, tensor<2x3x300x16xf32>, tensor<2x3x300x16xf32>, tensor<2x1x1x1xi64>) -> tensor<2x3x1x16xf32> {
  ^bb0(%a: tensor<2x3x1x300xf32>, %last: tensor<2x1x1x1xi64>):
    onnx.Score %a to %last : tensor<2x1x1x1xi64> : tensor<2x3x1x300xf32>
  }
  return %0 : tensor<2x3x1x16xf32>
}
