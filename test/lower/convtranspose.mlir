// Transposed convolutions: each result sums the taps that reach it, so that nothing is written twice; channels are blocked as in a convolution.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V3
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v4 --layout-assign=target=x86-64-v4 --lower-kernels=target=x86-64-v4 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V4

// With strides of 2 and a kernel of 2 one tap reaches a result: there is no loop over taps.
// CHECK-LABEL: func.func private @convtranspose_
// V3-SAME: memref<400xf32>{{.*}}memref<1024xf32>{{.*}}memref<1024xf32>
// V3: scf.for {{.*}} = %c0 to %c4 step %c1
// V3: :8 = scf.for {{.*}} to %c2{{.*}} step
// V3-COUNT-64: vector.fma {{.*}} : vector<8xf32>
// V3: scf.yield
// V4: vector.fma {{.*}} : vector<16xf32>
func.func @typical(%x: tensor<1x16x4x4xf32>) -> tensor<1x16x8x8xf32> {
  %w = onnx.Constant dense<0.5> : tensor<16x16x2x2xf32>
  %b = "onnx.None"() : () -> none
  %0 = "onnx.ConvTranspose"(%x, %w, %b) <{strides = array<i64: 2, 2>}> : (tensor<1x16x4x4xf32>, tensor<16x16x2x2xf32>, none) -> tensor<1x16x8x8xf32>
  return %0 : tensor<1x16x8x8xf32>
}

// -----

// Known sizes, several phases: each tile has one base, which LLVM takes for unknown, and constants behind it. (It kept an
// address of every pixel and tap on the stack: three times the time.)
// V4-LABEL: func.func @phases
// V4: func.func private @convtranspose_
// V4: [[BASE:%.*]] = llvm.intr.expect
// V4: scf.for
// V4: arith.addi [[BASE]]
// V4: vector.fma {{.*}} : vector<16xf32>
func.func @phases(%x: tensor<1x32x40x40xf32>) -> tensor<1x16x81x81xf32> {
  %w = onnx.Constant dense<0.5> : tensor<32x16x3x3xf32>
  %b = "onnx.None"() : () -> none
  %0 = "onnx.ConvTranspose"(%x, %w, %b) <{strides = array<i64: 2, 2>}> : (tensor<1x32x40x40xf32>, tensor<32x16x3x3xf32>, none) -> tensor<1x16x81x81xf32>
  return %0 : tensor<1x16x81x81xf32>
}
