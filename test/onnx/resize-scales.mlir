// What a scale of an open axis must be.
// RUN: %ingot-opt --graph-simplify --split-input-file --verify-diagnostics %s | FileCheck %s

func.func @negative(%x: tensor<1x?xf32, #onnx.sizes<1, "n">>) -> tensor<*xf32> {
  %none = onnx.None : none
  %s = onnx.Constant dense<[1.0, -2.0]> : tensor<2xf32>
  // expected-error@+1 {{has a scale that is not positive, or larger than any image}}
  %y = onnx.Resize %x, %none, %s, %none : (tensor<1x?xf32, #onnx.sizes<1, "n">>, none, tensor<2xf32>, none) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @huge(%x: tensor<1x?xf32, #onnx.sizes<1, "n">>) -> tensor<*xf32> {
  %none = onnx.None : none
  %s = onnx.Constant dense<[1.0, 1.0e30]> : tensor<2xf32>
  // expected-error@+1 {{has a scale that is not positive, or larger than any image}}
  %y = onnx.Resize %x, %none, %s, %none : (tensor<1x?xf32, #onnx.sizes<1, "n">>, none, tensor<2xf32>, none) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// The whole part of a size: 1/300 is no fraction of a power of two, but rounds to multiples of 300.
func.func @part(%x: tensor<1x?xf32, #onnx.sizes<1, "n">>) -> tensor<*xf32> {
  %none = onnx.None : none
  %s = onnx.Constant dense<[1.0, 0.0033333334]> : tensor<2xf32>
  // CHECK: return {{.*}}#onnx.sizes<1, "div(n,300)">
  %y = onnx.Resize %x, %none, %s, %none {mode = "linear"} : (tensor<1x?xf32, #onnx.sizes<1, "n">>, none, tensor<2xf32>, none) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
