// Declares losses of classes: how far scores are from the classes that are right.
include "compiler/onnx/Onnx.td"

class Onnx_Loss<string mnemonic> : Onnx_Op<mnemonic, 3, [DeclareOpInterfaceMethods<Onnx_Decomposable>, Onnx_SameElements<"0, 2">]> {
  let arguments = (ins Onnx_Floats:$input, Onnx_Indices:$target, Onnx_OptionalOf<Onnx_Floats>:$weight, OptionalAttr<I64Attr>:$ignore_index,
    DefaultValuedOptionalAttr<StrAttr, "\"mean\"">:$reduction);
}
def Onnx_NegativeLogLikelihoodLossOp : Onnx_Loss<"NegativeLogLikelihoodLoss">, Since<22> {
  let results = (outs AnyTensor:$loss);
}
def Onnx_SoftmaxCrossEntropyLossOp : Onnx_Loss<"SoftmaxCrossEntropyLoss">, Since<13> {
  let results = (outs AnyTensor:$loss, AnyTensor:$log_prob);
}
