// A function of sums of which bytes are left is lines of int16 with AVX-512, parabolas without, for four registers of neighbouring pixels and for one; not where steps are small.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=cascadelake --layout-assign=target=cascadelake --lower-kernels=target=cascadelake --split-input-file %s | FileCheck %s --check-prefixes=CHECK,V4
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s --check-prefixes=CHECK,V3

// Rows of five pixels: four and one of them. The scale of the sums has the unit of the lines in it, and so has the bias.
// CHECK-LABEL: func.func private @int8conv_
// V4: %[[SUMMAND:.*]] = vector.fma %{{.*}}, %[[UNIT:.*]], %{{.*}} : vector<16xf32>
// V4: %[[FACTOR:.*]] = arith.mulf %{{.*}}, %[[UNIT]] : vector<16xf32>
// V4: %[[PLACE:.*]] = vector.fma %{{.*}}, %[[FACTOR]], %[[SUMMAND]] : vector<16xf32>
// V4-NOT: arith.cmpf
// V4: math.roundeven %[[PLACE]]
// V4: %[[WORDS:.*]] = llvm.call_intrinsic "llvm.x86.avx512.packssdw.512"
// V4: %[[PART:.*]] = arith.shrsi %[[WORDS]], %{{.*}} : vector<32xi16>
// V4: %[[SLOPE:.*]] = llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.hi.512"(%{{.*}}, %[[PART]], %{{.*}})
// V4: %[[RISE:.*]] = llvm.call_intrinsic "llvm.x86.avx512.pmul.hr.sw.512"(%[[WORDS]], %[[SLOPE]])
// V4: %[[OFFSET:.*]] = llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.hi.512"(%{{.*}}, %[[PART]], %{{.*}})
// V4: %[[LINE:.*]] = llvm.intr.sadd.sat(%[[RISE]], %[[OFFSET]])
// V4: %[[BYTES:.*]] = arith.shrsi %[[LINE]], %{{.*}} : vector<32xi16>
// V4: llvm.call_intrinsic "llvm.x86.avx512.packuswb.512"(%[[BYTES]], %{{.*}})
// V4: vector.store {{.*}} vector<64xi8>
// V4: %[[ONE:.*]] = llvm.call_intrinsic "llvm.x86.avx512.packuswb.512"
// V4: vector.extract_strided_slice {{.*}} : vector<32xi8> to vector<16xi8>
// V4: vector.store {{.*}} vector<16xi8>
// V3: %[[WORDS:.*]] = llvm.call_intrinsic "llvm.x86.avx2.packssdw"
// V3: arith.shrui %[[WORDS]]
// V3: arith.shrui %[[WORDS]]
// V3: %[[PLACES:.*]] = arith.shli %[[WORDS]]
// V3: %[[PLACE:.*]] = arith.xori %[[PLACES]]
// V3: llvm.call_intrinsic "llvm.x86.avx2.pshuf.b"
// V3: %[[BEND:.*]] = llvm.call_intrinsic "llvm.x86.avx2.pmul.hr.sw"
// V3-COUNT-2: llvm.call_intrinsic "llvm.x86.avx2.pshuf.b"
// V3: %[[SLOPE:.*]] = arith.addi %[[BEND]]
// V3: llvm.call_intrinsic "llvm.x86.avx2.pmul.hr.sw"(%[[PLACE]], %[[SLOPE]])
// V3-COUNT-2: llvm.call_intrinsic "llvm.x86.avx2.pshuf.b"
// V3: llvm.intr.sadd.sat
// V3: llvm.call_intrinsic "llvm.x86.avx2.packuswb"
module {
  func.func @silu(%x: tensor<1x16x1x5xui8>) -> tensor<1x16x1x5xui8> {
    %w = onnx.Constant dense<3> : tensor<16x16x1x1xi8>
    %none = onnx.None : none
    %factor = onnx.Constant dense<0.001> : tensor<16x1x1xf32>
    %bias = onnx.Constant dense<-0.5> : tensor<16x1x1xf32>
    %inverse = onnx.Constant dense<33.0> : tensor<f32>
    %one = onnx.Constant dense<1.0> : tensor<f32>
    %z = onnx.Constant dense<9> : tensor<ui8>
    %0 = formats.Int8Conv %x, %w, %none {kernel_shape = array<i64: 1, 1>} : (tensor<1x16x1x5xui8>, tensor<16x16x1x1xi8>, none) -> tensor<1x16x1x5xi32>
    %1 = onnx.Cast %0 {to = 1 : i64} : (tensor<1x16x1x5xi32>) -> tensor<1x16x1x5xf32>
    %2 = onnx.Mul %1, %factor : (tensor<1x16x1x5xf32>, tensor<16x1x1xf32>) -> tensor<1x16x1x5xf32>
    %3 = onnx.Add %2, %bias : (tensor<1x16x1x5xf32>, tensor<16x1x1xf32>) -> tensor<1x16x1x5xf32>
    %4 = onnx.Swish %3 {alpha = 1.0 : f32, ingot.only_bytes = 1.0e5 : f64} : (tensor<1x16x1x5xf32>) -> tensor<1x16x1x5xf32>
    %5 = onnx.Mul %4, %inverse : (tensor<1x16x1x5xf32>, tensor<f32>) -> tensor<1x16x1x5xf32>
    %6 = onnx.Quantize %5, %one, %z {to = 2 : i64, bounded} : (tensor<1x16x1x5xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x16x1x5xui8>
    return %6 : tensor<1x16x1x5xui8>
  }
}

// -----

// What may be too large for an int32 is cut.
// CHECK-LABEL: func.func private @int8conv_
// V4: %[[PLACE:.*]] = vector.fma {{.*}} : vector<16xf32>
// V4: arith.cmpf olt, %[[PLACE]], %{{.*}} : vector<16xf32>
// V4: %[[CUT:.*]] = arith.select
// V4: arith.cmpf olt, %{{.*}}, %[[CUT]]
// V4: %[[CUT:.*]] = arith.select
// V4: math.roundeven %[[CUT]]
// V4: llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.hi.512"
module {
  func.func @gelu(%x: tensor<1x16x4x4xui8>) -> tensor<1x16x4x4xi8> {
    %w = onnx.Constant dense<3> : tensor<16x16x1x1xi8>
    %none = onnx.None : none
    %inverse = onnx.Constant dense<60.0> : tensor<f32>
    %one = onnx.Constant dense<1.0> : tensor<f32>
    %z = onnx.Constant dense<-119> : tensor<i8>
    %0 = formats.Int8Conv %x, %w, %none {kernel_shape = array<i64: 1, 1>} : (tensor<1x16x4x4xui8>, tensor<16x16x1x1xi8>, none) -> tensor<1x16x4x4xi32>
    %1 = onnx.Cast %0 {to = 1 : i64} : (tensor<1x16x4x4xi32>) -> tensor<1x16x4x4xf32>
    %f = onnx.Constant dense<0.001> : tensor<f32>
    %s = onnx.Mul %1, %f : (tensor<1x16x4x4xf32>, tensor<f32>) -> tensor<1x16x4x4xf32>
    %2 = onnx.Gelu %s {ingot.only_bytes = 1.0e6 : f64} : (tensor<1x16x4x4xf32>) -> tensor<1x16x4x4xf32>
    %3 = onnx.Mul %2, %inverse : (tensor<1x16x4x4xf32>, tensor<f32>) -> tensor<1x16x4x4xf32>
    %4 = onnx.Quantize %3, %one, %z {to = 3 : i64, bounded} : (tensor<1x16x4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x16x4x4xi8>
    return %4 : tensor<1x16x4x4xi8>
  }
}

// -----

// Steps that are too small for lines, and then a parabola.
// CHECK-LABEL: func.func private @int8conv_
// CHECK-NOT: {{vpermi2var.hi|pshuf.b}}
// CHECK: math.exp
module {
  func.func @fine(%x: tensor<1x16x4x4xui8>) -> tensor<1x16x4x4xui8> {
    %w = onnx.Constant dense<3> : tensor<16x16x1x1xi8>
    %none = onnx.None : none
    %inverse = onnx.Constant dense<1000.0> : tensor<f32>
    %one = onnx.Constant dense<1.0> : tensor<f32>
    %z = onnx.Constant dense<9> : tensor<ui8>
    %0 = formats.Int8Conv %x, %w, %none {kernel_shape = array<i64: 1, 1>} : (tensor<1x16x4x4xui8>, tensor<16x16x1x1xi8>, none) -> tensor<1x16x4x4xi32>
    %1 = onnx.Cast %0 {to = 1 : i64} : (tensor<1x16x4x4xi32>) -> tensor<1x16x4x4xf32>
    %2 = onnx.Swish %1 {alpha = 1.0 : f32, ingot.only_bytes = 1.0e5 : f64} : (tensor<1x16x4x4xf32>) -> tensor<1x16x4x4xf32>
    %3 = onnx.Mul %2, %inverse : (tensor<1x16x4x4xf32>, tensor<f32>) -> tensor<1x16x4x4xf32>
    %4 = onnx.Quantize %3, %one, %z {to = 2 : i64, bounded} : (tensor<1x16x4x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x16x4x4xui8>
    return %4 : tensor<1x16x4x4xui8>
  }
}
