// An instruction of SSE that rounds a vector from memory faults if the address is not a multiple of 16: the vector is
// loaded first. AVX has no such condition.
// RUN: rm -rf %t && emit-model %s %t/v2 x86-64-v2 obj && llvm-objdump -d %t/v2/m.o | FileCheck %s --check-prefix=SSE
// RUN: emit-model %s %t/v3 x86-64-v3 obj && llvm-objdump -d %t/v3/m.o | FileCheck %s --check-prefix=AVX
// SSE: <m_run>
// SSE: movup{{[sd]}} 0x18(
// SSE: cvtps2dq %xmm
// AVX: <m_run>
// AVX: vcvtps2dq 0x18(
module attributes {ingot.model = {
    name = "m", inputs = [["x", 1, [10]]], outputs = [["y", 6, [4]]], nodes = [], workspace = 64, weights = 0}} {
  func.func @m_run(%x: memref<10xf32>, %y: memref<4xi32>, %work: memref<64xi8>, %context: memref<1xi8>) -> i32 {
    %c0 = arith.constant 0 : index
    %c6 = arith.constant 6 : index
    %v = vector.load %x[%c6] : memref<10xf32>, vector<4xf32>
    %r = math.roundeven %v : vector<4xf32>
    %i = arith.fptosi %r : vector<4xf32> to vector<4xi32>
    vector.store %i, %y[%c0] : memref<4xi32>, vector<4xi32>
    %ok = arith.constant 0 : i32
    return %ok : i32
  }
}
