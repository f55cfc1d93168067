// Declares the terminator of subgraphs of expanded ops, and operators of whose nodes graph::resolve makes several other
// ops, or none.
include "compiler/onnx/Onnx.td"
include "compiler/onnx/interfaces/NodeKinds.td"

def Onnx_GiveOp : Op<Onnx_Dialect, "Give", [Pure, Terminator]> {
  let summary = "what a subgraph gives to the op that holds it";
  let arguments = (ins Variadic<AnyTensor>:$values);
  let hasVerifier = 1;
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

/// The class of ops that are never made. test/tools/operators.py knows it by name.
class Onnx_Construct<string mnemonic> : Op<Onnx_Dialect, mnemonic, [Pure, Onnx_ResolvedByRule]> {
  let arguments = (ins Variadic<AnyType>:$operandsOfNode);
  let results = (outs Variadic<AnyType>:$resultsOfNode);
}
def Onnx_ScanOp : Onnx_Construct<"Scan">;
def Onnx_OptionalOp : Onnx_Construct<"Optional">;
def Onnx_SequenceConstructOp : Onnx_Construct<"SequenceConstruct">;
def Onnx_SequenceEmptyOp : Onnx_Construct<"SequenceEmpty">;
def Onnx_SequenceInsertOp : Onnx_Construct<"SequenceInsert">;
def Onnx_SequenceEraseOp : Onnx_Construct<"SequenceErase">;
def Onnx_SequenceAtOp : Onnx_Construct<"SequenceAt">;
def Onnx_SequenceLengthOp : Onnx_Construct<"SequenceLength">;
def Onnx_SequenceMapOp : Onnx_Construct<"SequenceMap">;
def Onnx_SplitToSequenceOp : Onnx_Construct<"SplitToSequence">;
def Onnx_ConcatFromSequenceOp : Onnx_Construct<"ConcatFromSequence">;
