// Declares attention of language models as com.microsoft has it, with a cache.
include "compiler/onnx/Onnx.td"

def Onnx_GroupQueryAttentionOp : Onnx_MicrosoftOp<"GroupQueryAttention", 16, [DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<1> {
  let summary = "attention of a language model: heads share keys, which stand in a cache as long as the past or the whole sequence; rotary embeddings inside";
  let arguments = (ins Onnx_Floats:$query, Onnx_OptionalOf<Onnx_Floats>:$key, Onnx_OptionalOf<Onnx_Floats>:$value, Onnx_OptionalOf<Onnx_Floats>:$past_key,
    Onnx_OptionalOf<Onnx_Floats>:$past_value, Onnx_Indices:$seqlens_k, Onnx_Indices:$total_sequence_length, Onnx_OptionalOf<Onnx_Floats>:$cos_cache,
    Onnx_OptionalOf<Onnx_Floats>:$sin_cache, Onnx_OptionalOf<Onnx_Int64s>:$position_ids, Onnx_OptionalOf<Onnx_Floats>:$attention_bias,
    Onnx_OptionalOf<Onnx_Floats>:$head_sink, Onnx_Optional:$k_scale, Onnx_Optional:$v_scale, Onnx_OptionalOf<Onnx_Floats>:$q_norm_weight,
    Onnx_OptionalOf<Onnx_Floats>:$k_norm_weight, I64Attr:$num_heads, I64Attr:$kv_num_heads, DefaultValuedOptionalAttr<I64Attr, "1">:$causal,
    DefaultValuedOptionalAttr<I64Attr, "0">:$do_rotary, OptionalAttr<I64Attr>:$kv_cache_bit_width, OptionalAttr<StrAttr>:$k_quant_type,
    DefaultValuedOptionalAttr<I64Attr, "-1">:$local_window_size, DefaultValuedOptionalAttr<F32Attr, "1e-6f">:$qk_norm_epsilon,
    DefaultValuedOptionalAttr<I64Attr, "0">:$qk_output, DefaultValuedOptionalAttr<I64Attr, "0">:$rotary_interleaved, OptionalAttr<F32Attr>:$scale,
    DefaultValuedOptionalAttr<I64Attr, "0">:$sliding_window_cache, DefaultValuedOptionalAttr<I64Attr, "-1">:$smooth_softmax,
    DefaultValuedOptionalAttr<F32Attr, "0.0f">:$softcap, OptionalAttr<StrAttr>:$v_quant_type);
  let results = (outs AnyTensor:$output, AnyTensor:$present_key, AnyTensor:$present_value);
}
