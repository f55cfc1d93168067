// Declares ops for optional tensors: graph inputs that a run may leave out. Values of which graph::resolve knows that
// they are there, or are not, need none of these.
include "compiler/onnx/Onnx.td"
include "compiler/onnx/interfaces/NodeKinds.td"

// Of an optional input x: a model that computes OptionalHasElement(x) ? OptionalGetElement(x) : y becomes an If whose
// condition the entry gives, since it knows which pointers the caller left null.
def Onnx_OptionalHasElementOp : Onnx_CoreOp<"OptionalHasElement", [Onnx_OptionalNode]> {
  let summary = "whether a run was given this optional input of the function";
  let arguments = (ins AnyTensor:$x);
  let results = (outs AnyTensor:$y);
}
def Onnx_OptionalGetElementOp : Onnx_CoreOp<"OptionalGetElement", [Onnx_OptionalNode, DeclareOpInterfaceMethods<Onnx_ViewInterface>]> {
  let summary = "an optional input of the function, which must be there";
  let arguments = (ins AnyTensor:$x);
  let results = (outs AnyTensor:$y);
}
