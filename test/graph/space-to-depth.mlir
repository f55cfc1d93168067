// Both orders of SpaceToDepth, on a constant of two channels: the block's position before the channel (DCR) or behind it (CRD).
// RUN: %ingot-opt --graph-simplify --split-input-file %s | FileCheck %s

// CHECK-LABEL: @depthFirst
// CHECK{LITERAL}: dense<[[[[0.000000e+00]], [[4.000000e+00]], [[1.000000e+00]], [[5.000000e+00]], [[2.000000e+00]], [[6.000000e+00]], [[3.000000e+00]], [[7.000000e+00]]]]>
func.func @depthFirst() -> tensor<1x8x1x1xf32> {
  %x = onnx.Constant dense<[[[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0], [6.0, 7.0]]]]> : tensor<1x2x2x2xf32>
  %y = onnx.SpaceToDepth %x {blocksize = 2 : i64} : (tensor<1x2x2x2xf32>) -> tensor<1x8x1x1xf32>
  return %y : tensor<1x8x1x1xf32>
}

// -----

// CHECK-LABEL: @channelFirst
// CHECK{LITERAL}: dense<[[[[0.000000e+00]], [[1.000000e+00]], [[2.000000e+00]], [[3.000000e+00]], [[4.000000e+00]], [[5.000000e+00]], [[6.000000e+00]], [[7.000000e+00]]]]>
func.func @channelFirst() -> tensor<1x8x1x1xf32> {
  %x = onnx.Constant dense<[[[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0], [6.0, 7.0]]]]> : tensor<1x2x2x2xf32>
  %y = onnx.SpaceToDepth %x {blocksize = 2 : i64, mode = "CRD"} : (tensor<1x2x2x2xf32>) -> tensor<1x8x1x1xf32>
  return %y : tensor<1x8x1x1xf32>
}
