// Declares ops on square matrices.
include "compiler/onnx/Onnx.td"

// Both have [..., n, n] as their operand: the last two axes are a matrix, and all others a batch of them.
def Onnx_DetOp : Onnx_Op<"Det", 1>, Since<22> {
  let summary = "the determinant of each matrix";
  let arguments = (ins Onnx_Floats:$x);
  let results = (outs AnyTensor:$y);
}
def Onnx_InverseOp : Onnx_MicrosoftOp<"Inverse", 1>, Since<1> {
  let summary = "the inverse of each matrix";
  let arguments = (ins Onnx_Floats:$x);
  let results = (outs AnyTensor:$y);
}
