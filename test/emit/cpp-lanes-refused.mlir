// Vectors that basic blocks hand on have no form as loops over lanes: kernels carry them in loops.
// RUN: rm -rf %t && not emit-model %s %t portable cpp 2>&1 | FileCheck %s
// RUN: not ls %t
// CHECK: error: 'func.func' op has vectors that basic blocks hand on
module attributes {ingot.model = {
    name = "blocks", inputs = [["x", 1, [8]]], outputs = [["y", 1, [4]]], nodes = [], workspace = 0, weights = 0}} {
  func.func @blocks_run(%x: memref<8xf32>, %y: memref<4xf32>, %work: memref<1xi8>, %exec: !llvm.ptr) -> i32 {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %ok = arith.constant 0 : i32
    %zero = arith.constant 0.0 : f32
    %first = memref.load %x[%c0] : memref<8xf32>
    %a = vector.load %x[%c0] : memref<8xf32>, vector<4xf32>
    %b = vector.load %x[%c4] : memref<8xf32>, vector<4xf32>
    %is = arith.cmpf olt, %first, %zero : f32
    cf.cond_br %is, ^negative, ^end(%a : vector<4xf32>)
  ^negative:
    memref.store %zero, %y[%c0] : memref<4xf32>
    cf.br ^end(%b : vector<4xf32>)
  ^end(%v: vector<4xf32>):
    vector.store %v, %y[%c0] : memref<4xf32>, vector<4xf32>
    return %ok : i32
  }
}
