// Declares ops that go through indices known only when the model runs.
include "compiler/onnx/Onnx.td"

class Onnx_Indexed<string mnemonic, int inputs, list<Trait> traits = []>
    : Onnx_Op<mnemonic, inputs, traits # [DeclareOpInterfaceMethods<Onnx_Indexer>, DeclareOpInterfaceMethods<Onnx_Evaluable>]> {
  let results = (outs AnyTensor:$y);
}
def Onnx_GatherOp : Onnx_Indexed<"Gather", 2, [DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<13> {
  let arguments = (ins AnyTensor:$data, Onnx_Indices:$indices, DefaultValuedOptionalAttr<I64Attr, "0">:$axis);
}
def Onnx_GatherElementsOp : Onnx_Indexed<"GatherElements", 2>, Since<13> {
  let arguments = (ins AnyTensor:$data, Onnx_Indices:$indices, DefaultValuedOptionalAttr<I64Attr, "0">:$axis);
}
def Onnx_GatherNDOp : Onnx_Indexed<"GatherND", 2>, Since<13> {
  let arguments = (ins AnyTensor:$data, Onnx_Int64s:$indices, DefaultValuedOptionalAttr<I64Attr, "0">:$batch_dims);
}
def Onnx_ScatterElementsOp : Onnx_Indexed<"ScatterElements", 3, [Onnx_SameElements<"0, 2">]>, Since<18> {
  let arguments = (ins AnyTensor:$data, Onnx_Indices:$indices, AnyTensor:$updates, DefaultValuedOptionalAttr<I64Attr, "0">:$axis,
    DefaultValuedOptionalAttr<StrAttr, "\"none\"">:$reduction);
}
def Onnx_ScatterNDOp : Onnx_Indexed<"ScatterND", 3, [Onnx_SameElements<"0, 2">]>, Since<18> {
  let arguments = (ins AnyTensor:$data, Onnx_Int64s:$indices, AnyTensor:$updates, DefaultValuedOptionalAttr<StrAttr, "\"none\"">:$reduction);
}

/// The class of ops that are rewritten to gathers and scatters, to comparisons and choices.
class Onnx_ByIndex<string mnemonic, int inputs, list<Trait> traits = []> : Onnx_Op<mnemonic, inputs, traits # [DeclareOpInterfaceMethods<Onnx_Decomposable>]> {
  let results = (outs AnyTensor:$y);
}
def Onnx_ScatterOp : Onnx_ByIndex<"Scatter", 3, [Onnx_SameElements<"0, 2">]>, Since<9> {
  let arguments = (ins AnyTensor:$data, Onnx_Indices:$indices, AnyTensor:$updates, DefaultValuedOptionalAttr<I64Attr, "0">:$axis);
}
def Onnx_OneHotOp : Onnx_ByIndex<"OneHot", 3>, Since<28> {
  let arguments = (ins Onnx_Numbers:$indices, Onnx_Numbers:$depth, AnyTensor:$values, DefaultValuedOptionalAttr<I64Attr, "-1">:$axis);
}
def Onnx_TriluOp : Onnx_ByIndex<"Trilu", 2>, Since<14> {
  let arguments = (ins AnyTensor:$data, Onnx_OptionalOf<Onnx_Int64s>:$k, DefaultValuedOptionalAttr<I64Attr, "1">:$upper);
}
def Onnx_CompressOp : Onnx_ByIndex<"Compress", 2>, Since<28> {
  let arguments = (ins AnyTensor:$data, Onnx_Bools:$condition, OptionalAttr<I64Attr>:$axis);
}
def Onnx_ReverseSequenceOp : Onnx_ByIndex<"ReverseSequence", 2>, Since<28> {
  let arguments = (ins AnyTensor:$data, Onnx_Int64s:$sequence_lens, DefaultValuedOptionalAttr<I64Attr, "1">:$batch_axis,
    DefaultValuedOptionalAttr<I64Attr, "0">:$time_axis);
}

