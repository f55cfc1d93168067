// What says sizes and is malformed is an error, whatever pass would read it.
// RUN: %ingot-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{'2*' is not a size}}
func.func @text(%x: tensor<?xf32, #onnx.sizes<"2*">>)

// -----

// expected-error@+1 {{1 sizes for 2 axes}}
func.func @rank(%x: tensor<?x3xf32, #onnx.sizes<"n">>)

// -----

// expected-error@+1 {{the size of axis 1 is not the one of the shape}}
func.func @axis(%x: tensor<?x3xf32, #onnx.sizes<"n", 4>>)

// -----

func.func @count() -> tensor<2xi64> {
  // expected-error@+1 {{has 1 sizes for a result of type 'tensor<2xi64>'}}
  %0 = onnx.Sizes <"n"> : tensor<2xi64>
  return %0 : tensor<2xi64>
}

// -----

func.func @unknown() -> tensor<1xi64> {
  // expected-error@+1 {{has a size that is not known}}
  %0 = onnx.Sizes <?> : tensor<1xi64>
  return %0 : tensor<1xi64>
}

// -----

func.func @append(%c: tensor<4x2xf32>, %r: tensor<1x2xf32>) -> tensor<4x2xf32> {
  // expected-error@+1 {{needs one size, where the rows begin}}
  %0 = onnx.Append %c, %r {axis = 0 : i64, sizes = #onnx.sizes<"n", "m">} : (tensor<4x2xf32>, tensor<1x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----

// expected-error@+1 {{attribute 'onnx.facts' must be known sizes}}
func.func @facts() attributes {onnx.facts = ["8-n"]} {
  return
}

// -----

// expected-error@+1 {{attribute 'onnx.checks' must be an array of [one or two known sizes, the name of a node]}}
func.func @checks() attributes {onnx.checks = [["a=b", "node"]]} {
  return
}

// -----

func.func @requires(%x: tensor<?xf32, #onnx.sizes<"n">>) -> tensor<?xf32, #onnx.sizes<"n">> {
  // expected-error@+1 {{attribute 'onnx.requires' must be an array of two known sizes each}}
  %0 = onnx.Relu %x {onnx.requires = [#onnx.sizes<"n">]} : (tensor<?xf32, #onnx.sizes<"n">>) -> tensor<?xf32, #onnx.sizes<"n">>
  return %0 : tensor<?xf32, #onnx.sizes<"n">>
}

// -----

func.func @grows(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{attribute 'onnx.grows' must be an array of [data-dependent symbol or unit, data-dependent symbol, two sizes], of a loop}}
  %0 = onnx.Relu %x {onnx.grows = []} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
