// Operators whose meaning is other operators whatever the sizes are become these before anything is simplified.
// RUN: %ingot-opt --graph-expand --split-input-file %s | FileCheck %s

// Attention around a subgraph. Two heads share those of the keys; what the subgraph reads from around it stays.
// CHECK-LABEL: func.func @shared_heads(
// CHECK-SAME: %[[Q:[a-z0-9]+]]: {{.*}}, %[[K:[a-z0-9]+]]: {{.*}}, %[[V:[a-z0-9]+]]: {{.*}}, %[[B:[a-z0-9]+]]: tensor<f32>)
// CHECK: %[[HEADS:.*]] = onnx.Constant dense<[0, 0, 1, 1]> : tensor<4xi64>
// CHECK: %[[K2:.*]] = onnx.Gather %[[K]], %[[HEADS]] {axis = 1 : i64}
// CHECK: %[[V2:.*]] = onnx.Gather %[[V]], %[[HEADS]] {axis = 1 : i64}
// CHECK: %[[PRODUCT:.*]] = onnx.MatMul %[[Q]], %[[K2]] {transB}
// CHECK: %[[SCALE:.*]] = onnx.Constant dense<5.000000e-01> : tensor<f32>
// CHECK: %[[SCALED:.*]] = onnx.Mul %[[PRODUCT]], %[[SCALE]]
// CHECK: %[[SCORES:.*]] = onnx.Add %[[SCALED]], %[[B]] : (tensor<1x4x3x5xf32>, tensor<f32>)
// CHECK: %[[WEIGHTS:.*]] = onnx.Softmax %[[SCORES]]
// CHECK: %[[Y:.*]] = onnx.MatMul %[[WEIGHTS]], %[[V2]]
// CHECK: return %[[Y]]
func.func @shared_heads(%q: tensor<1x4x3x4xf32>, %k: tensor<1x2x5x4xf32>, %v: tensor<1x2x5x6xf32>, %b: tensor<f32>) -> tensor<1x4x3x6xf32> {
  %y = onnx.ai.onnx.preview.FlexAttention %q, %k, %v : (tensor<1x4x3x4xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x6xf32>) -> tensor<1x4x3x6xf32> score_mod {
  ^bb0(%score: tensor<?x?x?x?xf32>):
    %0 = onnx.Add %score, %b : (tensor<?x?x?x?xf32>, tensor<f32>) -> tensor<?x?x?x?xf32>
    onnx.Give %0 : tensor<?x?x?x?xf32>
  }
  return %y : tensor<1x4x3x6xf32>
}

// -----

// The weights behind a softmax in float64 go through the second subgraph, and a scale may be given.
// CHECK-LABEL: func.func @weights_of_doubles(
// CHECK: onnx.Constant dense<2.500000e-01> : tensor<f32>
// CHECK: onnx.Cast {{.*}} -> tensor<1x1x3x5xf64>
// CHECK: %[[WEIGHTS:.*]] = onnx.Softmax
// CHECK: %[[MODIFIED:.*]] = onnx.Neg %[[WEIGHTS]] : (tensor<1x1x3x5xf64>)
// CHECK: onnx.Cast %[[MODIFIED]] {{.*}} -> tensor<1x1x3x5xf32>
func.func @weights_of_doubles(%q: tensor<1x1x3x4xf32>, %k: tensor<1x1x5x4xf32>, %v: tensor<1x1x5x6xf32>) -> tensor<1x1x3x6xf32> {
  %y = onnx.ai.onnx.preview.FlexAttention %q, %k, %v {scale = 0.25 : f32, softmax_precision = 11 : i64} : (tensor<1x1x3x4xf32>, tensor<1x1x5x4xf32>, tensor<1x1x5x6xf32>) -> tensor<1x1x3x6xf32> prob_mod {
  ^bb0(%weights: tensor<?x?x?x?xf64>):
    %0 = onnx.Neg %weights : (tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64>
    onnx.Give %0 : tensor<?x?x?x?xf64>
  }
  return %y : tensor<1x1x3x6xf32>
}

// -----

// A derivative where the tensors are: y = x * x gives 1 * x + 1 * x.
// CHECK-LABEL: func.func @square(
// CHECK-SAME: %[[X:.*]]: tensor<3xf32>)
// CHECK: onnx.Mul %[[X]], %[[X]]
// CHECK: %[[ONES:.*]] = onnx.Expand
// CHECK: %[[LEFT:.*]] = onnx.Mul %[[ONES]], %[[X]]
// CHECK: %[[RIGHT:.*]] = onnx.Mul %[[ONES]], %[[X]]
// CHECK: %[[SUM:.*]] = onnx.Add %[[LEFT]], %[[RIGHT]]
// CHECK: return %[[SUM]]
func.func @square(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = onnx.Mul %x, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %d = onnx.ai.onnx.preview.training.Gradient at(%x) xs(%x) zs() y(%y) : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %d : tensor<3xf32>
}

// -----

// At another place the ops between the tensors are computed once more.
// CHECK-LABEL: func.func @elsewhere(
// CHECK-SAME: %[[X:.*]]: tensor<3xf32>, %[[Z:.*]]: tensor<3xf32>, %[[P:.*]]: tensor<3xf32>, %[[R:.*]]: tensor<3xf32>)
// CHECK: onnx.Mul %[[X]], %[[Z]]
// CHECK: onnx.Mul %[[P]], %[[R]]
// CHECK: onnx.Mul %{{.*}}, %[[R]]
func.func @elsewhere(%x: tensor<3xf32>, %z: tensor<3xf32>, %p: tensor<3xf32>, %r: tensor<3xf32>) -> tensor<3xf32> {
  %y = onnx.Mul %x, %z : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %d = onnx.ai.onnx.preview.training.Gradient at(%p, %r) xs(%x) zs(%z) y(%y) : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %d : tensor<3xf32>
}

// -----

// A derivative goes through what stands for an op that is expanded itself.
// CHECK-LABEL: func.func @through_attention(
// CHECK-NOT: FlexAttention
// CHECK-NOT: Gradient
// CHECK: return
func.func @through_attention(%q: tensor<1x1x3x4xf32>, %k: tensor<1x1x5x4xf32>, %v: tensor<1x1x5x6xf32>) -> tensor<1x1x5x6xf32> {
  %y = onnx.ai.onnx.preview.FlexAttention %q, %k, %v : (tensor<1x1x3x4xf32>, tensor<1x1x5x4xf32>, tensor<1x1x5x6xf32>) -> tensor<1x1x3x6xf32>
  %d = onnx.ai.onnx.preview.training.Gradient at(%v) xs(%v) zs() y(%y) : (tensor<1x1x5x6xf32>, tensor<1x1x5x6xf32>, tensor<1x1x3x6xf32>) -> tensor<1x1x5x6xf32>
  return %d : tensor<1x1x5x6xf32>
}
