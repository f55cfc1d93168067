// Sums of sizes that no machine counts to are found before anything is computed from them.
// RUN: not %ingot-opt --partition-form-kernels=target=x86-64-v2 --layout-assign=target=x86-64-v2 --lower-kernels=target=x86-64-v2 --memory-plan %s 2>&1 | FileCheck %s
// CHECK: error: the model's intermediate tensors do not fit any memory
func.func @large(%x: tensor<1073741824x536870912xf32>) -> tensor<1073741824x536870912xf32> {
  %0 = onnx.Softmax %x {axis = -1 : i64} : (tensor<1073741824x536870912xf32>) -> tensor<1073741824x536870912xf32>
  %1 = onnx.Softmax %0 {axis = 0 : i64} : (tensor<1073741824x536870912xf32>) -> tensor<1073741824x536870912xf32>
  %2 = onnx.Softmax %1 {axis = -1 : i64} : (tensor<1073741824x536870912xf32>) -> tensor<1073741824x536870912xf32>
  return %2 : tensor<1073741824x536870912xf32>
}
