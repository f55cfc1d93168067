// What cannot be expanded is refused, and everything that is wrong is said at once.
// RUN: not %ingot-opt --graph-expand %s 2>&1 | FileCheck %s

// CHECK: error: goes through 'Floor', whose derivative in this form is unsupported
// CHECK: error: 'decoder' has 1 inputs, and so no cache
func.func @refused(%x: tensor<3xf32>, %ids: tensor<2x4xi32>, %most: tensor<1xi32>) -> (tensor<3xf32>, tensor<2x?xi32>) {
  %y = onnx.Floor %x : (tensor<3xf32>) -> tensor<3xf32>
  %d = onnx.ai.onnx.preview.training.Gradient at(%x) xs(%x) zs() y(%y) : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %none = onnx.None : none
  %s = onnx.com.microsoft.GreedySearch %ids, %most, %none, %none, %none, %none, %none {eos_token_id = 2 : i64, pad_token_id = 1 : i64} : (tensor<2x4xi32>, tensor<1xi32>, none, none, none, none, none) -> tensor<2x?xi32> decoder {
  ^bb0(%tokens: tensor<?x?xi32>):
    onnx.Give %tokens : tensor<?x?xi32>
  }
  return %d, %s : tensor<3xf32>, tensor<2x?xi32>
}
