// Declares steps of optimizers (ai.onnx.preview.training).
include "compiler/onnx/Onnx.td"

class Onnx_OptimizerForm<string mnemonic> : Onnx_AliasOp<"ai.onnx.preview.training." # mnemonic, -1>;
def Onnx_AdagradOp : Onnx_OptimizerForm<"Adagrad">, Since<1> {
  let attributes = (ins OptionalAttr<F32Attr>:$decay_factor, OptionalAttr<F32Attr>:$epsilon, OptionalAttr<F32Attr>:$norm_coefficient);
}
def Onnx_AdamOp : Onnx_OptimizerForm<"Adam">, Since<1> {
  let attributes = (ins OptionalAttr<F32Attr>:$alpha, OptionalAttr<F32Attr>:$beta, OptionalAttr<F32Attr>:$epsilon, OptionalAttr<F32Attr>:$norm_coefficient,
    OptionalAttr<F32Attr>:$norm_coefficient_post);
}
def Onnx_MomentumOp : Onnx_OptimizerForm<"Momentum">, Since<1> {
  let attributes = (ins OptionalAttr<F32Attr>:$alpha, OptionalAttr<F32Attr>:$beta, OptionalAttr<StrAttr>:$mode, OptionalAttr<F32Attr>:$norm_coefficient);
}
