// Operators that align two sequences are declared here.
include "compiler/onnx/Onnx.td"

def Onnx_DynamicTimeWarpingOp : Onnx_MicrosoftOp<"DynamicTimeWarping", 1, [DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<1> {
  let summary = "the cheapest way through a matrix of costs, from its first to its last element: rows and columns of its places";
  let arguments = (ins Onnx_Floats:$costs);
  let results = (outs AnyTensor:$path);
}
