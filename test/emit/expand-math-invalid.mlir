// An op without an expansion is an error here, not an undefined symbol when a user links.
// RUN: not %ingot-opt %s --emit-expand-math=target=x86-64-v3 2>&1 | FileCheck %s
// RUN: not %ingot-opt %s --emit-expand-math=target=pdp11 2>&1 | FileCheck %s --check-prefix=TARGET
// CHECK: expand-math-invalid.mlir:[[#@LINE+4]]:8: error: 'math.fpowi' op has no expansion into instructions
// TARGET: error: unknown target 'pdp11'; known are {{.*}}x86-64-v3
func.func @f(%x: f32, %n: i32) -> f32 {
  // The exponent is an integer here.
  %y = math.fpowi %x, %n : f32, i32
  return %y : f32
}
