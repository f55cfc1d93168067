// Declares operators of ai.onnx.ml on numbers: linear models, and operators that prepare features.
include "compiler/onnx/Onnx.td"

class Onnx_LinearForm<string mnemonic> : Onnx_MlAlias<mnemonic, 1> {
  dag linear = (ins OptionalAttr<DenseF32ArrayAttr>:$coefficients, OptionalAttr<DenseF32ArrayAttr>:$intercepts, OptionalAttr<StrAttr>:$post_transform);
}
def Onnx_LinearClassifierOp : Onnx_LinearForm<"LinearClassifier">, Since<1> {
  let attributes = !con(linear, (ins OptionalAttr<DenseI64ArrayAttr>:$classlabels_ints, OptionalAttr<ArrayAttr>:$classlabels_strings,
    OptionalAttr<I64Attr>:$multi_class));
}
def Onnx_LinearRegressorOp : Onnx_LinearForm<"LinearRegressor">, Since<1> {
  let attributes = !con(linear, (ins OptionalAttr<I64Attr>:$targets));
}
def Onnx_NormalizerOp : Onnx_MlAlias<"Normalizer", 1>, Since<1> {
  let attributes = (ins OptionalAttr<StrAttr>:$norm);
}
def Onnx_ScalerOp : Onnx_MlAlias<"Scaler", 1>, Since<1> {
  let attributes = (ins OptionalAttr<DenseF32ArrayAttr>:$offset, OptionalAttr<DenseF32ArrayAttr>:$scale);
}
def Onnx_ImputerOp : Onnx_MlAlias<"Imputer", 1>, Since<1> {
  let attributes = (ins OptionalAttr<DenseF32ArrayAttr>:$imputed_value_floats, OptionalAttr<DenseI64ArrayAttr>:$imputed_value_int64s,
    OptionalAttr<F32Attr>:$replaced_value_float, OptionalAttr<I64Attr>:$replaced_value_int64);
}
def Onnx_BinarizerOp : Onnx_MlAlias<"Binarizer", 1>, Since<1> {
  let attributes = (ins OptionalAttr<F32Attr>:$threshold);
}
def Onnx_ArrayFeatureExtractorOp : Onnx_MlAlias<"ArrayFeatureExtractor", 2>, Since<1>;
def Onnx_FeatureVectorizerOp : Onnx_MlAlias<"FeatureVectorizer", -1>, Since<1> {
  let attributes = (ins OptionalAttr<DenseI64ArrayAttr>:$inputdimensions);
}
def Onnx_OneHotEncoderOp : Onnx_MlAlias<"OneHotEncoder", 1>, Since<1> {
  let attributes = (ins OptionalAttr<DenseI64ArrayAttr>:$cats_int64s, OptionalAttr<ArrayAttr>:$cats_strings, OptionalAttr<I64Attr>:$zeros);
}
def Onnx_LabelEncoderOp : Onnx_MlAlias<"LabelEncoder", 1>, Since<4> {
  let attributes = (ins OptionalAttr<F32Attr>:$default_float, OptionalAttr<I64Attr>:$default_int64, OptionalAttr<StrAttr>:$default_string,
    OptionalAttr<ElementsAttr>:$default_tensor, OptionalAttr<DenseF32ArrayAttr>:$keys_floats, OptionalAttr<DenseI64ArrayAttr>:$keys_int64s,
    OptionalAttr<ArrayAttr>:$keys_strings, OptionalAttr<ElementsAttr>:$keys_tensor, OptionalAttr<DenseF32ArrayAttr>:$values_floats,
    OptionalAttr<DenseI64ArrayAttr>:$values_int64s, OptionalAttr<ArrayAttr>:$values_strings, OptionalAttr<ElementsAttr>:$values_tensor,
    OptionalAttr<ArrayAttr>:$classes_strings);
}
