// Ops that the compiler makes for its kernels: what their attributes must be.
// RUN: %ingot-opt %s --split-input-file --verify-diagnostics

func.func @order(%x: tensor<1x5x24xf32>) -> tensor<1x2x5x4xf32> {
  // expected-error@+1 {{needs a product of two axes or more, and an order of them}}
  %0 = onnx.Attend %x, %x, %x {perm = array<i64: 0, 1, 2>, valueWidth = 4 : i64, walkK = #onnx.strided<<8>, <0, 4, 24, 1>>, walkQ = #onnx.strided<<0>, <0, 4, 24, 1>>, walkV = #onnx.strided<<16>, <0, 4, 24, 1>>, width = 4 : i64} : (tensor<1x5x24xf32>, tensor<1x5x24xf32>, tensor<1x5x24xf32>) -> tensor<1x2x5x4xf32> {
  ^bb0(%a: tensor<1x2x5x5xf32>):
    onnx.Score %a : tensor<1x2x5x5xf32>
  }
  return %0 : tensor<1x2x5x4xf32>
}

// -----

func.func @walk(%x: tensor<1x5x24xf32>) -> tensor<1x2x5x4xf32> {
  // expected-error@+1 {{has a walk of 3 strides, expected 4}}
  %0 = onnx.Attend %x, %x, %x {perm = array<i64: 0, 1, 2, 3>, valueWidth = 4 : i64, walkK = #onnx.strided<<8>, <0, 4, 24>>, walkQ = #onnx.strided<<0>, <0, 4, 24, 1>>, walkV = #onnx.strided<<16>, <0, 4, 24, 1>>, width = 4 : i64} : (tensor<1x5x24xf32>, tensor<1x5x24xf32>, tensor<1x5x24xf32>) -> tensor<1x2x5x4xf32> {
  ^bb0(%a: tensor<1x2x5x5xf32>):
    onnx.Score %a : tensor<1x2x5x5xf32>
  }
  return %0 : tensor<1x2x5x4xf32>
}

// -----

func.func @bounds(%x: tensor<i64>) -> tensor<i64> {
  // expected-error@+1 {{needs one bound, or none}}
  %0 = onnx.ReadSize %x {sizes = #onnx.sizes<1, 2>} : (tensor<i64>) -> tensor<i64>
  return %0 : tensor<i64>
}
