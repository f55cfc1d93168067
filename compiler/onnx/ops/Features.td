// Declares ops that prepare signals and texts for a network: filters of a scale of frequencies, and counts of n-grams.
include "compiler/onnx/Onnx.td"

def Onnx_MelWeightMatrixOp : Onnx_AliasOp<"MelWeightMatrix", 5>, Since<17> {
  let attributes = (ins OptionalAttr<I64Attr>:$output_datatype);
}
def Onnx_TfIdfVectorizerOp : Onnx_AliasOp<"TfIdfVectorizer", 1>, Since<9> {
  let attributes = (ins OptionalAttr<I64Attr>:$max_gram_length, OptionalAttr<I64Attr>:$max_skip_count, OptionalAttr<I64Attr>:$min_gram_length,
    OptionalAttr<StrAttr>:$mode, OptionalAttr<DenseI64ArrayAttr>:$ngram_counts, OptionalAttr<DenseI64ArrayAttr>:$ngram_indexes,
    OptionalAttr<DenseI64ArrayAttr>:$pool_int64s, OptionalAttr<ArrayAttr>:$pool_strings, OptionalAttr<DenseF32ArrayAttr>:$weights);
}
