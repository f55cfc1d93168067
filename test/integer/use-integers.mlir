// Products and convolutions of dequantized tensors are sums of integers with one factor; saturation does what Relu did.
// RUN: %ingot-opt --integer-use-integers --split-input-file %s | FileCheck %s

// CHECK-LABEL: @product
// CHECK: %[[SUMS:.*]] = onnx.MatMulInteger %arg0, %{{.*}} : (tensor<2x8xui8>, tensor<8x3xi8>, tensor<ui8>, tensor<i8>)
// CHECK: %[[FLOATS:.*]] = onnx.Cast %[[SUMS]] {to = 1 : i64}
// CHECK: %[[FACTOR:.*]] = onnx.Constant dense<1.250000e-01> : tensor<f32>
// CHECK: %[[X:.*]] = onnx.Mul %[[FLOATS]], %[[FACTOR]]
// CHECK: %[[ONE:.*]] = onnx.Constant dense<1.000000e+00> : tensor<f32>
// CHECK: onnx.Quantize %[[X]], %[[ONE]]
// CHECK-NOT: onnx.Dequantize
func.func @product(%x: tensor<2x8xui8>) -> tensor<2x3xui8> {
  %w = onnx.Constant dense<3> : tensor<8x3xi8>
  %s = onnx.Constant dense<0.25> : tensor<f32>
  %z = onnx.Constant dense<7> : tensor<ui8>
  %zw = onnx.Constant dense<0> : tensor<i8>
  %zero = onnx.Constant dense<0> : tensor<ui8>
  %half = onnx.Constant dense<0.5> : tensor<f32>
  %0 = onnx.Dequantize %x, %s, %z : (tensor<2x8xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x8xf32>
  %1 = onnx.Dequantize %w, %s, %zw : (tensor<8x3xi8>, tensor<f32>, tensor<i8>) -> tensor<8x3xf32>
  %2 = onnx.MatMul %0, %1 : (tensor<2x8xf32>, tensor<8x3xf32>) -> tensor<2x3xf32>
  %3 = onnx.Relu %2 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = onnx.Quantize %3, %half, %zero {to = 2 : i64} : (tensor<2x3xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x3xui8>
  return %4 : tensor<2x3xui8>
}

// -----

// A scale that differs along the axis of a sum is no factor of that sum: floats are multiplied.
// CHECK-LABEL: @scales_along_the_sum
// CHECK: onnx.Dequantize %arg0
// CHECK: onnx.Dequantize %{{.*}} : (tensor<8x3xi8>, tensor<8x1xf32>, tensor<i8>) -> tensor<8x3xf32>
// CHECK: onnx.MatMul %{{.*}} : (tensor<2x8xf32>, tensor<8x3xf32>) -> tensor<2x3xf32>
func.func @scales_along_the_sum(%x: tensor<2x8xui8>) -> tensor<2x3xf32> {
  %w = onnx.Constant dense<3> : tensor<8x3xi8>
  %s = onnx.Constant dense<0.25> : tensor<f32>
  %sw = onnx.Constant dense<[[0.25], [0.5], [0.25], [0.5], [0.25], [0.5], [0.25], [0.5]]> : tensor<8x1xf32>
  %z = onnx.Constant dense<7> : tensor<ui8>
  %zw = onnx.Constant dense<0> : tensor<i8>
  %0 = onnx.Dequantize %x, %s, %z : (tensor<2x8xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x8xf32>
  %1 = onnx.Dequantize %w, %sw, %zw : (tensor<8x3xi8>, tensor<8x1xf32>, tensor<i8>) -> tensor<8x3xf32>
  %2 = onnx.MatMul %0, %1 : (tensor<2x8xf32>, tensor<8x3xf32>) -> tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: @scales_of_a_filter
// CHECK: onnx.Dequantize %{{.*}} : (tensor<4x2x1x1xi8>, tensor<1x2x1x1xf32>, tensor<i8>) -> tensor<4x2x1x1xf32>
// CHECK: onnx.Conv
// CHECK-NOT: onnx.ConvInteger
func.func @scales_of_a_filter(%x: tensor<1x2x5x5xui8>) -> tensor<1x4x5x5xf32> {
  %w = onnx.Constant dense<3> : tensor<4x2x1x1xi8>
  %s = onnx.Constant dense<0.25> : tensor<f32>
  %sw = onnx.Constant dense<[[[[0.25]], [[0.5]]]]> : tensor<1x2x1x1xf32>
  %z = onnx.Constant dense<7> : tensor<ui8>
  %zw = onnx.Constant dense<0> : tensor<i8>
  %none = onnx.None : none
  %0 = onnx.Dequantize %x, %s, %z : (tensor<1x2x5x5xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x5x5xf32>
  %1 = onnx.Dequantize %w, %sw, %zw : (tensor<4x2x1x1xi8>, tensor<1x2x1x1xf32>, tensor<i8>) -> tensor<4x2x1x1xf32>
  %2 = onnx.Conv %0, %1, %none : (tensor<1x2x5x5xf32>, tensor<4x2x1x1xf32>, none) -> tensor<1x4x5x5xf32>
  return %2 : tensor<1x4x5x5xf32>
}

// -----

// Integers are moved, and what is quantized as it was is not touched.
// CHECK-LABEL: @moved
// CHECK: %[[Y:.*]] = onnx.Transpose %arg0 {perm = array<i64: 1, 0>} : (tensor<2x8xui8>) -> tensor<8x2xui8>
// CHECK-NEXT: return %[[Y]]
func.func @moved(%x: tensor<2x8xui8>) -> tensor<8x2xui8> {
  %s = onnx.Constant dense<0.25> : tensor<f32>
  %z = onnx.Constant dense<7> : tensor<ui8>
  %0 = onnx.Dequantize %x, %s, %z : (tensor<2x8xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x8xf32>
  %1 = onnx.Transpose %0 {perm = array<i64: 1, 0>} : (tensor<2x8xf32>) -> tensor<8x2xf32>
  %2 = onnx.Quantize %1, %s, %z {to = 2 : i64} : (tensor<8x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<8x2xui8>
  return %2 : tensor<8x2xui8>
}

// -----

// Another scale: a tensor of floats stays between.
// CHECK-LABEL: @rescaled
// CHECK: onnx.Dequantize
// CHECK: onnx.Quantize
func.func @rescaled(%x: tensor<8xui8>) -> tensor<8xui8> {
  %s = onnx.Constant dense<0.25> : tensor<f32>
  %half = onnx.Constant dense<0.5> : tensor<f32>
  %z = onnx.Constant dense<7> : tensor<ui8>
  %0 = onnx.Dequantize %x, %s, %z : (tensor<8xui8>, tensor<f32>, tensor<ui8>) -> tensor<8xf32>
  %1 = onnx.Quantize %0, %half, %z {to = 2 : i64} : (tensor<8xf32>, tensor<f32>, tensor<ui8>) -> tensor<8xui8>
  return %1 : tensor<8xui8>
}

// -----

// Below the zero point there are integers: the bound is one of bytes.
// CHECK-LABEL: @below
// CHECK-NOT: onnx.Relu
// CHECK: %[[BYTES:.*]] = onnx.Quantize
// CHECK: %[[ZERO:.*]] = onnx.Constant dense<7> : tensor<ui8>
// CHECK: onnx.Clip %[[BYTES]], %[[ZERO]], %{{.*}} : (tensor<8xui8>, tensor<ui8>, none) -> tensor<8xui8>
func.func @below(%x: tensor<8xf32>) -> tensor<8xui8> {
  %s = onnx.Constant dense<0.25> : tensor<f32>
  %z = onnx.Constant dense<7> : tensor<ui8>
  %0 = onnx.Relu %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = onnx.Quantize %0, %s, %z {to = 2 : i64} : (tensor<8xf32>, tensor<f32>, tensor<ui8>) -> tensor<8xui8>
  return %1 : tensor<8xui8>
}

// -----

// Of a Clip the bound at which bytes saturate is gone, and the other one is that of bytes: 1 / 0.25 - 128, beside 63.75 / 0.25 - 128.
// CHECK-LABEL: @clipped
// CHECK-NOT: onnx.Clip
// CHECK: %[[BYTES:.*]] = onnx.Quantize
// CHECK: %[[LEAST:.*]] = onnx.Constant dense<-124> : tensor<i8>
// CHECK: onnx.Clip %[[BYTES]], %[[LEAST]], %{{.*}} : (tensor<8xi8>, tensor<i8>, none) -> tensor<8xi8>
func.func @clipped(%x: tensor<8xf32>) -> tensor<8xi8> {
  %s = onnx.Constant dense<0.25> : tensor<f32>
  %z = onnx.Constant dense<-128> : tensor<i8>
  %least = onnx.Constant dense<1.0> : tensor<f32>
  %most = onnx.Constant dense<63.75> : tensor<f32>
  %0 = onnx.Clip %x, %least, %most : (tensor<8xf32>, tensor<f32>, tensor<f32>) -> tensor<8xf32>
  %1 = onnx.Quantize %0, %s, %z {to = 3 : i64} : (tensor<8xf32>, tensor<f32>, tensor<i8>) -> tensor<8xi8>
  return %1 : tensor<8xi8>
}

// -----

// A bound that is no number, or of a scale that is none, stays what it is.
// CHECK-LABEL: @unknown
// CHECK-COUNT-2: onnx.Clip {{.*}} -> tensor<8xf32>
func.func @unknown(%x: tensor<8xf32>, %s: tensor<f32>, %most: tensor<f32>) -> (tensor<8xui8>, tensor<8xui8>) {
  %half = onnx.Constant dense<0.5> : tensor<f32>
  %z = onnx.Constant dense<0> : tensor<ui8>
  %six = onnx.Constant dense<6.0> : tensor<f32>
  %none = onnx.None : none
  %0 = onnx.Clip %x, %none, %six : (tensor<8xf32>, none, tensor<f32>) -> tensor<8xf32>
  %1 = onnx.Quantize %0, %s, %z {to = 2 : i64} : (tensor<8xf32>, tensor<f32>, tensor<ui8>) -> tensor<8xui8>
  %2 = onnx.Clip %x, %none, %most : (tensor<8xf32>, none, tensor<f32>) -> tensor<8xf32>
  %3 = onnx.Quantize %2, %half, %z {to = 2 : i64} : (tensor<8xf32>, tensor<f32>, tensor<ui8>) -> tensor<8xui8>
  return %1, %3 : tensor<8xui8>, tensor<8xui8>
}

// -----

// x * sigmoid(x) between two factors: a Swish behind one.
// CHECK-LABEL: @swish
// CHECK-DAG: %[[FACTOR:.*]] = onnx.Constant dense<2.500000e+00>
// CHECK: %[[SCALED:.*]] = onnx.Mul %{{.*}}, %[[FACTOR]]
// CHECK: %[[SWISH:.*]] = onnx.Swish %[[SCALED]] {alpha = 2.000000e-01 : f32{{.*}}}
// CHECK: onnx.Quantize %[[SWISH]]
func.func @swish(%x: tensor<8xf32>) -> tensor<8xui8> {
  %half = onnx.Constant dense<0.5> : tensor<f32>
  %s = onnx.Constant dense<0.2> : tensor<f32>
  %z = onnx.Constant dense<3> : tensor<ui8>
  %0 = onnx.Mul %x, %half : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = onnx.Sigmoid %0 : (tensor<8xf32>) -> tensor<8xf32>
  %2 = onnx.Mul %0, %1 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %3 = onnx.Quantize %2, %s, %z {to = 2 : i64} : (tensor<8xf32>, tensor<f32>, tensor<ui8>) -> tensor<8xui8>
  return %3 : tensor<8xui8>
}

// -----

// Blocks across the columns, and blocks that no kernel reads, are dequantized while compiling.
// CHECK-LABEL: @other_blocks
// CHECK: onnx.DequantizeLinear
// CHECK: onnx.MatMul
// CHECK: onnx.DequantizeLinear
// CHECK: onnx.MatMul
func.func @other_blocks(%x: tensor<1x64xf32>) -> (tensor<1x32xf32>, tensor<1x32xf32>) {
  %w = onnx.Constant dense<3> : tensor<64x32xi4>
  %s = onnx.Constant dense<0.25> : tensor<64x2xf32>
  %t = onnx.Constant dense<0.25> : tensor<8x32xf32>
  %none = onnx.None : none
  %0 = onnx.DequantizeLinear %w, %s, %none {axis = 1 : i64, block_size = 16 : i64} : (tensor<64x32xi4>, tensor<64x2xf32>, none) -> tensor<64x32xf32>
  %1 = onnx.MatMul %x, %0 : (tensor<1x64xf32>, tensor<64x32xf32>) -> tensor<1x32xf32>
  %2 = onnx.DequantizeLinear %w, %t, %none {axis = 0 : i64, block_size = 8 : i64} : (tensor<64x32xi4>, tensor<8x32xf32>, none) -> tensor<64x32xf32>
  %3 = onnx.MatMul %x, %2 : (tensor<1x64xf32>, tensor<64x32xf32>) -> tensor<1x32xf32>
  return %1, %3 : tensor<1x32xf32>, tensor<1x32xf32>
}

// -----

// Of a table the rows that are taken are dequantized; the lower half of each byte has the first half of a row.
// CHECK-LABEL: @table
// CHECK: %[[BYTES:.*]] = onnx.Gather %{{.*}}, %arg0 : (tensor<9x32xui8>, tensor<2xi64>) -> tensor<2x32xui8>
// CHECK: onnx.BitwiseAnd %[[BYTES]]
// CHECK: onnx.BitShift %[[BYTES]]
// CHECK: onnx.Dequantize {{.*}} -> tensor<2x2x32xf32>
func.func @table(%i: tensor<2xi64>) -> tensor<2x64xf32> {
  %w = onnx.Constant dense<-5> : tensor<9x64xi4>
  %s = onnx.Constant dense<0.25> : tensor<9x2xf32>
  %none = onnx.None : none
  %0 = onnx.DequantizeLinear %w, %s, %none {axis = 1 : i64, block_size = 32 : i64} : (tensor<9x64xi4>, tensor<9x2xf32>, none) -> tensor<9x64xf32>
  %1 = onnx.Gather %0, %i : (tensor<9x64xf32>, tensor<2xi64>) -> tensor<2x64xf32>
  return %1 : tensor<2x64xf32>
}
