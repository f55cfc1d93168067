// Functions that differ in numbers alone share a body on WebAssembly, which has the numbers as arguments: those that
// are the same at several places once, an element of a vector as a number. Divisors are no arguments, since a division
// by a constant is none; functions whose operations differ keep their bodies; and on other machines all do.
// RUN: rm -rf %t && emit-model %s %t wasm32+simd128 llvm && FileCheck %s < %t/m.ll
// RUN: emit-model %s %t/host x86-64-v2 llvm && FileCheck %s --check-prefix=HOST --implicit-check-not=shared < %t/host/m.ll
// CHECK: define internal void @scale_a.shared(ptr %{{[0-9]+}}, float %[[F:[0-9]+]], i32 %[[N:[0-9]+]])
// CHECK: insertelement <4 x float> {{.*}}, float %[[F]]
// CHECK: fmul <4 x float>
// CHECK: fadd <4 x float>
// CHECK: icmp slt i32 %{{[0-9]+}}, %[[N]]
// CHECK: define internal void @scale_a(
// CHECK-NEXT: tail call void @scale_a.shared(ptr %0, float 5.000000e-01, i32 16)
// CHECK: define internal void @scale_b(
// CHECK-NEXT: tail call void @scale_a.shared(ptr %0, float 2.500000e-01, i32 8)
// CHECK: define internal void @scale_c(
// CHECK: fdiv <4 x float> splat (float 1.250000e-01)
// CHECK: define internal i32 @divide_a(
// CHECK: sdiv i32 %{{[0-9]+}}, 5
// CHECK: define internal i32 @divide_b(
// CHECK: sdiv i32 %{{[0-9]+}}, 7
// HOST: define internal void @scale_a(
// HOST: define internal void @scale_b(
module attributes {ingot.model = {
    name = "m", inputs = [["x", 1, [64]]], outputs = [["y", 6, [1]]], nodes = [], workspace = 64, weights = 0}} {
  func.func private @scale_a(%x: memref<64xf32>) {
    %from = arith.constant 0 : index
    %to = arith.constant 16 : index
    %step = arith.constant 4 : index
    %factor = arith.constant dense<0.5> : vector<4xf32>
    scf.for %i = %from to %to step %step {
      %v = vector.load %x[%i] : memref<64xf32>, vector<4xf32>
      %w = arith.mulf %v, %factor : vector<4xf32>
      %u = arith.addf %w, %factor : vector<4xf32>
      %r = math.sqrt %u : vector<4xf32>
      %s = arith.divf %r, %v : vector<4xf32>
      %p0 = arith.mulf %s, %v : vector<4xf32>
      %q0 = arith.addf %p0, %r : vector<4xf32>
      %p1 = arith.mulf %q0, %v : vector<4xf32>
      %q1 = arith.addf %p1, %r : vector<4xf32>
      %p2 = arith.mulf %q1, %v : vector<4xf32>
      %q2 = arith.addf %p2, %r : vector<4xf32>
      %p3 = arith.mulf %q2, %v : vector<4xf32>
      %q3 = arith.addf %p3, %r : vector<4xf32>
      %p4 = arith.mulf %q3, %v : vector<4xf32>
      %q4 = arith.addf %p4, %r : vector<4xf32>
      %p5 = arith.mulf %q4, %v : vector<4xf32>
      %q5 = arith.addf %p5, %r : vector<4xf32>
      vector.store %q5, %x[%i] : memref<64xf32>, vector<4xf32>
    }
    return
  }
  func.func private @scale_b(%x: memref<64xf32>) {
    %from = arith.constant 0 : index
    %to = arith.constant 8 : index
    %step = arith.constant 4 : index
    %factor = arith.constant dense<0.25> : vector<4xf32>
    scf.for %i = %from to %to step %step {
      %v = vector.load %x[%i] : memref<64xf32>, vector<4xf32>
      %w = arith.mulf %v, %factor : vector<4xf32>
      %u = arith.addf %w, %factor : vector<4xf32>
      %r = math.sqrt %u : vector<4xf32>
      %s = arith.divf %r, %v : vector<4xf32>
      %p0 = arith.mulf %s, %v : vector<4xf32>
      %q0 = arith.addf %p0, %r : vector<4xf32>
      %p1 = arith.mulf %q0, %v : vector<4xf32>
      %q1 = arith.addf %p1, %r : vector<4xf32>
      %p2 = arith.mulf %q1, %v : vector<4xf32>
      %q2 = arith.addf %p2, %r : vector<4xf32>
      %p3 = arith.mulf %q2, %v : vector<4xf32>
      %q3 = arith.addf %p3, %r : vector<4xf32>
      %p4 = arith.mulf %q3, %v : vector<4xf32>
      %q4 = arith.addf %p4, %r : vector<4xf32>
      %p5 = arith.mulf %q4, %v : vector<4xf32>
      %q5 = arith.addf %p5, %r : vector<4xf32>
      vector.store %q5, %x[%i] : memref<64xf32>, vector<4xf32>
    }
    return
  }
  func.func private @scale_c(%x: memref<64xf32>) {
    %from = arith.constant 0 : index
    %to = arith.constant 8 : index
    %step = arith.constant 4 : index
    %factor = arith.constant dense<0.125> : vector<4xf32>
    scf.for %i = %from to %to step %step {
      %v = vector.load %x[%i] : memref<64xf32>, vector<4xf32>
      %w = arith.mulf %v, %factor : vector<4xf32>
      %u = arith.divf %factor, %w : vector<4xf32>
      %r = math.sqrt %u : vector<4xf32>
      %s = arith.divf %r, %v : vector<4xf32>
      %p0 = arith.mulf %s, %v : vector<4xf32>
      %q0 = arith.addf %p0, %r : vector<4xf32>
      %p1 = arith.mulf %q0, %v : vector<4xf32>
      %q1 = arith.addf %p1, %r : vector<4xf32>
      %p2 = arith.mulf %q1, %v : vector<4xf32>
      %q2 = arith.addf %p2, %r : vector<4xf32>
      %p3 = arith.mulf %q2, %v : vector<4xf32>
      %q3 = arith.addf %p3, %r : vector<4xf32>
      %p4 = arith.mulf %q3, %v : vector<4xf32>
      %q4 = arith.addf %p4, %r : vector<4xf32>
      %p5 = arith.mulf %q4, %v : vector<4xf32>
      %q5 = arith.addf %p5, %r : vector<4xf32>
      vector.store %q5, %x[%i] : memref<64xf32>, vector<4xf32>
    }
    return
  }
  func.func private @divide_a(%x: i32) -> i32 {
    %d = arith.constant 5 : i32
    %v0 = arith.divsi %x, %d : i32
    %w0 = arith.muli %v0, %v0 : i32
    %v1 = arith.xori %w0, %x : i32
    %w1 = arith.muli %v1, %v1 : i32
    %v2 = arith.xori %w1, %x : i32
    %w2 = arith.muli %v2, %v2 : i32
    %v3 = arith.xori %w2, %x : i32
    %w3 = arith.muli %v3, %v3 : i32
    %v4 = arith.xori %w3, %x : i32
    %w4 = arith.muli %v4, %v4 : i32
    %v5 = arith.xori %w4, %x : i32
    %w5 = arith.muli %v5, %v5 : i32
    %v6 = arith.xori %w5, %x : i32
    %w6 = arith.muli %v6, %v6 : i32
    %v7 = arith.xori %w6, %x : i32
    %w7 = arith.muli %v7, %v7 : i32
    %v8 = arith.xori %w7, %x : i32
    %w8 = arith.muli %v8, %v8 : i32
    %v9 = arith.xori %w8, %x : i32
    %w9 = arith.muli %v9, %v9 : i32
    %v10 = arith.xori %w9, %x : i32
    return %v10 : i32
  }
  func.func private @divide_b(%x: i32) -> i32 {
    %d = arith.constant 7 : i32
    %v0 = arith.divsi %x, %d : i32
    %w0 = arith.muli %v0, %v0 : i32
    %v1 = arith.xori %w0, %x : i32
    %w1 = arith.muli %v1, %v1 : i32
    %v2 = arith.xori %w1, %x : i32
    %w2 = arith.muli %v2, %v2 : i32
    %v3 = arith.xori %w2, %x : i32
    %w3 = arith.muli %v3, %v3 : i32
    %v4 = arith.xori %w3, %x : i32
    %w4 = arith.muli %v4, %v4 : i32
    %v5 = arith.xori %w4, %x : i32
    %w5 = arith.muli %v5, %v5 : i32
    %v6 = arith.xori %w5, %x : i32
    %w6 = arith.muli %v6, %v6 : i32
    %v7 = arith.xori %w6, %x : i32
    %w7 = arith.muli %v7, %v7 : i32
    %v8 = arith.xori %w7, %x : i32
    %w8 = arith.muli %v8, %v8 : i32
    %v9 = arith.xori %w8, %x : i32
    %w9 = arith.muli %v9, %v9 : i32
    %v10 = arith.xori %w9, %x : i32
    return %v10 : i32
  }
  func.func @m_run(%x: memref<64xf32>, %y: memref<1xi32>, %work: memref<64xi8>, %context: memref<1xi8>) -> i32 {
    %c0 = arith.constant 0 : index
    func.call @scale_a(%x) : (memref<64xf32>) -> ()
    func.call @scale_b(%x) : (memref<64xf32>) -> ()
    func.call @scale_c(%x) : (memref<64xf32>) -> ()
    %v = memref.load %y[%c0] : memref<1xi32>
    %a = func.call @divide_a(%v) : (i32) -> i32
    %b = func.call @divide_b(%a) : (i32) -> i32
    memref.store %b, %y[%c0] : memref<1xi32>
    %ok = arith.constant 0 : i32
    return %ok : i32
  }
}
