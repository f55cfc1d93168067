// Declares the ops that the standard and ai.onnx.ml have for strings, and the one op that computes them.
include "compiler/onnx/Onnx.td"

def Onnx_TextOp : Onnx_CoreOp<"Text"> {
  let summary = "element by element what ingot_text_DOES of the support library does, with numpy's broadcasting; with a tail, that many elements for each, or for each row";
  let arguments = (ins Variadic<AnyTensor>:$xs, Onnx_Optional:$table, StrAttr:$does, I64Attr:$to, DefaultValuedOptionalAttr<I64Attr, "0">:$number,
    OptionalAttr<Onnx_SizesAttr>:$tail, UnitAttr:$rows);
  let results = (outs AnyTensor:$y);
  let hasVerifier = 1;
}
def Onnx_PiecesOp : Onnx_CoreOp<"Pieces"> {
  let summary = "strings taken apart by ingot_text_DOES, at most `most` pieces of each (-1: any number) and `more` elements where there are any, and how many ingot_text_COUNTS finds of each: graph/ReadSizes.cpp rewrites it";
  let arguments = (ins Onnx_Strings:$x, Onnx_Bytes:$table, StrAttr:$counts, StrAttr:$does, DefaultValuedOptionalAttr<I64Attr, "0">:$number,
    DefaultValuedOptionalAttr<I64Attr, "-1">:$most, DefaultValuedOptionalAttr<I64Attr, "0">:$more);
  let results = (outs AnyTensor:$y, AnyTensor:$count);
}
def Onnx_StringConcatOp : Onnx_AliasOp<"StringConcat", 2>, Since<20>;
def Onnx_StringSplitOp : Onnx_AliasOp<"StringSplit", 1>, Since<20> {
  let attributes = (ins OptionalAttr<StrAttr>:$delimiter, OptionalAttr<I64Attr>:$maxsplit);
}
def Onnx_TokenizerOp : Onnx_MicrosoftAlias<"Tokenizer", 1> {
  let attributes = (ins OptionalAttr<I64Attr>:$mark, OptionalAttr<StrAttr>:$pad_value, OptionalAttr<ArrayAttr>:$separators, OptionalAttr<StrAttr>:$tokenexp,
    OptionalAttr<I64Attr>:$mincharnum);
}
def Onnx_StringNormalizerOp : Onnx_AliasOp<"StringNormalizer", 1>, Since<10> {
  let attributes = (ins OptionalAttr<StrAttr>:$case_change_action, OptionalAttr<I64Attr>:$is_case_sensitive, OptionalAttr<StrAttr>:$locale,
    OptionalAttr<ArrayAttr>:$stopwords);
}
def Onnx_RegexFullMatchOp : Onnx_AliasOp<"RegexFullMatch", 1>, Since<20> {
  let attributes = (ins OptionalAttr<StrAttr>:$pattern);
}
def Onnx_CategoryMapperOp : Onnx_MlAlias<"CategoryMapper", 1>, Since<1> {
  let attributes = (ins OptionalAttr<DenseI64ArrayAttr>:$cats_int64s, OptionalAttr<ArrayAttr>:$cats_strings, OptionalAttr<I64Attr>:$default_int64,
    OptionalAttr<StrAttr>:$default_string);
}

/// An op that gives the values; the importer notes the keys.
def Onnx_ZipMapOp : Onnx_MlAlias<"ZipMap", 1>, Since<1> {
  let attributes = (ins OptionalAttr<DenseI64ArrayAttr>:$classlabels_int64s, OptionalAttr<ArrayAttr>:$classlabels_strings);
}

// An op on maps, whose keys and values are two operands.
def Onnx_DictVectorizerOp : Onnx_MlAlias<"DictVectorizer", 2>, Since<1> {
  let attributes = (ins OptionalAttr<DenseI64ArrayAttr>:$int64_vocabulary, OptionalAttr<ArrayAttr>:$string_vocabulary);
}
def Onnx_CastMapOp : Onnx_MlAlias<"CastMap", 2>, Since<1> {
  let attributes = (ins OptionalAttr<StrAttr>:$cast_to, OptionalAttr<StrAttr>:$map_form, OptionalAttr<I64Attr>:$max_map);
}
