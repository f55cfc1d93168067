// How large numbers may be, by what made them: what is quantized below 2^30 steps needs no check, and functions of sums of
// integers of which only bytes are left are marked with the bound of their operand.
// RUN: %ingot-opt --integer-choose-forms=target=x86-64-v3 --split-input-file %s | FileCheck %s

// Sums of int32 are below 2^32, the scale is 2^-10.
// CHECK-LABEL: func.func @sigmoid_of_sums
// CHECK: onnx.Sigmoid {{.*}}ingot.only_bytes = 0x4150000000000000 : f64
// CHECK: onnx.Quantize {{.*}}bounded
func.func @sigmoid_of_sums(%x: tensor<2x3xi32>) -> tensor<2x3xui8> {
  %factor = onnx.Constant dense<9.765625e-04> : tensor<f32>
  %scale = onnx.Constant dense<0.00390625> : tensor<f32>
  %zero = onnx.Constant dense<0> : tensor<ui8>
  %0 = onnx.Cast %x {to = 1 : i64} : (tensor<2x3xi32>) -> tensor<2x3xf32>
  %1 = onnx.Mul %0, %factor : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %2 = onnx.Sigmoid %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = onnx.Quantize %2, %scale, %zero {to = 2 : i64} : (tensor<2x3xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x3xui8>
  return %3 : tensor<2x3xui8>
}

// -----

// In steps of 2^-9 an error of 2.25e-4 is more than a sixteenth of one.
// CHECK-LABEL: func.func @fine_steps
// CHECK: onnx.Sigmoid
// CHECK-NOT: only_bytes
// CHECK: onnx.Quantize {{.*}}bounded
func.func @fine_steps(%x: tensor<2x3xi32>) -> tensor<2x3xui8> {
  %factor = onnx.Constant dense<9.765625e-04> : tensor<f32>
  %scale = onnx.Constant dense<0.001953125> : tensor<f32>
  %zero = onnx.Constant dense<0> : tensor<ui8>
  %0 = onnx.Cast %x {to = 1 : i64} : (tensor<2x3xi32>) -> tensor<2x3xf32>
  %1 = onnx.Mul %0, %factor : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %2 = onnx.Sigmoid %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = onnx.Quantize %2, %scale, %zero {to = 2 : i64} : (tensor<2x3xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x3xui8>
  return %3 : tensor<2x3xui8>
}

// -----

// A sum and a Relu of dequantized bytes keep their bounds; an exponential has none.
// CHECK-LABEL: func.func @sums_of_bytes
// CHECK: onnx.Quantize {{.*}}bounded
// CHECK: onnx.Exp
// CHECK: onnx.Quantize
// CHECK-NOT: bounded
// CHECK: return
func.func @sums_of_bytes(%x: tensor<2x3xi8>) -> (tensor<2x3xui8>, tensor<2x3xui8>) {
  %one = onnx.Constant dense<1.0> : tensor<f32>
  %scale = onnx.Constant dense<0.5> : tensor<f32>
  %zero = onnx.Constant dense<0> : tensor<i8>
  %none = onnx.Constant dense<0> : tensor<ui8>
  %0 = onnx.Dequantize %x, %scale, %zero : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
  %1 = onnx.Add %0, %one : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %2 = onnx.Relu %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = onnx.Quantize %2, %scale, %none {to = 2 : i64} : (tensor<2x3xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x3xui8>
  %4 = onnx.Exp %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = onnx.Quantize %4, %scale, %none {to = 2 : i64} : (tensor<2x3xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x3xui8>
  return %3, %5 : tensor<2x3xui8>, tensor<2x3xui8>
}
