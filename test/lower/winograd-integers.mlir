// Convolutions of bytes by Winograd's algorithm, exactly: int16 in pairs, sums of int32, and multiples of them divided by a multiplication modulo 2^32 and a shift.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s --check-prefixes=CHECK,PAIRS
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=cascadelake --layout-assign=target=cascadelake --lower-kernels=target=cascadelake --split-input-file %s | FileCheck %s --check-prefixes=CHECK,QUADS
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=armv8-a --layout-assign=target=armv8-a --lower-kernels=target=armv8-a --split-input-file %s | FileCheck %s --check-prefixes=CHECK,NONE

// Strict accuracy has it, too. The weights of 36 components take 2 bytes each. Elements are not signed; the odd part of 24 * 24 is 9, whose inverse is 954437177, and that of 12 * 24 and so on, too.
// CHECK-LABEL: func.func @four
// PAIRS: plan.launch @[[CONV:int8conv_[0-9_]*]]({{.*}} tensor<294912xi8>
// QUADS: plan.launch @[[CONV:int8conv_[0-9_]*]]({{.*}} tensor<294912xi8>
// NONE: plan.launch {{.*}} tensor<147456xi8>
// PAIRS: func.func private @[[CONV]](
// PAIRS-COUNT-36: arith.extui {{.*}} : vector<8xi8> to vector<8xi16>
// PAIRS-NOT: arith.extui
// PAIRS: vector.store {{.*}}, vector<4xi32>
// PAIRS: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
// PAIRS: arith.constant dense<954437177> : vector<8xi32>
// PAIRS: arith.shrsi
module attributes {ingot.strict} {
  func.func @four(%x: tensor<1x64x28x28xui8>) -> tensor<1x64x28x28xi32> {
    %w = onnx.Constant dense<3> : tensor<64x64x3x3xi8>
    %none = onnx.None : none
    %0 = formats.Int8Conv %x, %w, %none {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x64x28x28xui8>, tensor<64x64x3x3xi8>, none) -> tensor<1x64x28x28xi32>
    return %0 : tensor<1x64x28x28xi32>
  }
}

// -----

// Sums of 120 * 9 * 9 * 255 and of 120 * 9 * 127 * 255: the latter are up to 35 million, and 576 times as much is not known modulo 2^32. F(2x2) has 16 components. Equal kernels but for that are two.
// CHECK-LABEL: func.func @two
// PAIRS: plan.launch {{.*}} tensor<552960xi8>
// PAIRS: plan.launch {{.*}} tensor<245760xi8>
func.func @two(%x: tensor<1x120x28x28xui8>) -> (tensor<1x64x28x28xi32>, tensor<1x64x28x28xi32>) {
  %v = onnx.Constant dense<9> : tensor<64x120x3x3xi8>
  %w = onnx.Constant dense<127> : tensor<64x120x3x3xi8>
  %none = onnx.None : none
  %0 = formats.Int8Conv %x, %v, %none {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x120x28x28xui8>, tensor<64x120x3x3xi8>, none) -> tensor<1x64x28x28xi32>
  %1 = formats.Int8Conv %x, %w, %none {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x120x28x28xui8>, tensor<64x120x3x3xi8>, none) -> tensor<1x64x28x28xi32>
  return %0, %1 : tensor<1x64x28x28xi32>, tensor<1x64x28x28xi32>
}

// -----

// Each channel by itself: of two rows of outputs, nine taps of each are three dot products of four rows, or six pairs.
// CHECK-LABEL: func.func private @depthwiseconv_
// QUADS-SAME: memref<384xi8>
// PAIRS-SAME: memref<768xi8>
// QUADS: vector.shuffle {{.*}} : vector<32xi8>, vector<32xi8>
// QUADS: vpdpbusd.512
// PAIRS: vector.shuffle {{.*}} : vector<8xi8>, vector<8xi8>
// PAIRS: arith.extui {{.*}} : vector<16xi8> to vector<16xi16>
// NONE: arith.muli {{.*}} : vector<4xi32>
func.func @depthwise(%x: tensor<1x16x6x6xui8>) -> tensor<1x16x6x6xi32> {
  %w = onnx.Constant dense<3> : tensor<16x1x3x3xi8>
  %none = onnx.None : none
  %0 = formats.Int8Conv %x, %w, %none {group = 16 : i64, pads = array<i64: 1, 1, 1, 1>, padding = 7 : i64} : (tensor<1x16x6x6xui8>, tensor<16x1x3x3xi8>, none) -> tensor<1x16x6x6xi32>
  return %0 : tensor<1x16x6x6xi32>
}
