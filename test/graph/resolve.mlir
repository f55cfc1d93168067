// Nodes as their file has them become ops: these are the forms that the importer writes, one by one.
// RUN: %ingot-opt --graph-resolve --split-input-file %s | FileCheck %s

// An old form becomes the newest: axes were an attribute. What is left out is none.
// CHECK-LABEL: func.func @upgrade(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<1x3xf32>) -> (tensor<3xf32> {onnx.name = "y"})
// CHECK: %[[AXES:.*]] = onnx.Constant dense<0> : tensor<1xi64>
// CHECK: %[[Y:.*]] = onnx.Squeeze %[[X]], %[[AXES]] : (tensor<1x3xf32>, tensor<1xi64>) -> tensor<3xf32>
// CHECK: return %[[Y]]
func.func @upgrade(%x: tensor<1x3xf32>) -> none attributes {onnx.outputs = [{name = "y", element = 1 : i64}]} {
  %y = "onnx.Node"(%x) <{domain = "", kind = "Squeeze", opset = 11 : i64, input_names = ["x"], output_names = ["y"], given = {axes = array<i64: 0>}, subgraphs = []}>
    : (tensor<1x3xf32>) -> none
  return %y : none
}

// -----

// A sequence of a known length is its tensors, and leaves nothing behind.
// CHECK-LABEL: func.func @sequence(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3xf32>, %[[Y:[a-z0-9]+]]: tensor<2xf32>)
// CHECK-NEXT: onnx.Constant dense<-1>
// CHECK-NEXT: return %[[Y]] : tensor<2xf32>
func.func @sequence(%x: tensor<3xf32>, %y: tensor<2xf32>) -> none attributes {onnx.outputs = [{name = "z", element = 1 : i64}]} {
  %i = onnx.Constant dense<-1> : tensor<i64>
  %s = "onnx.Node"(%x, %y) <{domain = "", kind = "SequenceConstruct", opset = 18 : i64, input_names = ["x", "y"], output_names = ["s"], given = {}, subgraphs = []}>
    : (tensor<3xf32>, tensor<2xf32>) -> none
  %z = "onnx.Node"(%s, %i) <{domain = "", kind = "SequenceAt", opset = 18 : i64, input_names = ["s", "i"], output_names = ["z"], given = {}, subgraphs = []}>
    : (none, tensor<i64>) -> none
  return %z : none
}

// -----

// A place that only a run can tell needs the packed form; as an output it is that, too.
// CHECK-LABEL: func.func @packed(
// CHECK-SAME: -> (tensor<?xf32{{.*}}> {onnx.name = "t.elements"}, tensor<1x1xi64> {onnx.name = "t.shapes"}) attributes {onnx.output_sequences = array<i64: -2>}
// CHECK: onnx.ReplaceRows
// CHECK: onnx.ReplaceRows
func.func @packed(%x: tensor<3xf32>, %i: tensor<i64>) -> none attributes {onnx.outputs = [{name = "t", element = 0 : i64, sequence}]} {
  %s = "onnx.Node"(%x, %x) <{domain = "", kind = "SequenceConstruct", opset = 18 : i64, input_names = ["x", "x"], output_names = ["s"], given = {}, subgraphs = []}>
    : (tensor<3xf32>, tensor<3xf32>) -> none
  %t = "onnx.Node"(%s, %i) <{domain = "", kind = "SequenceErase", opset = 18 : i64, input_names = ["s", "i"], output_names = ["t"], given = {}, subgraphs = []}>
    : (none, tensor<i64>) -> none
  return %t : none
}

// -----

// A SequenceMap is its body for each tensor.
// CHECK-LABEL: func.func @map(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3xf32>, %[[Y:[a-z0-9]+]]: tensor<2xf32>)
// CHECK-NEXT: %[[A:.*]] = onnx.Neg %[[X]]
// CHECK-NEXT: %[[B:.*]] = onnx.Neg %[[Y]]
// CHECK-NEXT: return %[[A]], %[[B]]
func.func @map(%x: tensor<3xf32>, %y: tensor<2xf32>) -> none attributes {onnx.outputs = [{name = "m", element = 0 : i64, sequence}]} {
  %s = "onnx.Node"(%x, %y) <{domain = "", kind = "SequenceConstruct", opset = 18 : i64, input_names = ["x", "y"], output_names = ["s"], given = {}, subgraphs = []}>
    : (tensor<3xf32>, tensor<2xf32>) -> none
  %m = "onnx.Node"(%s) <{domain = "", kind = "SequenceMap", opset = 18 : i64, input_names = ["s"], output_names = ["m"], given = {},
      subgraphs = [{name = "body", inputs = ["e"], input_types = [tensor<*xf32>], outputs = ["f"], output_types = [tensor<*xf32>]}]}> ({
  ^bb0(%e: none):
    %f = "onnx.Node"(%e) <{domain = "", kind = "Neg", opset = 18 : i64, input_names = ["e"], output_names = ["f"], given = {}, subgraphs = []}> : (none) -> none
    onnx.NodeYield %f : none
  }) : (none) -> none
  return %m : none
}

// -----

// What is resolved stays.
// CHECK-LABEL: func.func @resolved(
// CHECK-NEXT: onnx.Neg
func.func @resolved(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = onnx.Neg %x : (tensor<3xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
