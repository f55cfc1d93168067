// Declares attention and what language models put around it: rotary embeddings, and caches that are written in place.
include "compiler/onnx/Onnx.td"

def Onnx_AttendOp : Onnx_CoreOp<"Attend", [IsolatedFromAbove, SingleBlock]> {
  let summary = "softmax(scores(Q K')) V in one go: no score is stored";
  let description = [{
    Over axes [batch..., queries, keys], which are those of the region's first argument: a product of a query and a key. What the region makes of it
    elementwise, with elements of `others` (its further arguments, which broadcast to these axes), is a score; a row's scores go through a softmax and
    weigh the rows of V.

    Operands are read where they lie. `walkQ` has an offset and a stride for each axis of [batch..., queries, width], in elements of the row-major
    operand; `walkK` the same for [batch..., keys, width], `walkV` for [batch..., keys, valueWidth]. The result has the axes
    [batch..., queries, valueWidth] in the order `perm`. What a row gives that has no key to look at says `empty`: `nan` is what a softmax gives,
    `zero` gives 0 where all scores are minus infinity, `never-nan` gives 0 also where a score is NaN.

    The region may say which key is the last one that a query looks at: the scores of those behind it are minus infinity, so that nobody has to read them.
  }];
  let arguments = (ins Onnx_Floats:$Q, Onnx_Floats:$K, Onnx_Floats:$V, Variadic<AnyTensor>:$others, Onnx_StridedAttr:$walkQ, Onnx_StridedAttr:$walkK,
    Onnx_StridedAttr:$walkV, I64Attr:$width, I64Attr:$valueWidth, DenseI64ArrayAttr:$perm, DefaultValuedAttr<StrAttr, "\"nan\"">:$empty);
  let results = (outs AnyTensor:$Y);
  let regions = (region SizedRegion<1>:$scores);
  let hasVerifier = 1;
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results) $scores";
  let extraClassDeclaration = [{
    ::mlir::Block &block() { return getScores().front(); }
    ::mlir::Value product() { return block().getArgument(0); }
    ::mlir::Value score() { return block().getTerminator()->getOperand(0); }
    /// Returns the argument of the region that is the last key of each query; null: all keys are looked at.
    ::mlir::BlockArgument lastKey();
  }];
}
def Onnx_ScoreOp : Op<Onnx_Dialect, "Score", [Pure, Terminator, HasParent<"AttendOp">]> {
  let summary = "the score that a region of Attend computes";
  let arguments = (ins AnyTensor:$value, Optional<AnyTensor>:$lastKey);
  let assemblyFormat = "$value (`to` $lastKey^ `:` type($lastKey))? attr-dict `:` type($value)";
}

def Onnx_AttentionOp : Onnx_Op<"Attention", 7, [DeclareOpInterfaceMethods<Onnx_Decomposable>, Onnx_SameElements<"0, 1, 4">, Onnx_SameElements<"2, 5">]>, Since<25> {
  let arguments = (ins Onnx_Floats:$Q, Onnx_Floats:$K, Onnx_Floats:$V, Onnx_Optional:$attn_mask, Onnx_OptionalOf<Onnx_Floats>:$past_key,
    Onnx_OptionalOf<Onnx_Floats>:$past_value, Onnx_OptionalOf<Onnx_Int64s>:$nonpad_kv_seqlen,
    DefaultValuedOptionalAttr<I64Attr, "0">:$is_causal, OptionalAttr<I64Attr>:$q_num_heads, OptionalAttr<I64Attr>:$kv_num_heads,
    OptionalAttr<F32Attr>:$scale, DefaultValuedOptionalAttr<F32Attr, "0.0">:$softcap, OptionalAttr<I64Attr>:$softmax_precision,
    DefaultValuedOptionalAttr<I64Attr, "0">:$qk_matmul_output_mode, DefaultValuedOptionalAttr<I64Attr, "-1">:$left_window_size,
    DefaultValuedOptionalAttr<I64Attr, "-1">:$right_window_size);
  let results = (outs AnyTensor:$Y, AnyTensor:$present_key, AnyTensor:$present_value, AnyTensor:$qk_matmul_output);
}
def Onnx_RotaryEmbeddingOp : Onnx_Op<"RotaryEmbedding", 4, [DeclareOpInterfaceMethods<Onnx_Decomposable>, Onnx_SameElements<"0, 1, 2">]>, Since<23> {
  let arguments = (ins Onnx_Floats:$X, Onnx_Floats:$cos_cache, Onnx_Floats:$sin_cache, Onnx_OptionalOf<Onnx_Int64s>:$position_ids,
    DefaultValuedOptionalAttr<I64Attr, "0">:$interleaved, DefaultValuedOptionalAttr<I64Attr, "0">:$rotary_embedding_dim,
    DefaultValuedOptionalAttr<I64Attr, "0">:$num_heads);
  let results = (outs AnyTensor:$Y);
}
def Onnx_TensorScatterOp : Onnx_Op<"TensorScatter", 3, [DeclareOpInterfaceMethods<Onnx_Decomposable>, Onnx_SameElements<"0, 1">]>, Since<24> {
  let arguments = (ins AnyTensor:$past_cache, AnyTensor:$update, Onnx_OptionalOf<Onnx_Int64s>:$write_indices,
    DefaultValuedOptionalAttr<I64Attr, "-2">:$axis, DefaultValuedOptionalAttr<StrAttr, "\"linear\"">:$mode);
  let results = (outs AnyTensor:$present_cache);
}
