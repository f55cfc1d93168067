// Declares support vector machines of ai.onnx.ml.
include "compiler/onnx/Onnx.td"

class Onnx_SupportVectorForm<string mnemonic> : Onnx_MlAlias<mnemonic, 1> {
  dag machine = (ins OptionalAttr<DenseF32ArrayAttr>:$coefficients, OptionalAttr<DenseF32ArrayAttr>:$kernel_params, OptionalAttr<StrAttr>:$kernel_type,
    OptionalAttr<StrAttr>:$post_transform, OptionalAttr<DenseF32ArrayAttr>:$rho, OptionalAttr<DenseF32ArrayAttr>:$support_vectors);
}
def Onnx_SVMClassifierOp : Onnx_SupportVectorForm<"SVMClassifier">, Since<1> {
  let attributes = !con(machine, (ins OptionalAttr<DenseI64ArrayAttr>:$classlabels_ints, OptionalAttr<ArrayAttr>:$classlabels_strings,
    OptionalAttr<DenseF32ArrayAttr>:$prob_a, OptionalAttr<DenseF32ArrayAttr>:$prob_b, OptionalAttr<DenseI64ArrayAttr>:$vectors_per_class));
}
def Onnx_SVMRegressorOp : Onnx_SupportVectorForm<"SVMRegressor">, Since<1> {
  let attributes = !con(machine, (ins OptionalAttr<I64Attr>:$n_supports, OptionalAttr<I64Attr>:$one_class));
}
