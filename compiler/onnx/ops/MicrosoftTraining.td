// Declares what ONNX Runtime's optimizer makes of models in training, which may be run like others: fused dropouts and
// softmax.
include "compiler/onnx/Onnx.td"

class Onnx_DropoutForm<string mnemonic, int inputs> : Onnx_MicrosoftAlias<mnemonic, inputs> {
  let attributes = (ins OptionalAttr<I64Attr>:$seed);
}
def Onnx_BiasDropoutOp : Onnx_DropoutForm<"BiasDropout", 5>;
def Onnx_BitmaskDropoutOp : Onnx_DropoutForm<"BitmaskDropout", 3>;
def Onnx_BitmaskBiasDropoutOp : Onnx_DropoutForm<"BitmaskBiasDropout", 5>;
def Onnx_BiasSoftmaxOp : Onnx_MicrosoftAlias<"BiasSoftmax", 2> {
  let attributes = (ins OptionalAttr<I64Attr>:$axis, OptionalAttr<I64Attr>:$is_inner_broadcast);
}
def Onnx_IsAllFiniteOp : Onnx_MicrosoftAlias<"IsAllFinite", -1> {
  let attributes = (ins OptionalAttr<I64Attr>:$isinf_only, OptionalAttr<I64Attr>:$isnan_only);
}
def Onnx_TorchEmbeddingOp : Onnx_MicrosoftAlias<"TorchEmbedding", 4>;
