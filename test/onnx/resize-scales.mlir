// What a scale of an open axis must be.
// RUN: %ingot-opt --graph-simplify --graph-find-sizes=allocate=false --split-input-file --verify-diagnostics %s | FileCheck %s

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

// -----

// The tenths that a scale in single precision stands for.
func.func @tenths(%x: tensor<?x?xf32, #onnx.sizes<"m", "n">>) -> tensor<*xf32> {
  %none = onnx.None : none
  %s = onnx.Constant dense<[0.3, 1.7]> : tensor<2xf32>
  // CHECK: return {{.*}}#onnx.sizes<"div(3*m,10)", "div(7*n,10)+n">
  %y = onnx.Resize %x, %none, %s, %none {mode = "linear"} : (tensor<?x?xf32, #onnx.sizes<"m", "n">>, none, tensor<2xf32>, none) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// 1.3 is less than 13/10 in single precision, and 90 of them are 116: the run computes the product. What is known is not computed.
func.func @computed(%x: tensor<?x10x?xf32, #onnx.sizes<"m", 10, "n">>) -> tensor<*xf32> {
  %none = onnx.None : none
  %s = onnx.Constant dense<[1.0, 1.3, 1.3]> : tensor<3xf32>
  // CHECK-LABEL: @computed
  // CHECK: onnx.ReadSize {{.*}}"div(157287*n,524288)+n"
  // CHECK: return {{.*}}#onnx.sizes<"m", 13, "$0">
  %y = onnx.Resize %x, %none, %s, %none {mode = "linear"} : (tensor<?x10x?xf32, #onnx.sizes<"m", 10, "n">>, none, tensor<3xf32>, none) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
