// Declares ops on batches of sentences of different lengths, without the padding behind them: it is taken away and put
// back, with attention in between.
include "compiler/onnx/Onnx.td"

def Onnx_RemovePaddingOp : Onnx_MicrosoftForm<"RemovePadding", 2>;
def Onnx_RestorePaddingOp : Onnx_MicrosoftForm<"RestorePadding", 2>;
def Onnx_PackedAttentionOp : Onnx_MicrosoftForm<"PackedAttention", 6> {
  let attributes = (ins OptionalAttr<F32Attr>:$mask_filter_value, OptionalAttr<I64Attr>:$num_heads, OptionalAttr<DenseI64ArrayAttr>:$qkv_hidden_sizes,
    OptionalAttr<F32Attr>:$scale);
}
def Onnx_PackedMultiHeadAttentionOp : Onnx_MicrosoftForm<"PackedMultiHeadAttention", 7> {
  let attributes = (ins OptionalAttr<F32Attr>:$mask_filter_value, OptionalAttr<I64Attr>:$num_heads, OptionalAttr<F32Attr>:$scale);
}
