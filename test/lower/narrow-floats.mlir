// Narrow floats are integers in memory and float32 in registers: loads widen, stores round. Strict accuracy rounds behind each op.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func private @elementwise_
// CHECK-SAME: memref<64xi16>, %{{.*}}: memref<64xi16>
// CHECK: [[CODE:%.*]] = vector.load %arg0{{.*}} : memref<64xi16>, vector<8xi16>
// CHECK: [[HALF:%.*]] = arith.bitcast [[CODE]] : vector<8xi16> to vector<8xf16>
// CHECK: [[X:%.*]] = arith.extf [[HALF]] : vector<8xf16> to vector<8xf32>
// CHECK: [[SUM:%.*]] = arith.addf [[X]], [[X]]
// CHECK-NOT: arith.truncf
// CHECK: [[Y:%.*]] = arith.mulf [[SUM]], [[SUM]]
// CHECK: arith.truncf [[Y]] : vector<8xf32> to vector<8xf16>
// CHECK: vector.store {{.*}} : memref<64xi16>, vector<8xi16>
func.func @half(%x: tensor<64xf16>) -> tensor<64xf16> {
  %0 = onnx.Add %x, %x : (tensor<64xf16>, tensor<64xf16>) -> tensor<64xf16>
  %1 = onnx.Mul %0, %0 : (tensor<64xf16>, tensor<64xf16>) -> tensor<64xf16>
  return %1 : tensor<64xf16>
}

// -----

module attributes {ingot.strict} {
// CHECK-LABEL: func.func private @elementwise_
// CHECK: [[SUM:%.*]] = arith.addf
// CHECK: arith.truncf [[SUM]] : vector<8xf32> to vector<8xbf16>
// CHECK: arith.mulf
func.func @strict(%x: tensor<64xbf16>) -> tensor<64xbf16> {
  %0 = onnx.Add %x, %x : (tensor<64xbf16>, tensor<64xbf16>) -> tensor<64xbf16>
  %1 = onnx.Mul %0, %0 : (tensor<64xbf16>, tensor<64xbf16>) -> tensor<64xbf16>
  return %1 : tensor<64xbf16>
}
}

// -----

// What is only moved stays as it is.
// CHECK-LABEL: func.func private @
// CHECK-NOT: arith.truncf
// CHECK: return
func.func @moved(%x: tensor<3x5xf8E4M3FN>) -> tensor<5x3xf8E4M3FN> {
  %0 = onnx.Transpose %x {perm = array<i64: 1, 0>} : (tensor<3x5xf8E4M3FN>) -> tensor<5x3xf8E4M3FN>
  return %0 : tensor<5x3xf8E4M3FN>
}

// -----

// A convolution widens a block of a tile's pixels as vectors, into a small array that its steps broadcast from.
// CHECK-LABEL: func.func private @conv_
// CHECK: memref.alloca() {{.*}} : memref<48xf32>
// CHECK: arith.extf {{.*}} : vector<8xf16> to vector<8xf32>
// CHECK: vector.store {{.*}} : memref<48xf32>, vector<8xf32>
// CHECK-NOT: arith.extf {{.*}} : f16 to f32
// CHECK: vector.fma
// CHECK: return
func.func @block(%x: tensor<1x16x24x24xf16>) -> tensor<1x16x24x24xf16> {
  %w = onnx.Constant dense<0.5> : tensor<16x16x1x1xf16>
  %b = "onnx.None"() : () -> none
  %0 = "onnx.Conv"(%x, %w, %b) : (tensor<1x16x24x24xf16>, tensor<16x16x1x1xf16>, none) -> tensor<1x16x24x24xf16>
  return %0 : tensor<1x16x24x24xf16>
}
