// Calls on strings that are malformed.
// RUN: %ingot-opt %s --split-input-file --verify-diagnostics

func.func @operands(%x: tensor<2xi128>) -> tensor<2xi1> {
  %none = onnx.None : none
  // expected-error@+1 {{needs one or two operands, and where it is of rows one and a tail}}
  %y = onnx.Text %x, %x, %none {does = "equal", to = 9 : i64, rows, tail = #onnx.sizes<3>} : (tensor<2xi128>, tensor<2xi128>, none) -> tensor<2xi1>
  return %y : tensor<2xi1>
}

// -----

func.func @element(%x: tensor<2xi128>) -> tensor<2xi1> {
  %none = onnx.None : none
  // expected-error@+1 {{has no element type 99}}
  %y = onnx.Text %x, %none {does = "equal", to = 99 : i64} : (tensor<2xi128>, none) -> tensor<2xi1>
  return %y : tensor<2xi1>
}

// -----

func.func @rows(%x: tensor<2xi64>) -> tensor<3xf32> {
  %none = onnx.None : none
  // expected-error@+1 {{and where it is of rows one and a tail}}
  %y = onnx.Text %x, %none {does = "count_grams", to = 1 : i64, rows} : (tensor<2xi64>, none) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
