// Calls with work items go through ingot_parallel_for; the host decides about the threads. Without
// a host (exec is NULL) they are calls.
// RUN: %ingot-opt %s --emit-lower-to-llvm=target=x86-64-v2 | FileCheck %s
// RUN: emit-model %s %t x86-64-v2 lib
// RUN: clang-22 -std=c99 -I%t -I%source/runtime_support/include %S/Inputs/threads.c %t/split.a %build/lib/libingot_rt.a -o %t/run && %t/run
// RUN: emit-model %s %t/s portable cpp && g++ -std=c++17 -Wall -Wextra -Werror -O1 -I%t/s -I%source/runtime_support/include -c %t/s/split.cpp -o %t/s/split.o
// RUN: clang-22 -std=c11 -I%t/s -I%source/runtime_support/include %S/Inputs/threads.c %t/s/split.o %build/lib/libingot_rt.a -lm -o %t/source && %t/source
// CHECK-LABEL: llvm.func @ingot_parallel_for(!llvm.ptr, !llvm.ptr, !llvm.ptr, i64) -> i32
// CHECK: llvm.func internal @add_one_range(%{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64) -> i32
// CHECK: llvm.call @add_one(
// CHECK: llvm.func internal @checked_range
// CHECK: llvm.func @split_run
// CHECK: llvm.icmp "eq" %{{.*}} : !llvm.ptr
// CHECK: llvm.cond_br
// CHECK: llvm.call @add_one(
// CHECK: llvm.call @ingot_parallel_for
// CHECK: llvm.cond_br
// CHECK: llvm.call @checked(
// CHECK: llvm.call @ingot_parallel_for
// CHECK: %[[FEW:.*]] = llvm.icmp "eq" %{{.*}}, %{{.*}} : i1
// CHECK: llvm.or %{{.*}}, %[[FEW]]
// CHECK: llvm.cond_br
// CHECK: llvm.call @checked(
// CHECK: llvm.call @ingot_parallel_for
// CHECK-NOT: run.over_items
module attributes {ingot.model = {
    name = "split", inputs = [["x", 1, [64]]], outputs = [["y", 1, [64]]], nodes = [], workspace = 256, weights = 0}} {
  func.func private @add_one(%x: memref<64xf32>, %y: memref<64xf32>, %begin: index, %end: index) {
    %c1 = arith.constant 1 : index
    %one = arith.constant 1.0 : f32
    scf.for %i = %begin to %end step %c1 {
      %v = memref.load %x[%i] : memref<64xf32>
      %w = arith.addf %v, %one : f32
      memref.store %w, %y[%i] : memref<64xf32>
    }
    return
  }
  // Copies; a negative number is an error.
  func.func private @checked(%x: memref<64xf32>, %y: memref<64xf32>, %begin: index, %end: index) -> i32 {
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %ok = arith.constant 0 : i32
    %bad = arith.constant 261 : i32
    %status = scf.for %i = %begin to %end step %c1 iter_args(%s = %ok) -> (i32) {
      %v = memref.load %x[%i] : memref<64xf32>
      memref.store %v, %y[%i] : memref<64xf32>
      %negative = arith.cmpf olt, %v, %zero : f32
      %next = arith.select %negative, %bad, %s : i32
      scf.yield %next : i32
    }
    return %status : i32
  }
  func.func @split_run(%x: memref<64xf32>, %y: memref<64xf32>, %work: memref<256xi8>, %exec: !llvm.ptr) -> i32 {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %t = memref.view %work[%c0][] : memref<256xi8> to memref<64xf32>
    %yes = arith.constant true
    %ok = arith.constant 0 : i32
    %first = run.over_items @add_one(%x, %t) over %c64 by %exec if %yes
        : (memref<64xf32>, memref<64xf32>) -> i32, index, !llvm.ptr
    %ends = arith.cmpi ne, %first, %ok : i32
    cf.cond_br %ends, ^end, ^next
  ^end:
    return %first : i32
  ^next:
    %s = run.over_items @checked(%t, %y) over %c64 by %exec if %yes
        : (memref<64xf32>, memref<64xf32>) -> i32, index, !llvm.ptr
    // The run tells whether others help.
    %worth = arith.cmpi ugt, %s, %ok : i32
    %again = run.over_items @checked(%t, %y) over %c64 by %exec if %worth
        : (memref<64xf32>, memref<64xf32>) -> i32, index, !llvm.ptr
    return %again : i32
  }
}
