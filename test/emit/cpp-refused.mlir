// What has no form in C++ is refused at the operation, and nothing is left behind; vectors of a length that compilers
// have no type for have one, as loops over lanes.
// RUN: rm -rf %t && not emit-model %s %t portable-128 cpp 2>&1 | FileCheck %s
// RUN: not ls %t
// RUN: not emit-model %s %t portable cpp 2>&1 | FileCheck %s
// CHECK: cpp-refused.mlir":[[#]]:10): error: 'vector.outerproduct' op has no form in C++ source
// RUN: grep -v '%%o ' %s > %t.mlir && emit-model %t.mlir %t portable-128 cpp && FileCheck %s --check-prefix=THREE --input-file %t/three.cpp
// THREE: for (int64_t [[L:i[0-9]+]] = 0; [[L]] < 3; ++[[L]]) {
// THREE-NEXT: v0[[[L]]] = p0[[[L]]];
module attributes {ingot.model = {
    name = "three", inputs = [["x", 1, [4]]], outputs = [["y", 1, [4]]], nodes = [], workspace = 0, weights = 0}} {
  func.func @three_run(%x: memref<4xf32>, %y: memref<4xf32>, %work: memref<1xi8>, %exec: !llvm.ptr) -> i32 {
    %c0 = arith.constant 0 : index
    // Three lanes.
    %v = vector.load %x[%c0] : memref<4xf32>, vector<3xf32>
    vector.store %v, %y[%c0] : memref<4xf32>, vector<3xf32>
    %o = vector.outerproduct %v, %v : vector<3xf32>, vector<3xf32>
    vector.print %o : vector<3x3xf32>
    %ok = arith.constant 0 : i32
    return %ok : i32
  }
}
