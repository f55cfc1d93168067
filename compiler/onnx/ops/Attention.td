// Attention and what language models put around it: rotary embeddings, caches that are written in place.
include "compiler/onnx/Onnx.td"

def Onnx_AttentionOp : Onnx_Op<"Attention", 7, [DeclareOpInterfaceMethods<Onnx_Decomposable>, Onnx_SameElements<"0, 1, 4">, Onnx_SameElements<"2, 5">]> {
  let arguments = (ins Onnx_Floats:$Q, Onnx_Floats:$K, Onnx_Floats:$V, Onnx_Optional:$attn_mask, Onnx_OptionalOf<Onnx_Floats>:$past_key,
    Onnx_OptionalOf<Onnx_Floats>:$past_value, Onnx_OptionalOf<Onnx_Int64s>:$nonpad_kv_seqlen,
    DefaultValuedOptionalAttr<I64Attr, "0">:$is_causal, OptionalAttr<I64Attr>:$q_num_heads, OptionalAttr<I64Attr>:$kv_num_heads,
    OptionalAttr<F32Attr>:$scale, DefaultValuedOptionalAttr<F32Attr, "0.0">:$softcap, OptionalAttr<I64Attr>:$softmax_precision,
    DefaultValuedOptionalAttr<I64Attr, "0">:$qk_matmul_output_mode, DefaultValuedOptionalAttr<I64Attr, "-1">:$left_window_size,
    DefaultValuedOptionalAttr<I64Attr, "-1">:$right_window_size);
  let results = (outs AnyTensor:$Y, AnyTensor:$present_key, AnyTensor:$present_value, AnyTensor:$qk_matmul_output);
}
def Onnx_RotaryEmbeddingOp : Onnx_Op<"RotaryEmbedding", 4, [DeclareOpInterfaceMethods<Onnx_Decomposable>, Onnx_SameElements<"0, 1, 2">]> {
  let arguments = (ins Onnx_Floats:$X, Onnx_Floats:$cos_cache, Onnx_Floats:$sin_cache, Onnx_OptionalOf<Onnx_Int64s>:$position_ids,
    DefaultValuedOptionalAttr<I64Attr, "0">:$interleaved, DefaultValuedOptionalAttr<I64Attr, "0">:$rotary_embedding_dim,
    DefaultValuedOptionalAttr<I64Attr, "0">:$num_heads);
  let results = (outs AnyTensor:$Y);
}
def Onnx_TensorScatterOp : Onnx_Op<"TensorScatter", 3, [DeclareOpInterfaceMethods<Onnx_Decomposable>, Onnx_SameElements<"0, 1">]> {
  let arguments = (ins AnyTensor:$past_cache, AnyTensor:$update, Onnx_OptionalOf<Onnx_Int64s>:$write_indices,
    DefaultValuedOptionalAttr<I64Attr, "-2">:$axis, DefaultValuedOptionalAttr<StrAttr, "\"linear\"">:$mode);
  let results = (outs AnyTensor:$present_cache);
}
