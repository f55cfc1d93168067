// Rounding to whole numbers is an instruction of some machines, and arithmetic on others; of float64, where a machine
// does not compute in it, always.
// RUN: %ingot-opt --emit-expand-math=target=cortex-m4 %s | FileCheck %s --check-prefixes=CHECK,SUMS
// RUN: %ingot-opt --emit-expand-math=target=cortex-m33 %s | FileCheck %s --check-prefixes=CHECK,NATIVE
// RUN: %ingot-opt --emit-expand-math=target=x86-64-v3 %s | FileCheck %s --check-prefix=HOST

// CHECK-LABEL: func.func @single
// SUMS-NOT: math.floor
// SUMS: %[[MAGNITUDE:.*]] = math.absf %arg0
// SUMS: %[[WHOLE:.*]] = arith.constant 0x4B000000 : f32
// SUMS: arith.addf %[[MAGNITUDE]], %[[WHOLE]]
// SUMS: arith.subf
// SUMS: math.copysign %{{.*}}, %arg0
// NATIVE: math.floor %arg0
// HOST: math.floor %arg0
func.func @single(%x: f32) -> f32 {
  %0 = math.floor %x : f32
  return %0 : f32
}

// CHECK-LABEL: func.func @double
// CHECK-NOT: math.roundeven
// CHECK: math.copysign %{{.*}}, %arg0 : f64
// HOST: math.roundeven %arg0
func.func @double(%x: f64) -> f64 {
  %0 = math.roundeven %x : f64
  return %0 : f64
}

// CHECK-LABEL: func.func @others
// CHECK: math.sqrt
// CHECK: math.ctpop
// HOST: math.sqrt
func.func @others(%x: f32, %n: i32) -> (f32, i32) {
  %0 = math.sqrt %x : f32
  %1 = math.ctpop %n : i32
  return %0, %1 : f32, i32
}
