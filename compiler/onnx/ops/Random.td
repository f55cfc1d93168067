// Declares numbers drawn at random, which are the same in every run of a node, by its seed.
include "compiler/onnx/Onnx.td"

class Onnx_Random<string mnemonic, int inputs> : Onnx_Op<mnemonic, inputs, [DeclareOpInterfaceMethods<Onnx_Decomposable>]> {
  let results = (outs AnyTensor:$y);
  let memberDeclarations = "static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node);";
}
def Onnx_RandomUniformOp : Onnx_Random<"RandomUniform", 0>, Since<22> {
  let arguments = (ins DenseI64ArrayAttr:$shape, DefaultValuedOptionalAttr<I64Attr, "1">:$dtype, DefaultValuedOptionalAttr<F32Attr, "0.0f">:$low,
    DefaultValuedOptionalAttr<F32Attr, "1.0f">:$high, DefaultValuedOptionalAttr<F32Attr, "0.0f">:$seed);
}
def Onnx_RandomNormalOp : Onnx_Random<"RandomNormal", 0>, Since<22> {
  let arguments = (ins DenseI64ArrayAttr:$shape, DefaultValuedOptionalAttr<I64Attr, "1">:$dtype, DefaultValuedOptionalAttr<F32Attr, "0.0f">:$mean,
    DefaultValuedOptionalAttr<F32Attr, "1.0f">:$scale, DefaultValuedOptionalAttr<F32Attr, "0.0f">:$seed);
}
def Onnx_RandomUniformLikeOp : Onnx_Random<"RandomUniformLike", 1>, Since<22> {
  let arguments = (ins AnyTensor:$x, OptionalAttr<I64Attr>:$dtype, DefaultValuedOptionalAttr<F32Attr, "0.0f">:$low,
    DefaultValuedOptionalAttr<F32Attr, "1.0f">:$high, DefaultValuedOptionalAttr<F32Attr, "0.0f">:$seed);
}
def Onnx_RandomNormalLikeOp : Onnx_Random<"RandomNormalLike", 1>, Since<22> {
  let arguments = (ins AnyTensor:$x, OptionalAttr<I64Attr>:$dtype, DefaultValuedOptionalAttr<F32Attr, "0.0f">:$mean,
    DefaultValuedOptionalAttr<F32Attr, "1.0f">:$scale, DefaultValuedOptionalAttr<F32Attr, "0.0f">:$seed);
}
def Onnx_BernoulliOp : Onnx_Random<"Bernoulli", 1>, Since<22> {
  let arguments = (ins Onnx_Floats:$x, OptionalAttr<I64Attr>:$dtype, DefaultValuedOptionalAttr<F32Attr, "0.0f">:$seed);
}
def Onnx_MultinomialOp : Onnx_Random<"Multinomial", 1>, Since<22> {
  let arguments = (ins Onnx_Floats:$x, DefaultValuedOptionalAttr<I64Attr, "6">:$dtype, DefaultValuedOptionalAttr<I64Attr, "1">:$sample_size,
    DefaultValuedOptionalAttr<F32Attr, "0.0f">:$seed);
}
