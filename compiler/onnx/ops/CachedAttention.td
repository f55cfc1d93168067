// Declares attention with caches of keys and values that com.microsoft has besides that of language models in general.
include "compiler/onnx/Onnx.td"

def Onnx_SparseAttentionOp : Onnx_MicrosoftOp<"SparseAttention", 11, [DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<1> {
  let summary = "attention in which the blocks of keys that a block of queries looks at are given; keys stand in a cache that does not grow";
  let arguments = (ins Onnx_Floats:$query, Onnx_OptionalOf<Onnx_Floats>:$key, Onnx_OptionalOf<Onnx_Floats>:$value, Onnx_Floats:$past_key,
    Onnx_Floats:$past_value, Onnx_Indices:$block_row_indices, Onnx_Indices:$block_col_indices, Onnx_Indices:$total_sequence_length,
    Onnx_Indices:$key_total_sequence_lengths, Onnx_OptionalOf<Onnx_Floats>:$cos_cache, Onnx_OptionalOf<Onnx_Floats>:$sin_cache,
    DefaultValuedOptionalAttr<I64Attr, "0">:$do_rotary, I64Attr:$kv_num_heads, I64Attr:$num_heads,
    DefaultValuedOptionalAttr<I64Attr, "0">:$rotary_interleaved, OptionalAttr<F32Attr>:$scale, I64Attr:$sparse_block_size);
  let results = (outs AnyTensor:$output, AnyTensor:$present_key, AnyTensor:$present_value);
}
def Onnx_DecoderAttentionOp : Onnx_MicrosoftAlias<"DecoderAttention", 12> {
  let attributes = (ins OptionalAttr<F32Attr>:$mask_filter_value, OptionalAttr<I64Attr>:$num_heads);
}
