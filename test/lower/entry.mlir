// The model's function becomes what a program calls: a status, inputs and outputs as they come, the workspace and the host's functions behind them. Launches
// become calls with addresses in the arena; a kernel that can find a bad value returns a status, which ends the run with the number of the node.
// RUN: %ingot-opt --partition-form-kernels=target=x86-64-v2 --layout-assign=target=x86-64-v2 --lower-kernels=target=x86-64-v2 --memory-plan --entry-build=arena=256 --split-input-file %s | FileCheck %s --check-prefixes=CHECK,%width

// The product in between lies at the beginning of the workspace; inputs and outputs are the caller's.
// CHECK-LABEL: func.func @chain_run(
// CHECK-SAME: %[[X:.*]]: memref<256xi8>, %[[W:.*]]: memref<256xi8>, %[[Y:.*]]: memref<256xi8>, %[[ARENA:.*]]: memref<320xi8>, %{{.*}}: !llvm.ptr) -> i32
// CHECK: %[[X1:.*]] = memref.view %[[X]][%{{.*}}][]
// CHECK: %[[W1:.*]] = memref.view %[[W]][%{{.*}}][]
// CHECK: %[[BETWEEN:.*]] = memref.view %[[ARENA]][%{{.*}}][]
// CHECK: call @matmul_(%[[X1]], %[[W1]], %[[BETWEEN]],
// CHECK: %[[AGAIN:.*]] = memref.view %[[ARENA]][%{{.*}}][]
// CHECK: %[[Y1:.*]] = memref.view %[[Y]][%{{.*}}][]
// CHECK: call @matmul_(%[[AGAIN]], %{{.*}}, %[[Y1]],
// CHECK: return %{{.*}} : i32
// CHECK: func.func private @matmul_
// CHECK-NOT: func.func private @matmul_
func.func @chain(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = onnx.MatMul %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = onnx.MatMul %0, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// -----

// An index may be bad: status 5, and with the node's number 256 more.
// CHECK-LABEL: func.func @look_run(
// CHECK: %[[STATUS:.*]] = call @gather_(
// CHECK: %[[BAD:.*]] = arith.cmpi ne, %[[STATUS]], %{{.*}} : i32
// CHECK: cf.cond_br %[[BAD]],
// CHECK: arith.constant 261 : i32
// CHECK: return %{{.*}} : i32
func.func @look(%x: tensor<8x8xf32>, %i: tensor<2xi64>) -> tensor<2x8xf32> {
  %0 = onnx.Gather %x, %i : (tensor<8x8xf32>, tensor<2xi64>) -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// -----

// Sizes so small that nothing overflows need few checks: bounds of the symbols, and that sizes are equal which must be.
// Other runs ask for all.
// CHECK-LABEL: func.func private @add_admits(
// CHECK: arith.mulsi_extended
// CHECK-LABEL: func.func @add_run(
// W64-SAME: %[[N:[a-z0-9]+]]: index, %[[M:[a-z0-9]+]]: index, %[[ARENA:[a-z0-9]+]]: memref
// W64-NOT: arith.mulsi_extended
// W64: arith.cmpi ule
// W64: arith.cmpi ule
// W64: arith.cmpi eq
// W64: cf.cond_br %{{.*}}, ^[[GO:bb[0-9]+]], ^[[ASK:bb[0-9]+]]
// W64: ^[[ASK]]:
// W64: call @add_admits(%[[N]], %[[M]])
//
// Where an index has 32 bits, C gives sizes of 64, and all checks are made.
// W32-SAME: %[[N:[a-z0-9]+]]: i64, %[[M:[a-z0-9]+]]: i64, %[[ARENA:[a-z0-9]+]]: memref
// W32: %[[MOST:.*]] = arith.constant 2147483647 : i64
// W32: %[[LESS:.*]] = arith.minsi %[[N]], %[[MOST]]
// W32: %[[WITHIN:.*]] = arith.maxsi %[[LESS]]
// W32: %[[INDEX:.*]] = arith.index_cast %[[WITHIN]] : i64 to index
// W32: call @add_admits(%[[INDEX]],
func.func @add(%x: tensor<?x8xf32, #onnx.sizes<"n", 8>>, %y: tensor<?x8xf32, #onnx.sizes<"m", 8>>) -> tensor<?x8xf32, #onnx.sizes<"n", 8>> attributes {onnx.checks = [[#onnx.sizes<"m", "n">, "add"]]} {
  %0 = onnx.Add %x, %y : (tensor<?x8xf32, #onnx.sizes<"n", 8>>, tensor<?x8xf32, #onnx.sizes<"m", 8>>) -> tensor<?x8xf32, #onnx.sizes<"n", 8>>
  return %0 : tensor<?x8xf32, #onnx.sizes<"n", 8>>
}
