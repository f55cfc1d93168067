// Declares what the places of tokens add to scores, and rotations by the angles of positions that are of several kinds.
include "compiler/onnx/Onnx.td"

def Onnx_RelativePositionBiasOp : Onnx_MicrosoftAlias<"RelativePositionBias", 3> {
  let attributes = (ins OptionalAttr<I64Attr>:$is_bidirectional, OptionalAttr<I64Attr>:$max_distance);
}
def Onnx_GatedRelativePositionBiasOp : Onnx_MicrosoftAlias<"GatedRelativePositionBias", 7> {
  let attributes = (ins OptionalAttr<I64Attr>:$num_heads);
}
def Onnx_MRotaryEmbeddingOp : Onnx_MicrosoftAlias<"MRotaryEmbedding", 4> {
  let attributes = (ins OptionalAttr<I64Attr>:$interleaved, OptionalAttr<I64Attr>:$is_packed_batching, OptionalAttr<I64Attr>:$mrope_layout,
    OptionalAttr<DenseI64ArrayAttr>:$mrope_section, OptionalAttr<I64Attr>:$num_heads, OptionalAttr<I64Attr>:$rotary_embedding_dim,
    OptionalAttr<F32Attr>:$scale);
}
def Onnx_GemmaRotaryEmbeddingOp : Onnx_MicrosoftAlias<"GemmaRotaryEmbedding", 5>;
