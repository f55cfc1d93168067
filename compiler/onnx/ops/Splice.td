// Rows put into a tensor, or taken out of it, at a place that a run tells: no op of the standard, but what SequenceInsert and SequenceErase do to packed sequences (graph/resolve/PackedSequences).
include "compiler/onnx/Onnx.td"

def Onnx_SpliceOp : Onnx_CoreOp<"Splice", [DeclareOpInterfaceMethods<Onnx_Parametric>]> {
  let summary = "data with `rows` in the place of `removed` ones from `begin` on";
  let arguments = (ins AnyTensor:$data, Onnx_OptionalOf<AnyTensor>:$rows, Onnx_Int64s:$begin, Onnx_Int64s:$removed);
  let results = (outs AnyTensor:$y);
}
