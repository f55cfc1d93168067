// Bare pointers, local symbols, attributes of the machine, no library, products and sums fused where the machine can, stack
// arrays in the entry block.
// RUN: %ingot-opt %s --emit-lower-to-llvm=target=x86-64-v2 | FileCheck %s --check-prefixes=CHECK,APART
// RUN: %ingot-opt %s --emit-lower-to-llvm=target=x86-64-v3 | FileCheck %s --check-prefixes=CHECK,FUSED

// CHECK: llvm.mlir.global external @m_weights
memref.global "private" @m_weights : memref<64xi8>

// CHECK-LABEL: llvm.func internal @kernel(%{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: !llvm.ptr)
// CHECK-SAME: "target-cpu", "x86-64-v{{2|3}}"
// CHECK-SAME: "no-builtins"
// CHECK: llvm.alloca
// CHECK-NOT: llvm.alloca
// CHECK: llvm.cond_br
// APART: llvm.fmul
// APART-NEXT: llvm.fadd
// FUSED: llvm.intr.fmuladd
// CHECK-NOT: llvm.intr.fma(
func.func private @kernel(%x: memref<8xf32>, %y: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %a = memref.alloca() : memref<4xf32>
    %v = memref.load %x[%i] : memref<8xf32>
    %w = math.fma %v, %v, %v : f32
    memref.store %w, %a[%c0] : memref<4xf32>
    %u = memref.load %a[%c0] : memref<4xf32>
    memref.store %u, %y[%i] : memref<8xf32>
  }
  return
}

// CHECK-LABEL: llvm.func internal @small
// CHECK-SAME: "target-cpu", "haswell"
// CHECK-SAME: "target-features", "+fast-dpwssd"
func.func private @small() attributes {ingot.machine = "haswell"} {
  return
}

// One instruction rounds to an integer on the one machine, and not on the other.
// CHECK-LABEL: llvm.func internal @rounds
// CHECK: llvm.intr.lrint
// CHECK-LABEL: llvm.func internal @rounds_elsewhere
// CHECK: llvm.intr.roundeven
// CHECK: llvm.fptosi
func.func private @rounds(%x: f32) -> i32 {
  %r = math.roundeven %x : f32
  %i = arith.fptosi %r : f32 to i32
  return %i : i32
}
func.func private @rounds_elsewhere(%x: f32) -> i32 attributes {ingot.machine = "cortex-a76"} {
  %r = math.roundeven %x : f32
  %i = arith.fptosi %r : f32 to i32
  return %i : i32
}

// The fields of an ingot_exec are pointers, one behind the other.
// CHECK-LABEL: llvm.func internal @fields(
// CHECK: llvm.icmp "ne" %{{.*}} : !llvm.ptr
// CHECK: %[[PLACE:.*]] = llvm.getelementptr %{{.*}}[0, 3] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, ptr, ptr, ptr, ptr)>
// CHECK: llvm.load %[[PLACE]] invariant : !llvm.ptr -> !llvm.ptr
// CHECK: llvm.icmp "ne" %{{.*}} : !llvm.ptr
// CHECK: %[[PLACE:.*]] = llvm.getelementptr %{{.*}}[0, 4]
// CHECK: %[[PROFILE:.*]] = llvm.load %[[PLACE]]
// CHECK: llvm.call %[[PROFILE]](
func.func private @fields(%exec: !llvm.ptr) -> i1 {
  %isThere = run.given %exec : !llvm.ptr
  %weights = run.field "weights" of %exec : !llvm.ptr -> memref<64xi8>
  %isGiven = run.given %weights : memref<64xi8>
  %profile = run.field "profile" of %exec : !llvm.ptr -> (!llvm.ptr) -> ()
  func.call_indirect %profile(%exec) : (!llvm.ptr) -> ()
  %both = arith.andi %isThere, %isGiven : i1
  return %both : i1
}

// CHECK: llvm.func @m_run
func.func @m_run(%x: memref<8xf32>, %y: memref<8xf32>) -> i32 {
  %weights = memref.get_global @m_weights : memref<64xi8>
  call @kernel(%x, %y) : (memref<8xf32>, memref<8xf32>) -> ()
  %ok = arith.constant 0 : i32
  return %ok : i32
}
