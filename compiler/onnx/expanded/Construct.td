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
class Onnx_Construct<string mnemonic, Trait kind> : Op<Onnx_Dialect, mnemonic, [Pure, kind]> {
  let arguments = (ins Variadic<AnyType>:$operandsOfNode);
  let results = (outs Variadic<AnyType>:$resultsOfNode);
}
def Onnx_ScanOp : Onnx_Construct<"Scan", Onnx_ControlNode>;
def Onnx_OptionalOp : Onnx_Construct<"Optional", Onnx_OptionalNode>;
def Onnx_SequenceConstructOp : Onnx_Construct<"SequenceConstruct", Onnx_SequenceNode>;
def Onnx_SequenceEmptyOp : Onnx_Construct<"SequenceEmpty", Onnx_SequenceNode>;
def Onnx_SequenceInsertOp : Onnx_Construct<"SequenceInsert", Onnx_SequenceNode>;
def Onnx_SequenceEraseOp : Onnx_Construct<"SequenceErase", Onnx_SequenceNode>;
def Onnx_SequenceAtOp : Onnx_Construct<"SequenceAt", Onnx_SequenceNode>;
def Onnx_SequenceLengthOp : Onnx_Construct<"SequenceLength", Onnx_SequenceNode>;
def Onnx_SequenceMapOp : Onnx_Construct<"SequenceMap", Onnx_SequenceNode>;
def Onnx_SplitToSequenceOp : Onnx_Construct<"SplitToSequence", Onnx_SequenceNode>;
def Onnx_ConcatFromSequenceOp : Onnx_Construct<"ConcatFromSequence", Onnx_SequenceNode>;
