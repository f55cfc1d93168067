// ReplaceRows ops whose rows do not fit.
// RUN: %ingot-opt %s --graph-simplify --split-input-file --verify-diagnostics

func.func @replace_rows(%x: tensor<3x4xf32>, %rows: tensor<3xf32>, %place: tensor<i64>) -> tensor<?x4xf32> {
  // expected-error@+1 {{needs rows of the rank of 'tensor<3x4xf32>'}}
  %0 = onnx.ReplaceRows %x, %rows, %place, %place : (tensor<3x4xf32>, tensor<3xf32>, tensor<i64>, tensor<i64>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

func.func @wide(%x: tensor<3x4xf32>, %rows: tensor<3x5xf32>, %place: tensor<i64>) -> tensor<?x4xf32> {
  // expected-error@+1 {{has rows that differ along axis 1}}
  %0 = onnx.ReplaceRows %x, %rows, %place, %place : (tensor<3x4xf32>, tensor<3x5xf32>, tensor<i64>, tensor<i64>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
