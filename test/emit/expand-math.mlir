// Math functions become arithmetic; what an instruction does stays; 16-bit floats go through f32.
// RUN: %ingot-opt %s --emit-expand-math=target=x86-64-v3 | FileCheck %s
// RUN: %ingot-opt %s --emit-expand-math=target=x86-64-v4 | FileCheck %s --check-prefix=V4

// CHECK-LABEL: func @exp
// CHECK-NOT: math.exp
// CHECK-COUNT-10: math.fma
// CHECK-NOT: ldexp
// CHECK: return
// V4-LABEL: func @exp
// V4: llvm.call_intrinsic "llvm.ldexp"
func.func @exp(%x: vector<8xf32>) -> vector<8xf32> {
  %y = math.exp %x : vector<8xf32>
  return %y : vector<8xf32>
}

// A function for another CPU does not get this machine's instructions.
// V4-LABEL: func @other
// V4-NOT: ldexp
// V4: return
func.func @other(%x: vector<8xf32>) -> vector<8xf32> attributes {ingot.machine = "haswell"} {
  %y = math.exp %x : vector<8xf32>
  return %y : vector<8xf32>
}

// CHECK-LABEL: func @native
// CHECK-NEXT: math.sqrt
// CHECK-NEXT: math.roundeven
// CHECK-NEXT: math.copysign
// CHECK-NEXT: return
func.func @native(%x: f32) -> f32 {
  %a = math.sqrt %x : f32
  %b = math.roundeven %a : f32
  %c = math.copysign %b, %x : f32
  return %c : f32
}

// CHECK-LABEL: func @half
// CHECK: arith.extf %{{.*}} : vector<4xf16> to vector<4xf32>
// CHECK-NOT: math.tanh
// CHECK: arith.truncf %{{.*}} : vector<4xf32> to vector<4xf16>
func.func @half(%x: vector<4xf16>) -> vector<4xf16> {
  %y = math.tanh %x : vector<4xf16>
  return %y : vector<4xf16>
}

// CHECK-LABEL: func @power
// CHECK: arith.extf %{{.*}} : f32 to f64
// CHECK-NOT: math.powf
// CHECK: arith.truncf
func.func @power(%x: f32, %y: f32) -> f32 {
  %z = math.powf %x, %y : f32
  return %z : f32
}

// CHECK-LABEL: func @remainder
// CHECK-NOT: arith.remf
// CHECK: scf.if
func.func @remainder(%x: vector<4xf32>, %y: vector<4xf32>) -> vector<4xf32> {
  %z = arith.remf %x, %y : vector<4xf32>
  return %z : vector<4xf32>
}

// A sigmoid: the sum with the exponential, in which its polynomial is multiplied by 2^n and added to 1 at once.
// CHECK-LABEL: func @sigmoid
// CHECK-COUNT-8: math.fma
// CHECK-NOT: arith.addf
// CHECK: arith.divf
// CHECK-NEXT: return
func.func @sigmoid(%x: vector<8xf32>, %one: vector<8xf32>) -> vector<8xf32> {
  %c1 = arith.constant dense<1.0> : vector<8xf32>
  %n = arith.negf %x : vector<8xf32>
  %e = math.exp %n : vector<8xf32>
  %s = arith.addf %c1, %e : vector<8xf32>
  %y = arith.divf %one, %s : vector<8xf32>
  return %y : vector<8xf32>
}

// A gate: what the sigmoid multiplies is divided by the sum, and the signs are in the constants.
// CHECK-LABEL: func @gate
// CHECK-NOT: arith.mulf
// CHECK-COUNT-8: math.fma
// CHECK-NOT: arith.negf
// CHECK: [[GATED:%.*]] = arith.divf %arg1, %{{.*}} : vector<8xf32>
// CHECK-NEXT: return [[GATED]]
func.func @gate(%x: vector<8xf32>, %y: vector<8xf32>) -> vector<8xf32> {
  %c1 = arith.constant dense<1.0> : vector<8xf32>
  %n = arith.negf %x : vector<8xf32>
  %e = math.exp %n : vector<8xf32>
  %s = arith.addf %e, %c1 : vector<8xf32>
  %g = arith.divf %c1, %s : vector<8xf32>
  %p = arith.mulf %g, %y : vector<8xf32>
  return %p : vector<8xf32>
}

// Strict: the same bits as in kernels of their own.
// CHECK-LABEL: func @strict_gate
// CHECK-COUNT-10: math.fma
// CHECK: [[STRICT:%.*]] = arith.divf %{{.*}}, %{{.*}} : vector<8xf32>
// CHECK-NEXT: arith.mulf [[STRICT]], %arg1
func.func @strict_gate(%x: vector<8xf32>, %y: vector<8xf32>) -> vector<8xf32> attributes {ingot.strict} {
  %c1 = arith.constant dense<1.0> : vector<8xf32>
  %n = arith.negf %x : vector<8xf32>
  %e = math.exp %n : vector<8xf32>
  %s = arith.addf %e, %c1 : vector<8xf32>
  %g = arith.divf %c1, %s : vector<8xf32>
  %p = arith.mulf %g, %y : vector<8xf32>
  return %p : vector<8xf32>
}

// A gate of which bytes are left: e^(-0.5 x) with the factor in the constants and a shorter polynomial; parabolas from tables, and no division, where the machine looks up floats in two vectors, of another CPU, too.
// CHECK-LABEL: func @bytes
// CHECK-COUNT-7: math.fma
// CHECK-NOT: math.fma
// CHECK: arith.divf
// V4-LABEL: func @bytes
// V4: [[NUMBER:%.*]] = math.fma
// V4: [[BEND:%.*]] = llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.ps.512"(%{{.*}}, %{{.*}}, %{{.*}}) : (vector<16xf32>, vector<16xi32>, vector<16xf32>) -> vector<16xf32>
// V4: [[SLOPE:%.*]] = llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.ps.512"
// V4: [[INNER:%.*]] = math.fma %{{.*}}, [[BEND]], [[SLOPE]]
// V4: [[THERE:%.*]] = llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.ps.512"
// V4: [[INVERSE:%.*]] = math.fma %{{.*}}, [[INNER]], [[THERE]]
// V4-NOT: arith.divf
// V4: arith.mulf %arg0, [[INVERSE]]
func.func @bytes(%x: vector<16xf32>) -> vector<16xf32> {
  %c1 = arith.constant dense<1.0> : vector<16xf32>
  %c = arith.constant dense<-0.5> : vector<16xf32>
  %n = arith.mulf %x, %c : vector<16xf32>
  %e = math.exp %n {ingot.bytes} : vector<16xf32>
  %s = arith.addf %e, %c1 : vector<16xf32>
  %g = arith.divf %x, %s : vector<16xf32>
  return %g : vector<16xf32>
}

// CHECK-LABEL: func @bytes_of_another
// CHECK-COUNT-3: llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.ps.512"
// V4-LABEL: func @bytes_of_another
// V4: arith.divf {{.*}} : vector<8xf32>
func.func @bytes_of_another(%x: vector<16xf32>, %y: vector<8xf32>) -> (vector<16xf32>, vector<8xf32>) attributes {ingot.machine = "znver4"} {
  %c1 = arith.constant dense<1.0> : vector<16xf32>
  %d1 = arith.constant dense<1.0> : vector<8xf32>
  %e = math.exp %x {ingot.bytes} : vector<16xf32>
  %s = arith.addf %e, %c1 : vector<16xf32>
  %g = arith.divf %c1, %s : vector<16xf32>
  %f = math.exp %y {ingot.bytes} : vector<8xf32>
  %t = arith.addf %f, %d1 : vector<8xf32>
  %h = arith.divf %d1, %t : vector<8xf32>
  return %g, %h : vector<16xf32>, vector<8xf32>
}

// A sigmoid that is read twice stays a quotient of 1.
// CHECK-LABEL: func @shared
// CHECK: [[OPEN:%.*]] = arith.divf %{{.*}}, %{{.*}} : vector<8xf32>
// CHECK-NEXT: [[SHUT:%.*]] = arith.mulf [[OPEN]], %arg1
// CHECK-NEXT: return [[OPEN]], [[SHUT]]
func.func @shared(%x: vector<8xf32>, %y: vector<8xf32>) -> (vector<8xf32>, vector<8xf32>) {
  %c1 = arith.constant dense<1.0> : vector<8xf32>
  %n = arith.negf %x : vector<8xf32>
  %e = math.exp %n : vector<8xf32>
  %s = arith.addf %e, %c1 : vector<8xf32>
  %g = arith.divf %c1, %s : vector<8xf32>
  %p = arith.mulf %g, %y : vector<8xf32>
  return %g, %p : vector<8xf32>, vector<8xf32>
}

// Of a sum that is not only a divisor the exponential has all of its digits.
// CHECK-LABEL: func @sum
// CHECK-COUNT-10: math.fma
// CHECK: arith.addf
func.func @sum(%x: vector<8xf32>) -> (vector<8xf32>, vector<8xf32>) {
  %c1 = arith.constant dense<1.0> : vector<8xf32>
  %e = math.exp %x : vector<8xf32>
  %s = arith.addf %c1, %e : vector<8xf32>
  %y = arith.divf %c1, %s : vector<8xf32>
  return %s, %y : vector<8xf32>, vector<8xf32>
}

// The tail of a GELU: scaled and halved in its constants.
// CHECK-LABEL: func @tail
// CHECK-NOT: math.absf
// CHECK-COUNT-13: math.fma
// CHECK: arith.shli
// CHECK-NEXT: arith.bitcast
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: return
func.func @tail(%t: vector<8xf32>) -> vector<8xf32> {
  %root = arith.constant dense<0.707106769> : vector<8xf32>
  %half = arith.constant dense<0.5> : vector<8xf32>
  %s = arith.mulf %t, %root : vector<8xf32>
  %e = math.erfc %s {ingot.tail} : vector<8xf32>
  %y = arith.mulf %e, %half : vector<8xf32>
  return %y : vector<8xf32>
}
