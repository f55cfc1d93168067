// Sums of products by a formula of axis names.
include "compiler/onnx/Onnx.td"

def Onnx_EinsumOp : Onnx_Op<"Einsum", -1, [DeclareOpInterfaceMethods<Onnx_Decomposable>]> {
  let arguments = (ins Variadic<AnyTensor>:$xs, StrAttr:$equation);
  let results = (outs AnyTensor:$y);
}
