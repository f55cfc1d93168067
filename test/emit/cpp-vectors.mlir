// Vectors of the compiler's own: both compilers take what the other does. To clang a shuffle of constant variables is
// constant, and not of the type of what it may be chosen beside.
// RUN: rm -rf %t && emit-model %s %t portable-128 cpp && FileCheck %s --input-file %t/vectors.cpp
// RUN: clang++-22 -std=c++17 -Wall -Wextra -Werror -fsyntax-only -I%t -I%source/runtime_support/include %t/vectors.cpp
// RUN: g++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only -I%t -I%source/runtime_support/include %t/vectors.cpp
module attributes {ingot.model = {
    name = "vectors", inputs = [["x", 1, [64]]], outputs = [["y", 1, [64]]], nodes = [], workspace = 64, weights = 0}} {
  // CHECK-LABEL: void chooses(
  // CHECK: ? (f32x4)__builtin_shufflevector({{.*}}, 0, 4, 5, 6) : ({{v[0-9]+}} ? {{v[0-9]+}} : {{v[0-9]+}})
  func.func private @chooses(%x: memref<64xf32> {llvm.noalias}, %y: memref<64xf32> {llvm.noalias}) {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %v = vector.load %x[%c0] : memref<64xf32>, vector<4xf32>
    %w = vector.load %x[%c4] : memref<64xf32>, vector<4xf32>
    %less = arith.cmpf olt, %v, %w : vector<4xf32>
    %more = arith.cmpf ogt, %v, %w : vector<4xf32>
    %mixed = vector.shuffle %v, %w [0, 4, 5, 6] : vector<4xf32>, vector<4xf32>
    %either = arith.select %more, %v, %w : vector<4xi1>, vector<4xf32>
    %chosen = arith.select %less, %mixed, %either : vector<4xi1>, vector<4xf32>
    vector.store %chosen, %y[%c0] : memref<64xf32>, vector<4xf32>
    %both = arith.addf %v, %w : vector<4xf32>
    %again = arith.select %less, %v, %both : vector<4xi1>, vector<4xf32>
    %last = arith.select %more, %again, %w : vector<4xi1>, vector<4xf32>
    vector.store %last, %y[%c8] : memref<64xf32>, vector<4xf32>
    return
  }

  // A store past the caches is a plain one, which needs no fence.
  // CHECK-LABEL: void streams(
  // CHECK-NOT: fence
  // CHECK: }
  func.func private @streams(%x: memref<64xf32> {llvm.noalias}, %y: memref<64xf32> {llvm.noalias}) {
    %c16 = arith.constant 16 : index
    %v = vector.load %x[%c16] : memref<64xf32>, vector<4xf32>
    vector.store %v, %y[%c16] {alignment = 16 : i64, nontemporal = true} : memref<64xf32>, vector<4xf32>
    llvm.fence seq_cst
    return
  }

  func.func @vectors_run(%x: memref<64xf32>, %y: memref<64xf32>, %work: memref<64xi8>, %exec: !llvm.ptr) -> i32 {
    func.call @chooses(%x, %y) : (memref<64xf32>, memref<64xf32>) -> ()
    func.call @streams(%x, %y) : (memref<64xf32>, memref<64xf32>) -> ()
    %ok = arith.constant 0 : i32
    return %ok : i32
  }
}
