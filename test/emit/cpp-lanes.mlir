// Vectors as loops over lanes: what is gathered into one loop, what ends it, and which arrays there are.
// RUN: rm -rf %t && emit-model %s %t portable cpp && FileCheck %s --input-file %t/lanes.cpp
// RUN: awk 'length > 120 { exit 1 }' %t/lanes.cpp
module attributes {ingot.model = {
    name = "lanes", inputs = [["x", 1, [64]]], outputs = [["y", 1, [64]]], nodes = [], workspace = 64, weights = 0}} {

  // One loop for each step; the sum is one array for both loops around, which no copy is made of.
  // CHECK-LABEL: void sums(
  // CHECK-NEXT:   float v0[8];
  // CHECK-NEXT:   INGOT_LANES for (int64_t i0 = 0; i0 < 8; ++i0) {
  // CHECK-NEXT:     v0[i0] = 0.0f;
  // CHECK-NEXT:   }
  // CHECK-NEXT:   for (int64_t i1 = 0; i1 < 4; ++i1) {
  // CHECK-NEXT:     for (int64_t i2 = 0; i2 < 2; ++i2) {
  // CHECK:            const float x0 = p0[
  // CHECK:            INGOT_LANES for (int64_t i3 = 0; i3 < 8; ++i3) {
  // CHECK-NEXT:         v0[i3] = x0 * p0[{{.*}}i3] + v0[i3];
  // CHECK-NEXT:       }
  // CHECK-NEXT:     }
  // CHECK-NEXT:   }
  // CHECK-NEXT:   INGOT_LANES for (int64_t i4 = 0; i4 < 8; ++i4) {
  // CHECK-NEXT:     p1[i4] = v0[i4];
  func.func private @sums(%x: memref<64xf32> {llvm.noalias}, %y: memref<64xf32> {llvm.noalias}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %zero = arith.constant dense<0.0> : vector<8xf32>
    %all = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %zero) -> (vector<8xf32>) {
      %some = scf.for %j = %c0 to %c2 step %c1 iter_args(%b = %a) -> (vector<8xf32>) {
        %at = arith.addi %i, %j : index
        %one = memref.load %x[%at] : memref<64xf32>
        %same = vector.broadcast %one : f32 to vector<8xf32>
        %first = arith.muli %at, %c8 : index
        %v = vector.load %x[%first] : memref<64xf32>, vector<8xf32>
        %next = vector.fma %same, %v, %b : vector<8xf32>
        scf.yield %next : vector<8xf32>
      }
      scf.yield %some : vector<8xf32>
    }
    vector.store %all, %y[%c0] : memref<64xf32>, vector<8xf32>
    return
  }

  // A branch that asks for a condition of any lane: the loop in front of it is not unrolled.
  // CHECK-LABEL: void any(
  // CHECK:        INGOT_WHOLE for (int64_t [[L:i[0-9]+]] = 0
  // CHECK-NEXT:     [[V:v[0-9]+]][[[L]]] = 1.0f < p0[[[L]]];
  // CHECK:        if (
  func.func private @any(%x: memref<64xf32>) {
    %c0 = arith.constant 0 : index
    %ones = arith.constant dense<1.0> : vector<8xf32>
    %v = vector.load %x[%c0] : memref<64xf32>, vector<8xf32>
    %large = arith.cmpf olt, %ones, %v : vector<8xf32>
    %any = vector.reduction <or>, %large : vector<8xi1> into i1
    scf.if %any {
      vector.store %ones, %x[%c0] : memref<64xf32>, vector<8xf32>
    }
    return
  }

  // Memory that may be the same: all lanes are read before any is written.
  // CHECK-LABEL: void moves(
  // CHECK:        INGOT_LANES for (int64_t [[L:i[0-9]+]] = 0
  // CHECK-NEXT:     [[V:v[0-9]+]][[[L]]] = p0[[[L]]];
  // CHECK-NEXT:   }
  // CHECK-NEXT:   INGOT_LANES for (int64_t [[M:i[0-9]+]] = 0
  // CHECK-NEXT:     p0[[[M]] + 1] = [[V]][[[M]]];
  func.func private @moves(%x: memref<64xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %v = vector.load %x[%c0] : memref<64xf32>, vector<8xf32>
    vector.store %v, %x[%c1] : memref<64xf32>, vector<8xf32>
    return
  }

  // Halves of a vector are its own lanes; other orders of lanes are an array.
  // CHECK-LABEL: void halves(
  // CHECK:        INGOT_LANES for (int64_t [[L:i[0-9]+]] = 0; [[L]] < 4
  // CHECK-NEXT:     p1[[[L]]] = [[V:v[0-9]+]][[[L]]] + [[V]][[[L]] + 4];
  // CHECK:        [[R:v[0-9]+]][0] = [[V]][7];
  // CHECK-NEXT:   [[R]][1] = [[V]][6];
  func.func private @halves(%x: memref<64xf32> {llvm.noalias}, %y: memref<64xf32> {llvm.noalias}) {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %v = vector.load %x[%c0] : memref<64xf32>, vector<8xf32>
    %w = arith.addf %v, %v : vector<8xf32>
    %low = vector.shuffle %w, %w [0, 1, 2, 3] : vector<8xf32>, vector<8xf32>
    %high = vector.shuffle %w, %w [4, 5, 6, 7] : vector<8xf32>, vector<8xf32>
    %sum = arith.addf %low, %high : vector<4xf32>
    vector.store %sum, %y[%c0] : memref<64xf32>, vector<4xf32>
    %back = vector.shuffle %w, %w [7, 6, 5, 4, 3, 2, 1, 0] : vector<8xf32>, vector<8xf32>
    vector.store %back, %y[%c8] : memref<64xf32>, vector<8xf32>
    return
  }

  func.func @lanes_run(%x: memref<64xf32>, %y: memref<64xf32>, %work: memref<64xi8>, %exec: !llvm.ptr) -> i32 {
    func.call @sums(%x, %y) : (memref<64xf32>, memref<64xf32>) -> ()
    func.call @any(%y) : (memref<64xf32>) -> ()
    func.call @moves(%y) : (memref<64xf32>) -> ()
    func.call @halves(%x, %y) : (memref<64xf32>, memref<64xf32>) -> ()
    %ok = arith.constant 0 : i32
    return %ok : i32
  }
}
