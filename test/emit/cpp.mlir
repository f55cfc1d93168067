// C++ source: one function of each form, and what becomes of numbers that wrap, of NaN and of 16-bit floats.
// RUN: rm -rf %t && emit-model %s %t/a portable cpp && FileCheck %s --input-file %t/a/forms.cpp
// RUN: emit-model %s %t/b portable cpp && cmp %t/a/forms.cpp %t/b/forms.cpp
// RUN: FileCheck %s --check-prefix=HEADER --input-file %t/a/forms.h
// RUN: awk 'length > 120 { exit 1 }' %t/a/forms.cpp
// RUN: g++ -std=c++17 -O2 -Wall -Wextra -Werror -I%t/a -I%source/runtime_support/include %t/a/forms.cpp %S/Inputs/forms.cpp %build/lib/libingot_rt.a -o %t/g && %t/g
// RUN: clang++-22 -std=c++17 -O1 -Wall -Wextra -Werror -fsanitize=address,undefined -fno-sanitize-recover=all -I%t/a -I%source/runtime_support/include %t/a/forms.cpp %S/Inputs/forms.cpp %build/lib/libingot_rt.a -o %t/c && %t/c

// CHECK: // The model forms, compiled by ingot to C++17.
// CHECK: #include "forms.h"
// CHECK: alignas(64) const uint64_t forms_weights[2] = {
// CHECK-NEXT:     0xee9c49f7a55300b, 0x3611ecc7a27d5833

// A loop with a carried value, in an order that is kept where two are exchanged.
// CHECK-LABEL: void swaps(const f32 *__restrict p0, f32 *__restrict p1, uint64_t n0, uint64_t n1) {
// CHECK-NEXT:   float x0 = 1.0f;
// CHECK-NEXT:   float x1 = p0[0];
// CHECK-NEXT:   for (int64_t i0 = int64_t(n0); i0 < int64_t(n1); ++i0) {
// CHECK-NEXT:     const float [[OLD:x[0-9]+]] = x0;
// CHECK-NEXT:     x0 = x1;
// CHECK-NEXT:     x1 = [[OLD]];
// CHECK-NEXT:   }
// CHECK-NEXT:   p1[0] = x0;
// CHECK-NEXT:   p1[1] = x1;
// CHECK-NEXT: }

// The run calls a function that its caller has.
// CHECK-LABEL: void profile(const ingot_exec *exec, uint32_t n0, uint32_t n1) {
// CHECK-NEXT: if (exec) {
// CHECK-NEXT: if (exec->profile) {
// CHECK-NEXT: exec->profile(exec->context, int32_t(n0), int32_t(n1));

// What is read before memory changes.
// CHECK-LABEL: void keeps(f32 *p0) {
// CHECK-NEXT:   const float x0 = p0[0];
// CHECK-NEXT:   p0[0] = 2.0f;
// CHECK-NEXT:   p0[1] = x0 + p0[2];
// CHECK-NEXT: }

// CHECK-LABEL: void counts(u64 *p0, uint64_t n0) {
// CHECK-NEXT:   uint64_t n1 = n0;
// CHECK-NEXT:   uint64_t n2;
// CHECK-NEXT:   while (true) {
// CHECK-NEXT:     if (!(int64_t(n1) < 100)) {
// CHECK-NEXT:       n2 = n1;
// CHECK-NEXT:       break;
// CHECK-NEXT:     }
// CHECK-NEXT:     n1 = n1 * 3;
// CHECK-NEXT:   }
// CHECK-NEXT:   p0[0] = n2;

// Numbers have the width of the IR's.
// CHECK-LABEL: void integers(
// CHECK: uint64_t(int16_t(uint16_t(uint32_t(n3) * n3)));

// Blocks of the run: what ends it stands in place, what several ways lead to has a label.
// CHECK-LABEL: uint32_t run(
// CHECK: if (p1[2] == 9) {
// CHECK-NEXT: return 42;
// CHECK-NEXT: }
// CHECK: {{^}}block1: {
// CHECK: goto block1;
// CHECK: uint32_t(overItems(exec, 3, [&](uint64_t begin, uint64_t end) { swaps(p0, p2, begin,
// CHECK-NEXT: end); return 0; }));
// CHECK: profile(exec, 7, 0);
// CHECK-NEXT: keeps(p2);
// CHECK-NEXT: profile(exec, 7, 1);

// CHECK: int forms_run(const float *i0, const int32_t *i1, float *o0, int64_t *o1, void *workspace, const ingot_exec *exec) {
// CHECK: const ingot_model modelTable = {
// CHECK-NEXT: {{[0-9]+}}, // abi
// HEADER: int forms_run(const float *x,
module attributes {ingot.model = {
    name = "forms", inputs = [["x", 1, [4]], ["k", 6, [4]]], outputs = [["y", 1, [16]], ["z", 7, [16]]],
    nodes = ["a \"node\""], workspace = 64, weights = 16}} {
  memref.global "private" constant @forms_weights : memref<16xi8> {alignment = 64 : i64}

  func.func private @swaps(%in: memref<4xf32> {llvm.noalias}, %out: memref<16xf32> {llvm.noalias}, %begin: index, %end: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1.0 : f32
    %first = memref.load %in[%c0] : memref<4xf32>
    %r:2 = scf.for %i = %begin to %end step %c1 iter_args(%a = %one, %b = %first) -> (f32, f32) {
      scf.yield %b, %a : f32, f32
    }
    memref.store %r#0, %out[%c0] : memref<16xf32>
    memref.store %r#1, %out[%c1] : memref<16xf32>
    return
  }

  func.func private @keeps(%m: memref<16xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %two = arith.constant 2.0 : f32
    %old = memref.load %m[%c0] : memref<16xf32>
    memref.store %two, %m[%c0] : memref<16xf32>
    %other = memref.load %m[%c2] : memref<16xf32>
    %sum = arith.addf %old, %other : f32
    memref.store %sum, %m[%c1] : memref<16xf32>
    return
  }

  func.func private @counts(%m: memref<16xi64>, %from: index) {
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %most = arith.constant 100 : index
    %r = scf.while (%n = %from) : (index) -> index {
      %less = arith.cmpi slt, %n, %most : index
      scf.condition(%less) %n : index
    } do {
    ^bb0(%n: index):
      %next = arith.muli %n, %c3 : index
      scf.yield %next : index
    }
    %i = arith.index_cast %r : index to i64
    memref.store %i, %m[%c0] : memref<16xi64>
    return
  }

  // Integers wrap; narrow ones in their width.
  func.func private @integers(%in: memref<4xi32>, %out: memref<16xi64>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %c6 = arith.constant 6 : index
    %c7 = arith.constant 7 : index
    %v = memref.load %in[%c0] : memref<4xi32> // 2147483647
    %w = memref.load %in[%c1] : memref<4xi32> // -7
    %sum = arith.addi %v, %v : i32
    %wide = arith.extsi %sum : i32 to i64
    memref.store %wide, %out[%c1] : memref<16xi64>
    %narrow = arith.trunci %w : i32 to i16 // 65529
    %square = arith.muli %narrow, %narrow : i16
    %u = arith.extui %narrow : i16 to i64
    memref.store %u, %out[%c2] : memref<16xi64>
    %squared = arith.extsi %square : i16 to i64
    memref.store %squared, %out[%c3] : memref<16xi64>
    %two = arith.constant 2 : i32
    %half = arith.divsi %w, %two : i32
    %rest = arith.remsi %w, %two : i32
    %both = arith.addi %half, %rest : i32 // -3 and -1
    %bothWide = arith.extsi %both : i32 to i64
    memref.store %bothWide, %out[%c4] : memref<16xi64>
    %w64 = arith.extsi %w : i32 to i64
    %low, %high = arith.mulsi_extended %w64, %w64 : i64
    %minus, %sign = arith.mulsi_extended %w64, %wide : i64
    %highs = arith.addi %high, %sign : i64
    memref.store %highs, %out[%c5] : memref<16xi64>
    %single = arith.constant 1 : i64
    %shifted = arith.shrsi %w64, %single : i64
    memref.store %shifted, %out[%c6] : memref<16xi64>
    %bit = arith.cmpi ult, %v, %w : i32
    %number = arith.extsi %bit : i1 to i64
    memref.store %number, %out[%c7] : memref<16xi64>
    return
  }

  // NaN stays in a maximum and not in a comparison; a float rounds to the nearest of 16 bits.
  func.func private @reals(%in: memref<4xf32>, %out: memref<16xf32>, %w: memref<16xi8>) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %c6 = arith.constant 6 : index
    %c7 = arith.constant 7 : index
    %c8 = arith.constant 8 : index
    %c9 = arith.constant 9 : index
    %zero = arith.constant 0.0 : f32
    %a = memref.load %in[%c1] : memref<4xf32> // NaN
    %b = memref.load %in[%c2] : memref<4xf32> // -0.0
    %c = memref.load %in[%c3] : memref<4xf32> // 1.0009765 + a little
    %larger = arith.maximumf %a, %b : f32
    memref.store %larger, %out[%c3] : memref<16xf32>
    %positive = arith.maximumf %b, %zero : f32
    %inverse = arith.divf %c, %positive : f32 // +inf
    memref.store %inverse, %out[%c4] : memref<16xf32>
    %unordered = arith.cmpf ult, %a, %c : f32
    %one = arith.uitofp %unordered : i1 to f32
    memref.store %one, %out[%c5] : memref<16xf32>
    %half = arith.truncf %c : f32 to f16
    %back = arith.extf %half : f16 to f32
    memref.store %back, %out[%c6] : memref<16xf32>
    %e = math.exp %c : f32
    memref.store %e, %out[%c7] : memref<16xf32>
    %byte = memref.load %w[%c3] : memref<16xi8>
    %weight = arith.uitofp %byte : i8 to f32
    memref.store %weight, %out[%c8] : memref<16xf32>
    %down = math.floor %b : f32
    %sign = math.copysign %c, %down : f32
    memref.store %sign, %out[%c9] : memref<16xf32>
    return
  }

  func.func private @forms_profile(%exec: !llvm.ptr, %launch: i32, %ended: i32) {
    %isGiven = run.given %exec : !llvm.ptr
    scf.if %isGiven {
      %profile = run.field "profile" of %exec : !llvm.ptr -> (!llvm.ptr, i32, i32) -> ()
      %isWanted = run.given %profile : (!llvm.ptr, i32, i32) -> ()
      scf.if %isWanted {
        %context = run.field "context" of %exec : !llvm.ptr -> !llvm.ptr
        func.call_indirect %profile(%context, %launch, %ended) : (!llvm.ptr, i32, i32) -> ()
      }
    }
    return
  }

  func.func @forms_run(%x: memref<4xf32>, %k: memref<4xi32>, %y: memref<16xf32>, %z: memref<16xi64>, %work: memref<64xi8>, %exec: !llvm.ptr) -> i32 {
    %weights = memref.get_global @forms_weights : memref<16xi8>
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %nine = arith.constant 9 : i32
    %two = arith.constant 2 : index
    %k0 = memref.load %k[%two] : memref<4xi32>
    %bad = arith.cmpi eq, %k0, %nine : i32
    cf.cond_br %bad, ^fail, ^go
  ^fail:
    %forty = arith.constant 42 : i32
    return %forty : i32
  ^go:
    cf.br ^head(%c0 : index)
  ^head(%turn: index):
    %more = arith.cmpi slt, %turn, %c5 : index
    cf.cond_br %more, ^body, ^behind
  ^body:
    %one = arith.constant 1 : index
    %next = arith.addi %turn, %one : index
    cf.br ^head(%next : index)
  ^behind:
    %threads = arith.constant true
    %status = run.over_items @swaps(%x, %y) over %c3 by %exec if %threads : (memref<4xf32>, memref<16xf32>) -> i32, index, !llvm.ptr
    memref.store %status, %k[%c3] : memref<4xi32>
    %seven = arith.constant 7 : i32
    %no = arith.constant 0 : i32
    %yes = arith.constant 1 : i32
    func.call @forms_profile(%exec, %seven, %no) : (!llvm.ptr, i32, i32) -> ()
    func.call @keeps(%y) : (memref<16xf32>) -> ()
    func.call @forms_profile(%exec, %seven, %yes) : (!llvm.ptr, i32, i32) -> ()
    func.call @counts(%z, %turn) : (memref<16xi64>, index) -> ()
    func.call @integers(%k, %z) : (memref<4xi32>, memref<16xi64>) -> ()
    func.call @reals(%x, %y, %weights) : (memref<4xf32>, memref<16xf32>, memref<16xi8>) -> ()
    %ok = arith.constant 0 : i32
    return %ok : i32
  }
}
