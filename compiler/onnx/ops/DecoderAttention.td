// Declares ops of com.microsoft that generate tokens: attention of one token over a cache that has room for all of
// them, and scores without tokens that would repeat others.
include "compiler/onnx/Onnx.td"

class Onnx_DecoderAttention<string mnemonic, int inputs> : Onnx_MicrosoftOp<mnemonic, inputs, [DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<1>;

def Onnx_DecoderMaskedMultiHeadAttentionOp : Onnx_DecoderAttention<"DecoderMaskedMultiHeadAttention", 11> {
  let summary = "MultiHeadAttention of one query for each sentence; keys and values are written into caches, where with cache_indirection each is looked up in the beam that it came from";
  let arguments = (ins Onnx_Floats:$query, Onnx_OptionalOf<Onnx_Floats>:$key, Onnx_OptionalOf<Onnx_Floats>:$value, Onnx_OptionalOf<Onnx_Indices>:$mask_index,
    Onnx_OptionalOf<Onnx_Floats>:$attention_bias, Onnx_OptionalOf<Onnx_Floats>:$past_key, Onnx_OptionalOf<Onnx_Floats>:$past_value,
    Onnx_OptionalOf<Onnx_Indices>:$past_sequence_length, Onnx_OptionalOf<Onnx_Indices>:$beam_width, Onnx_OptionalOf<Onnx_Indices>:$cache_indirection,
    Onnx_OptionalOf<Onnx_Floats>:$bias, I64Attr:$num_heads, DefaultValuedOptionalAttr<F32Attr, "-10000.0f">:$mask_filter_value,
    DefaultValuedOptionalAttr<I64Attr, "0">:$output_qk, DefaultValuedOptionalAttr<I64Attr, "0">:$past_present_share_buffer, OptionalAttr<F32Attr>:$scale);
  let results = (outs AnyTensor:$output, AnyTensor:$present_key, AnyTensor:$present_value);
}

def Onnx_DecoderMaskedSelfAttentionOp : Onnx_DecoderAttention<"DecoderMaskedSelfAttention", 9> {
  let summary = "the same behind one product that makes queries, keys and values of its input";
  let arguments = (ins Onnx_Floats:$input, Onnx_Floats:$weights, Onnx_Floats:$bias, Onnx_OptionalOf<Onnx_Indices>:$mask_index, Onnx_Floats:$past,
    Onnx_OptionalOf<Onnx_Floats>:$attention_bias, Onnx_OptionalOf<Onnx_Indices>:$past_sequence_length, Onnx_OptionalOf<Onnx_Indices>:$beam_width,
    Onnx_OptionalOf<Onnx_Indices>:$cache_indirection, I64Attr:$num_heads, DefaultValuedOptionalAttr<I64Attr, "0">:$do_rotary,
    DefaultValuedOptionalAttr<F32Attr, "-10000.0f">:$mask_filter_value, DefaultValuedOptionalAttr<I64Attr, "0">:$past_present_share_buffer, OptionalAttr<F32Attr>:$scale);
  let results = (outs AnyTensor:$output, AnyTensor:$present);
}

def Onnx_NGramRepeatBlockOp : Onnx_MicrosoftAlias<"NGramRepeatBlock", 2> {
  let attributes = (ins I64Attr:$ngram_size);
}
