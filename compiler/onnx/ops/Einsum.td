// Declares sums of products by a formula of axis names.
include "compiler/onnx/Onnx.td"

def Onnx_EinsumOp : Onnx_Op<"Einsum", -1, [Onnx_SameElements<>, DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<28> {
  let arguments = (ins Variadic<Onnx_Numbers>:$xs, StrAttr:$equation);
  let results = (outs AnyTensor:$y);
}
