// Sums that become bytes: four registers of neighbouring pixels are packed, two of a row's end, with the zero point added to int16; what is not saturated, or has nothing to be packed with, is narrowed by itself.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=cascadelake --layout-assign=target=cascadelake --lower-kernels=target=cascadelake --split-input-file %s | FileCheck %s --check-prefixes=CHECK,V4
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s --check-prefixes=CHECK,V3
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=armv8-a --layout-assign=target=armv8-a --lower-kernels=target=armv8-a --split-input-file %s | FileCheck %s --check-prefixes=CHECK,ARM

// Rows of six pixels: four and two of them.
// CHECK-LABEL: func.func private @int8conv_
// V4: %[[FIRST:.*]] = llvm.call_intrinsic "llvm.x86.avx512.packssdw.512"({{.*}}) : (vector<16xi32>, vector<16xi32>) -> vector<32xi16>
// V4: %[[ZERO:.*]] = arith.constant dense<200> : vector<32xi16>
// V4: %[[WORDS:.*]] = llvm.intr.sadd.sat(%[[FIRST]], %[[ZERO]])
// V4: %[[SECOND:.*]] = llvm.call_intrinsic "llvm.x86.avx512.packssdw.512"
// V4: %[[OTHERS:.*]] = llvm.intr.sadd.sat(%[[SECOND]]
// V4: llvm.call_intrinsic "llvm.x86.avx512.packuswb.512"(%[[WORDS]], %[[OTHERS]])
// V4: vector.shuffle {{.*}} [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15] : vector<16xi32>, vector<16xi32>
// V4: vector.store {{.*}} vector<64xi8>
// V4: %[[PAIR:.*]] = llvm.intr.sadd.sat
// V4: llvm.call_intrinsic "llvm.x86.avx512.packuswb.512"(%[[PAIR]], %[[PAIR]])
// V4: vector.shuffle {{.*}} [0, 4, 8, 12, 1, 5, 9, 13] : vector<16xi32>, vector<16xi32>
// V4: vector.store {{.*}} vector<32xi8>
// ARM-NOT: llvm.x86
// ARM: arith.trunci
module {
  func.func @unsigned(%x: tensor<1x16x1x6xui8>) -> tensor<1x16x1x6xui8> {
    %w = onnx.Constant dense<3> : tensor<16x16x1x1xi8>
    %none = onnx.None : none
    %factor = onnx.Constant dense<0.25> : tensor<f32>
    %one = onnx.Constant dense<1.0> : tensor<f32>
    %z = onnx.Constant dense<200> : tensor<ui8>
    %0 = formats.Int8Conv %x, %w, %none {kernel_shape = array<i64: 1, 1>} : (tensor<1x16x1x6xui8>, tensor<16x16x1x1xi8>, none) -> tensor<1x16x1x6xi32>
    %1 = onnx.Cast %0 {to = 1 : i64} : (tensor<1x16x1x6xi32>) -> tensor<1x16x1x6xf32>
    %2 = onnx.Mul %1, %factor : (tensor<1x16x1x6xf32>, tensor<f32>) -> tensor<1x16x1x6xf32>
    %3 = onnx.Quantize %2, %one, %z {to = 2 : i64, bounded} : (tensor<1x16x1x6xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x16x1x6xui8>
    return %3 : tensor<1x16x1x6xui8>
  }
}

// -----

// Signed bytes, and no zero point.
// CHECK-LABEL: func.func private @int8conv_
// V4-NOT: sadd.sat
// V4: llvm.call_intrinsic "llvm.x86.avx512.packsswb.512"
// V3: llvm.call_intrinsic "llvm.x86.avx2.packsswb"
// V3: vector.shuffle {{.*}} [0, 4, 1, 5, 2, 6, 3, 7] : vector<8xi32>, vector<8xi32>
// V3: vector.store {{.*}} vector<32xi8>
module {
  func.func @signed(%x: tensor<1x16x4x4xui8>) -> tensor<1x16x4x4xi8> {
    %w = onnx.Constant dense<3> : tensor<16x16x1x1xi8>
    %none = onnx.None : none
    %one = onnx.Constant dense<1.0> : tensor<f32>
    %z = onnx.Constant dense<0> : tensor<i8>
    %0 = formats.Int8Conv %x, %w, %none {kernel_shape = array<i64: 1, 1>} : (tensor<1x16x4x4xui8>, tensor<16x16x1x1xi8>, none) -> tensor<1x16x4x4xi32>
    %1 = onnx.Cast %0 {to = 1 : i64} : (tensor<1x16x4x4xi32>) -> tensor<1x16x4x4xf32>
    %2 = onnx.Quantize %1, %one, %z {to = 3 : i64, bounded} : (tensor<1x16x4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x16x4x4xi8>
    return %2 : tensor<1x16x4x4xi8>
  }
}

// -----

// A bound of bytes behind them, which are then not what saturates.
// CHECK-LABEL: func.func private @int8conv_
// CHECK-NOT: llvm.x86{{.*}}.pack
// CHECK: arith.maxui {{.*}} : vector<{{[0-9]+}}xi8>
module {
  func.func @bounded(%x: tensor<1x16x4x4xui8>) -> tensor<1x16x4x4xui8> {
    %w = onnx.Constant dense<3> : tensor<16x16x1x1xi8>
    %none = onnx.None : none
    %one = onnx.Constant dense<1.0> : tensor<f32>
    %z = onnx.Constant dense<7> : tensor<ui8>
    %0 = formats.Int8Conv %x, %w, %none {kernel_shape = array<i64: 1, 1>} : (tensor<1x16x4x4xui8>, tensor<16x16x1x1xi8>, none) -> tensor<1x16x4x4xi32>
    %1 = onnx.Cast %0 {to = 1 : i64} : (tensor<1x16x4x4xi32>) -> tensor<1x16x4x4xf32>
    %2 = onnx.Quantize %1, %one, %z {to = 2 : i64, bounded} : (tensor<1x16x4x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x16x4x4xui8>
    %3 = onnx.Clip %2, %z, %none : (tensor<1x16x4x4xui8>, tensor<ui8>, none) -> tensor<1x16x4x4xui8>
    return %3 : tensor<1x16x4x4xui8>
  }
}

// -----

// Bytes that the next convolution reads as int16 (integer/Int16Factors.h): two registers of them, cut as int16.
// CHECK-LABEL: func.func private @int8conv_
// V3: %[[WORDS:.*]] = llvm.call_intrinsic "llvm.x86.avx2.packssdw"
// V3: %[[SUM:.*]] = llvm.intr.sadd.sat(%[[WORDS]]
// V3: %[[ABOVE:.*]] = arith.maxsi %[[SUM]]
// V3: %[[CUT:.*]] = arith.minsi %[[ABOVE]]
// V3: vector.bitcast %[[CUT]] : vector<16xi16> to vector<4xi64>
// V3: vector.shuffle {{.*}} [0, 2, 1, 3] : vector<4xi64>, vector<4xi64>
// V3: vector.store {{.*}} vector<16xi16>
// ARM-NOT: llvm.x86
module {
  func.func @words(%x: tensor<1x16x4x4xui8>) -> tensor<1x16x4x4xi16> {
    %w = onnx.Constant dense<3> : tensor<16x16x1x1xi8>
    %none = onnx.None : none
    %one = onnx.Constant dense<1.0> : tensor<f32>
    %z = onnx.Constant dense<7> : tensor<ui8>
    %0 = formats.Int8Conv %x, %w, %none {kernel_shape = array<i64: 1, 1>} : (tensor<1x16x4x4xui8>, tensor<16x16x1x1xi8>, none) -> tensor<1x16x4x4xi32>
    %1 = onnx.Cast %0 {to = 1 : i64} : (tensor<1x16x4x4xi32>) -> tensor<1x16x4x4xf32>
    %2 = onnx.Quantize %1, %one, %z {to = 2 : i64, bounded} : (tensor<1x16x4x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x16x4x4xui8>
    %3 = onnx.Cast %2 {to = 5 : i64} : (tensor<1x16x4x4xui8>) -> tensor<1x16x4x4xi16>
    return %3 : tensor<1x16x4x4xi16>
  }
}
