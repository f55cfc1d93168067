// Declares operators of com.microsoft that write tokens with a decoder, which the node holds as a subgraph.
include "compiler/onnx/Onnx.td"
include "compiler/onnx/interfaces/Expansion.td"

/// The class of these operators. Operands may all be left out as far as their types go, so that one message says which
/// of them are needed. All have one set of attributes, as exporters write them.
class Onnx_SearchOp<string mnemonic, int inputs>
    : Onnx_MicrosoftOp<mnemonic, inputs, [DeclareOpInterfaceMethods<Onnx_Expandable>, DeclareOpInterfaceMethods<Onnx_SubgraphHolder>]>, Since<1> {
  dag operands = (ins);
  dag attributes = (ins DefaultValuedOptionalAttr<I64Attr, "0">:$model_type, DefaultValuedOptionalAttr<I64Attr, "-1">:$eos_token_id,
    DefaultValuedOptionalAttr<I64Attr, "-1">:$pad_token_id, DefaultValuedOptionalAttr<I64Attr, "-1">:$decoder_start_token_id,
    DefaultValuedOptionalAttr<I64Attr, "-1">:$vocab_size, DefaultValuedOptionalAttr<I64Attr, "0">:$no_repeat_ngram_size,
    DefaultValuedOptionalAttr<I64Attr, "0">:$early_stopping, DefaultValuedOptionalAttr<I64Attr, "0">:$custom,
    DefaultValuedOptionalAttr<I64Attr, "0">:$min_tokens_to_keep, DefaultValuedOptionalAttr<F32Attr, "1.0f">:$temperature,
    DefaultValuedOptionalAttr<F32Attr, "0.0f">:$top_p, DefaultValuedOptionalAttr<F32Attr, "-1e20f">:$filter_value,
    DefaultValuedOptionalAttr<F32Attr, "0.0f">:$presence_penalty);
  let arguments = !con(operands, attributes);
  let regions = (region AnyRegion:$decoder, AnyRegion:$init_decoder, AnyRegion:$encoder);
  let hasVerifier = 1;
  let assemblyFormat = [{operands attr-dict `:` functional-type(operands, results) (`decoder` $decoder^)? (`init_decoder` $init_decoder^)?
    (`encoder` $encoder^)?}];
}
def Onnx_GreedySearchOp : Onnx_SearchOp<"GreedySearch", 7> {
  let summary = "the best token, one after the other";
  let operands = (ins Onnx_Optional:$input_ids, Onnx_Optional:$max_length, Onnx_Optional:$min_length, Onnx_Optional:$repetition_penalty,
    Onnx_Optional:$vocab_mask, Onnx_Optional:$prefix_vocab_mask, Onnx_Optional:$attention_mask);
  let results = (outs AnyTensor:$sequences);
}
def Onnx_SamplingOp : Onnx_SearchOp<"Sampling", 9> {
  let summary = "tokens that are drawn by their scores";
  let operands = (ins Onnx_Optional:$input_ids, Onnx_Optional:$max_length, Onnx_Optional:$min_length, Onnx_Optional:$repetition_penalty,
    Onnx_Optional:$vocab_mask, Onnx_Optional:$prefix_vocab_mask, Onnx_Optional:$attention_mask, Onnx_Optional:$presence_mask, Onnx_Optional:$seed);
  let results = (outs AnyTensor:$sequences);
}
def Onnx_BeamSearchOp : Onnx_SearchOp<"BeamSearch", 12> {
  let summary = "the best sequences of several that go on at a time";
  let operands = (ins Onnx_Optional:$input_ids, Onnx_Optional:$max_length, Onnx_Optional:$min_length, Onnx_Optional:$num_beams,
    Onnx_Optional:$num_return_sequences, Onnx_Optional:$length_penalty, Onnx_Optional:$repetition_penalty, Onnx_Optional:$vocab_mask,
    Onnx_Optional:$prefix_vocab_mask, Onnx_Optional:$attention_mask, Onnx_Optional:$decoder_input_ids, Onnx_Optional:$logits_processor);
  let results = (outs AnyTensor:$sequences, AnyTensor:$sequences_scores, AnyTensor:$scores);
}
