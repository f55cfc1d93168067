// A node as the model's file has it.
include "compiler/onnx/Onnx.td"

def Onnx_NodeOp : Op<Onnx_Dialect, "Node"> {
  let summary = "a node as its file has it";
  let description = [{
    What the importer makes of each node, and graph-resolve ops of it: its operands and results are values of other nodes, which have no type
    yet (`none`), or tensors of the function (arguments, constants). `input_names` has an empty name for each input that the node leaves out,
    which is no operand; a map is two operands. A subgraph is a region of such ops that ends with what it gives, and a dictionary: the name of
    the attribute, names of inputs and outputs, and their declared types (`none`: the model declares none that there are tensors of).
    `problems`: why the node cannot be written so; what it gives is missing then.}];
  let arguments = (ins Variadic<AnyType>:$operandsOfNode, StrAttr:$domain, StrAttr:$kind, I64Attr:$opset, StrArrayAttr:$input_names,
      StrArrayAttr:$output_names, DictionaryAttr:$given, ArrayAttr:$subgraphs, OptionalAttr<StrArrayAttr>:$problems);
  let results = (outs Variadic<NoneType>:$resultsOfNode);
  let regions = (region VariadicRegion<SizedRegion<1>>:$bodies);
  let hasRegionVerifier = 1;
}
def Onnx_NodeYieldOp : Op<Onnx_Dialect, "NodeYield", [Pure, Terminator, HasParent<"NodeOp">]> {
  let summary = "what a subgraph of a node gives";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "$values attr-dict (`:` type($values)^)?";
}
