// Instructions in C++ source (compiler/target/Instructions.def): dot products are sums over lanes, by whichever name a
// target has them; an instruction without a spelling, and an intrinsic that no target has, are refused.
// RUN: rm -rf %t && grep -v '%%packed' %s > %t.mlir && emit-model %t.mlir %t portable-128 cpp && FileCheck %s --input-file %t/dots.cpp
// RUN: g++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only -I%t -I%source/runtime_support/include %t/dots.cpp
// RUN: not emit-model %s %t/refused portable-128 cpp 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: sed 's/packssdw.128/packed/' %s > %t.mlir && not emit-model %t.mlir %t/refused portable-128 cpp 2>&1 | FileCheck %s --check-prefix=REFUSED
// CHECK-DAG: INGOT_INLINE Sums int16Dot2(
// CHECK-DAG: INGOT_INLINE Sums byteDot4(
// CHECK: [[PAIRS:v[0-9]+]] = int16Dot2<u32x4>(
// CHECK: byteDot4([[PAIRS]], (
// REFUSED: error: 'llvm.call_intrinsic' op has no form in C++ source
module attributes {ingot.model = {
    name = "dots", inputs = [["x", 1, [64]]], outputs = [["y", 1, [64]]], nodes = [], workspace = 64, weights = 0}} {
  func.func @dots_run(%x: memref<64xf32>, %y: memref<64xf32>, %work: memref<64xi8>, %exec: !llvm.ptr) -> i32 {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %v = vector.load %x[%c0] : memref<64xf32>, vector<4xf32>
    %w = vector.load %x[%c4] : memref<64xf32>, vector<4xf32>
    %a = vector.bitcast %v : vector<4xf32> to vector<8xi16>
    %b = vector.bitcast %w : vector<4xf32> to vector<8xi16>
    %pairs = llvm.call_intrinsic "llvm.x86.sse2.pmadd.wd"(%a, %b) : (vector<8xi16>, vector<8xi16>) -> vector<4xi32>
    %c = vector.bitcast %v : vector<4xf32> to vector<16xi8>
    %d = vector.bitcast %w : vector<4xf32> to vector<16xi8>
    %quads = llvm.call_intrinsic "llvm.aarch64.neon.usdot"(%pairs, %c, %d) : (vector<4xi32>, vector<16xi8>, vector<16xi8>) -> vector<4xi32>
    %sums = vector.bitcast %quads : vector<4xi32> to vector<4xf32>
    %other = vector.bitcast %pairs : vector<4xi32> to vector<4xf32>
    vector.store %sums, %y[%c0] : memref<64xf32>, vector<4xf32>
    vector.store %other, %y[%c4] : memref<64xf32>, vector<4xf32>
    %packed = llvm.call_intrinsic "llvm.x86.sse2.packssdw.128"(%pairs, %quads) : (vector<4xi32>, vector<4xi32>) -> vector<8xi16>
    %bits = vector.bitcast %packed : vector<8xi16> to vector<4xf32>
    vector.store %bits, %y[%c8] : memref<64xf32>, vector<4xf32> // of %packed
    %ok = arith.constant 0 : i32
    return %ok : i32
  }
}
