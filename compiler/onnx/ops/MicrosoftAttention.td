// Declares attention as com.microsoft has it: projections, masks in several forms, and caches.
include "compiler/onnx/Onnx.td"

class Onnx_MicrosoftAttention<string mnemonic, int inputs> : Onnx_MicrosoftOp<mnemonic, inputs, [DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<1>;

def Onnx_PackedInputAttentionOp : Onnx_MicrosoftAttention<"Attention", 7> {
  let summary = "attention behind one product that makes queries, keys and values of its input";
  let arguments = (ins Onnx_Floats:$input, Onnx_Floats:$weights, Onnx_OptionalOf<Onnx_Floats>:$bias, Onnx_OptionalOf<Onnx_Indices>:$mask_index,
    Onnx_OptionalOf<Onnx_Floats>:$past, Onnx_OptionalOf<Onnx_Floats>:$attention_bias, Onnx_Optional:$past_sequence_length, I64Attr:$num_heads,
    DefaultValuedOptionalAttr<I64Attr, "0">:$do_rotary, DefaultValuedOptionalAttr<F32Attr, "-10000.0f">:$mask_filter_value,
    DefaultValuedOptionalAttr<I64Attr, "0">:$past_present_share_buffer, OptionalAttr<DenseI64ArrayAttr>:$qkv_hidden_sizes,
    OptionalAttr<I64Attr>:$rotary_embedding_dim, OptionalAttr<F32Attr>:$scale, DefaultValuedOptionalAttr<I64Attr, "0">:$unidirectional);
  let results = (outs AnyTensor:$output, AnyTensor:$present);
}
def Onnx_MultiHeadAttentionOp : Onnx_MicrosoftAttention<"MultiHeadAttention", 8> {
  let summary = "attention of queries, keys and values that may have a bias";
  let arguments = (ins Onnx_Floats:$query, Onnx_OptionalOf<Onnx_Floats>:$key, Onnx_OptionalOf<Onnx_Floats>:$value, Onnx_OptionalOf<Onnx_Floats>:$bias,
    Onnx_OptionalOf<Onnx_Indices>:$key_padding_mask, Onnx_OptionalOf<Onnx_Floats>:$attention_bias, Onnx_OptionalOf<Onnx_Floats>:$past_key,
    Onnx_OptionalOf<Onnx_Floats>:$past_value, I64Attr:$num_heads, DefaultValuedOptionalAttr<F32Attr, "-10000.0f">:$mask_filter_value,
    OptionalAttr<F32Attr>:$scale, DefaultValuedOptionalAttr<I64Attr, "0">:$unidirectional);
  let results = (outs AnyTensor:$output, AnyTensor:$present_key, AnyTensor:$present_value);
  let memberDeclarations = "static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node);";
}
def Onnx_MicrosoftRotaryEmbeddingOp : Onnx_MicrosoftAttention<"RotaryEmbedding", 4> {
  let summary = "pairs of columns rotated by the angles of their positions, which may be one number from which they count up";
  let arguments = (ins Onnx_Floats:$input, Onnx_Int64s:$position_ids, Onnx_Floats:$cos_cache, Onnx_Floats:$sin_cache,
    DefaultValuedOptionalAttr<I64Attr, "0">:$interleaved, DefaultValuedOptionalAttr<I64Attr, "0">:$is_packed_batching,
    DefaultValuedOptionalAttr<I64Attr, "0">:$num_heads, DefaultValuedOptionalAttr<I64Attr, "0">:$rotary_embedding_dim,
    DefaultValuedOptionalAttr<F32Attr, "1.0f">:$scale);
  let results = (outs AnyTensor:$output);
}
def Onnx_QAttentionOp : Onnx_MicrosoftAttention<"QAttention", 9> {
  let summary = "Attention whose input and weights are quantized";
  let arguments = (ins TensorOf<[I8, UI8]>:$input, TensorOf<[I8, UI8]>:$weight, Onnx_Floats:$bias, Onnx_Floats:$input_scale, Onnx_Floats:$weight_scale,
    Onnx_OptionalOf<Onnx_Indices>:$mask_index, Onnx_OptionalOf<TensorOf<[I8, UI8]>>:$input_zero_point,
    Onnx_OptionalOf<TensorOf<[I8, UI8]>>:$weight_zero_point, Onnx_OptionalOf<Onnx_Floats>:$past, I64Attr:$num_heads,
    DefaultValuedOptionalAttr<I64Attr, "0">:$do_rotary, DefaultValuedOptionalAttr<F32Attr, "-10000.0f">:$mask_filter_value,
    DefaultValuedOptionalAttr<I64Attr, "0">:$past_present_share_buffer, OptionalAttr<F32Attr>:$scale,
    DefaultValuedOptionalAttr<I64Attr, "0">:$unidirectional);
  let results = (outs AnyTensor:$output, AnyTensor:$present);
}
