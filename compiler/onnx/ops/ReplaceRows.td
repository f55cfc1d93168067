// Declares an op that puts rows into a tensor, or takes some out of it, at a place that a run tells. It is no op of the
// standard: SequenceInsert and SequenceErase become it where sequences are packed (graph/resolve/PackedSequences).
include "compiler/onnx/Onnx.td"

def Onnx_ReplaceRowsOp : Onnx_CoreOp<"ReplaceRows", [DeclareOpInterfaceMethods<Onnx_Parametric>]> {
  let summary = "data with `rows` in the place of `removed` ones from `begin` on";
  let arguments = (ins AnyTensor:$data, Onnx_OptionalOf<AnyTensor>:$rows, Onnx_Int64s:$begin, Onnx_Int64s:$removed);
  let results = (outs AnyTensor:$y);
}
