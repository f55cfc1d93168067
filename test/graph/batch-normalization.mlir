// RUN: %ingot-opt --graph-simplify %s | FileCheck %s
// Of one axis, which is the batch's, there is one channel: training takes the mean of all elements, of shape [1].

// CHECK-LABEL: func.func @one_axis
// CHECK: [[MEAN:%.*]] = onnx.Reduce %arg0 {axes = array<i64: 0>, keepdims, kind = "Mean"} : (tensor<5xf32>) -> tensor<1xf32>
// CHECK: onnx.Sub %arg0, [[MEAN]]
// CHECK: return {{.*}} : tensor<5xf32>, tensor<1xf32>, tensor<1xf32>
func.func @one_axis(%x: tensor<5xf32>, %scale: tensor<1xf32>, %bias: tensor<1xf32>, %mean: tensor<1xf32>, %variance: tensor<1xf32>) -> (tensor<5xf32>, tensor<1xf32>, tensor<1xf32>) {
  %y, %m, %v = "onnx.BatchNormalization"(%x, %scale, %bias, %mean, %variance) <{training_mode = 1 : i64}> : (tensor<5xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> (tensor<5xf32>, tensor<1xf32>, tensor<1xf32>)
  return %y, %m, %v : tensor<5xf32>, tensor<1xf32>, tensor<1xf32>
}
