// What is wrong with a node is said of the node; those that need what it gives are passed over, and the rest is looked at.
// RUN: not %ingot-opt --graph-resolve --split-input-file %s 2>&1 | FileCheck %s

// CHECK: ingot-opt: error: node 'a' (Add, opset 13): {{.*}}do not broadcast
// CHECK-NOT: Neg
// CHECK: ingot-opt: error: node 'c' (Relu, opset 13): has too few inputs: the first is missing
func.func @rest(%x: tensor<3xf32>, %y: tensor<2xf32>) -> (none, none) attributes {onnx.outputs = [{name = "b", element = 1 : i64}, {name = "c", element = 1 : i64}]} {
  %a = "onnx.Node"(%x, %y) <{domain = "", kind = "Add", opset = 13 : i64, input_names = ["x", "y"], output_names = ["a"], given = {}, subgraphs = []}>
    : (tensor<3xf32>, tensor<2xf32>) -> none
  %b = "onnx.Node"(%a) <{domain = "", kind = "Neg", opset = 13 : i64, input_names = ["a"], output_names = ["b"], given = {}, subgraphs = []}> : (none) -> none
  %c = "onnx.Node"() <{domain = "", kind = "Relu", opset = 13 : i64, input_names = [], output_names = ["c"], given = {}, subgraphs = []}> : () -> none
  return %b, %c : none, none
}

// -----

// What the importer could not write, and a type that the model does not declare so.
// CHECK: ingot-opt: error: node 'a' (Neg, opset 13): attribute 'a' holds a subgraph
// CHECK: ingot-opt: error: node 'b' (Abs, opset 13): gives output 'b' the element type float32, but the model declares int64
func.func @noted(%x: tensor<3xf32>) -> (none, none) attributes {onnx.outputs = [{name = "b", element = 7 : i64}, {name = "b", element = 7 : i64}]} {
  %a = "onnx.Node"(%x) <{domain = "", kind = "Neg", opset = 13 : i64, input_names = ["x"], output_names = ["a"], given = {}, subgraphs = [], problems = ["attribute 'a' holds a subgraph"]}>
    : (tensor<3xf32>) -> none
  %b = "onnx.Node"(%x) <{domain = "", kind = "Abs", opset = 13 : i64, input_names = ["x"], output_names = ["b"], given = {}, subgraphs = []}> : (tensor<3xf32>) -> none
  return %b, %b : none, none
}

// -----

// CHECK: error: 'onnx.Node' op needs a name for each input and output
func.func @names(%x: tensor<3xf32>) -> none attributes {onnx.outputs = [{name = "a", element = 1 : i64}]} {
  %a = "onnx.Node"(%x) <{domain = "", kind = "Neg", opset = 13 : i64, input_names = [""], output_names = ["a"], given = {}, subgraphs = []}> : (tensor<3xf32>) -> none
  return %a : none
}

// -----

// CHECK: error: 'onnx.Node' op needs names and types of each subgraph's inputs and outputs
func.func @subgraphs(%x: tensor<3xf32>) -> none attributes {onnx.outputs = [{name = "a", element = 1 : i64}]} {
  %a = "onnx.Node"(%x) <{domain = "", kind = "SequenceMap", opset = 17 : i64, input_names = ["x"], output_names = ["a"], given = {}, subgraphs = [{name = "body"}]}> ({
  ^bb0(%e: none):
    onnx.NodeYield %e : none
  }) : (tensor<3xf32>) -> none
  return %a : none
}
