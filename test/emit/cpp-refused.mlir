// What compilers have no type for is refused at the operation, and nothing is left behind.
// RUN: rm -rf %t && not emit-model %s %t portable-128 cpp 2>&1 | FileCheck %s
// RUN: not ls %t
// CHECK: cpp-refused.mlir":11:10): error: 'vector.load' op has no form in C++ source
// CHECK-NOT: error
module attributes {ingot.model = {
    name = "three", inputs = [["x", 1, [4]]], outputs = [["y", 1, [4]]], nodes = [], workspace = 0, weights = 0}} {
  func.func @three_run(%x: memref<4xf32>, %y: memref<4xf32>, %work: memref<1xi8>, %exec: !llvm.ptr) -> i32 {
    %c0 = arith.constant 0 : index
    // Three lanes.
    %v = vector.load %x[%c0] : memref<4xf32>, vector<3xf32>
    vector.store %v, %y[%c0] : memref<4xf32>, vector<3xf32>
    %ok = arith.constant 0 : i32
    return %ok : i32
  }
}
