// How many axes a result has is known where a list's length, an attribute or another operand tells it, of operands of any
// number of axes, too: what the importer puts into sequences and scans needs no more.
// RUN: %ingot-opt --graph-simplify --split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func @lists
// CHECK: %[[ANY:.*]] = onnx.Reshape %arg0, %arg1 : {{.*}} -> tensor<*xf32>
// CHECK: onnx.Expand %arg0, %arg2 : {{.*}} -> tensor<?x?x?xf32>
// CHECK: onnx.Expand %arg3, %arg2 : {{.*}} -> tensor<?x?x?x?xf32>
// CHECK: onnx.Expand %[[ANY]], %arg2 : {{.*}} -> tensor<*xf32>
// CHECK: onnx.Tile %[[ANY]], %arg2 : {{.*}} -> tensor<?x?x?xf32>
// CHECK: onnx.Pad %[[ANY]], %arg4, {{.*}} -> tensor<?x?xf32>
// CHECK: onnx.Resize %[[ANY]], {{.*}} -> tensor<?x?x?xf32>
// CHECK: onnx.CenterCropPad %[[ANY]], %arg2 : {{.*}} -> tensor<?x?x?xf32>
func.func @lists(%x: tensor<16xf32>, %list: tensor<?xi64>, %three: tensor<3xi64>, %wide: tensor<1x1x1x1xf32>, %four: tensor<4xi64>)
    -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %none = onnx.None : none
  %any = onnx.Reshape %x, %list : (tensor<16xf32>, tensor<?xi64>) -> tensor<*xf32>
  %0 = onnx.Expand %x, %three : (tensor<16xf32>, tensor<3xi64>) -> tensor<*xf32>
  %1 = onnx.Expand %wide, %three : (tensor<1x1x1x1xf32>, tensor<3xi64>) -> tensor<*xf32>
  %2 = onnx.Expand %any, %three : (tensor<*xf32>, tensor<3xi64>) -> tensor<*xf32>
  %3 = onnx.Tile %any, %three : (tensor<*xf32>, tensor<3xi64>) -> tensor<*xf32>
  %4 = onnx.Pad %any, %four, %none, %none : (tensor<*xf32>, tensor<4xi64>, none, none) -> tensor<*xf32>
  %5 = onnx.Resize %any, %none, %none, %three : (tensor<*xf32>, none, none, tensor<3xi64>) -> tensor<*xf32>
  %6 = onnx.CenterCropPad %any, %three : (tensor<*xf32>, tensor<3xi64>) -> tensor<*xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// CHECK-LABEL: func.func @attributes
// CHECK: %[[ANY:.*]] = onnx.Reshape {{.*}} -> tensor<*xf32>
// CHECK: onnx.Transpose %[[ANY]] {{.*}} -> tensor<?x?x?xf32>
// CHECK: onnx.MaxPool %[[ANY]] {{.*}} -> (tensor<?x?x?x?xf32>, tensor<?x?x?x?xi64>)
// CHECK: onnx.Einsum %[[ANY]], %[[ANY]] {{.*}} -> tensor<?x?xf32>
// CHECK: onnx.ReduceSum %[[ANY]], {{.*}} -> tensor<f32>
// CHECK: onnx.Gather {{.*}} -> tensor<?xf32, #onnx.sizes<"$0">>
// CHECK: onnx.DepthToSpace %[[ANY]] {{.*}} -> tensor<?x?x?x?xf32>
func.func @attributes(%x: tensor<16xf32>, %list: tensor<?xi64>, %c: tensor<3xi1>)
    -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %none = onnx.None : none
  %any = onnx.Reshape %x, %list : (tensor<16xf32>, tensor<?xi64>) -> tensor<*xf32>
  %0 = onnx.Transpose %any {perm = array<i64: 2, 0, 1>} : (tensor<*xf32>) -> tensor<*xf32>
  %1, %places = onnx.MaxPool %any {kernel_shape = array<i64: 2, 2>} : (tensor<*xf32>) -> (tensor<*xf32>, tensor<*xi64>)
  %2 = onnx.Einsum %any, %any {equation = "bij,bjk->ik"} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %3 = onnx.ReduceSum %any, %none {keepdims = 0 : i64} : (tensor<*xf32>, none) -> tensor<*xf32>
  %4 = onnx.Compress %any, %c : (tensor<*xf32>, tensor<3xi1>) -> tensor<*xf32>
  %5 = onnx.DepthToSpace %any {blocksize = 2 : i64} : (tensor<*xf32>) -> tensor<*xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// CHECK-LABEL: func.func @operands
// CHECK: %[[ANY:.*]] = onnx.Reshape {{.*}} -> tensor<*xf32>
// CHECK: onnx.Concat %[[ANY]], %arg2 {{.*}} -> tensor<?x?xf32>
// CHECK: onnx.GatherElements %[[ANY]], %arg3 {{.*}} -> tensor<?x?xf32>
// CHECK: onnx.Conv %[[ANY]], %arg4, {{.*}} -> tensor<?x?x?x?xf32>
// CHECK: onnx.LSTM %[[ANY]], {{.*}} -> (tensor<?x?x?x?xf32>, tensor<?x?x?xf32>, tensor<?x?x?xf32>)
func.func @operands(%x: tensor<16xf32>, %list: tensor<?xi64>, %two: tensor<1x2xf32>, %at: tensor<1x2xi64>, %w: tensor<3x2x3x3xf32>, %r: tensor<1x8x2xf32>)
    -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %none = onnx.None : none
  %any = onnx.Reshape %x, %list : (tensor<16xf32>, tensor<?xi64>) -> tensor<*xf32>
  %0 = onnx.Concat %any, %two {axis = 0 : i64} : (tensor<*xf32>, tensor<1x2xf32>) -> tensor<*xf32>
  %1 = onnx.GatherElements %any, %at : (tensor<*xf32>, tensor<1x2xi64>) -> tensor<*xf32>
  %2 = onnx.Conv %any, %w, %none : (tensor<*xf32>, tensor<3x2x3x3xf32>, none) -> tensor<*xf32>
  %3, %4, %5 = onnx.LSTM %any, %r, %r, %none, %none, %none, %none, %none
    : (tensor<*xf32>, tensor<1x8x2xf32>, tensor<1x8x2xf32>, none, none, none, none, none) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  return %0, %1, %2, %3, %4, %5 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}
