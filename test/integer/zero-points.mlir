// A zero point of weights needs the sums of all windows: of the channels of each pixel first, and of the pixels as floats, whose number is small. Around the
// image lies the zero point 3, so that a pixel there adds up to 6.
// RUN: %ingot-opt --graph-simplify %s | FileCheck %s

// CHECK-LABEL: @windows
// CHECK: formats.Int8Conv {{.*}} {{.*}}padding = 3{{.*}}tensor<4x2x3x3xi8>
// CHECK: formats.Int8Conv {{.*}} tensor<1x2x1x1xi8>
// CHECK: onnx.Conv {{.*}}pads = array<i64: 1, 1, 1, 1>{{.*}} tensor<1x1x3x3xf32>
func.func @windows(%x: tensor<1x2x5x5xui8>) -> tensor<1x4x5x5xi32> {
  %w = onnx.Constant dense<7> : tensor<4x2x3x3xui8>
  %xz = onnx.Constant dense<3> : tensor<ui8>
  %wz = onnx.Constant dense<9> : tensor<ui8>
  %0 = onnx.ConvInteger %x, %w, %xz, %wz {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x2x5x5xui8>, tensor<4x2x3x3xui8>, tensor<ui8>, tensor<ui8>) -> tensor<1x4x5x5xi32>
  return %0 : tensor<1x4x5x5xi32>
}
