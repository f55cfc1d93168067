// Declares ops on batches of sentences of different lengths, without the padding behind them: it is taken away and put
// back, with attention in between.
include "compiler/onnx/Onnx.td"

def Onnx_RemovePaddingOp : Onnx_MicrosoftAlias<"RemovePadding", 2>;
def Onnx_RestorePaddingOp : Onnx_MicrosoftAlias<"RestorePadding", 2>;
def Onnx_PackedAttentionOp : Onnx_MicrosoftAlias<"PackedAttention", 6> {
  let attributes = (ins OptionalAttr<F32Attr>:$mask_filter_value, OptionalAttr<I64Attr>:$num_heads, OptionalAttr<DenseI64ArrayAttr>:$qkv_hidden_sizes,
    OptionalAttr<F32Attr>:$scale);
}
def Onnx_PackedMultiHeadAttentionOp : Onnx_MicrosoftAlias<"PackedMultiHeadAttention", 7> {
  let attributes = (ins OptionalAttr<F32Attr>:$mask_filter_value, OptionalAttr<I64Attr>:$num_heads, OptionalAttr<F32Attr>:$scale);
}
