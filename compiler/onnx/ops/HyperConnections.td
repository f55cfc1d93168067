// Declares several streams beside each other in place of one residual sum, rows that are read from tables by hashes of
// n-grams, and gates of both.
include "compiler/onnx/Onnx.td"

def Onnx_BranchwiseRMSNormOp : Onnx_MicrosoftAlias<"BranchwiseRMSNorm", 2> {
  let attributes = (ins OptionalAttr<F32Attr>:$epsilon, OptionalAttr<I64Attr>:$num_branches);
}
def Onnx_HyperConnectionPreMixOp : Onnx_MicrosoftAlias<"HyperConnectionPreMix", 2> {
  let attributes = (ins OptionalAttr<I64Attr>:$num_branches, OptionalAttr<F32Attr>:$reduction_scale);
}
def Onnx_HyperConnectionPostMixOp : Onnx_MicrosoftAlias<"HyperConnectionPostMix", 4> {
  let attributes = (ins OptionalAttr<I64Attr>:$num_branches);
}
def Onnx_EngramGateOp : Onnx_MicrosoftAlias<"EngramGate", 6> {
  let attributes = (ins OptionalAttr<F32Attr>:$epsilon);
}
def Onnx_NGramHashMappingOp : Onnx_MicrosoftAlias<"NGramHashMapping", 7> {
  let attributes = (ins OptionalAttr<I64Attr>:$max_ngram_size, OptionalAttr<I64Attr>:$n_head_per_ngram, OptionalAttr<I64Attr>:$pad_id,
    OptionalAttr<I64Attr>:$reset_on_eos);
}
