// Declares products and convolutions of com.microsoft with what ONNX Runtime's optimizer fuses to them: transpositions,
// a sum, an activation.
include "compiler/onnx/Onnx.td"

class Onnx_GemmForm<string mnemonic> : Onnx_MicrosoftAlias<mnemonic, 3> {
  let attributes = (ins OptionalAttr<F32Attr>:$alpha, OptionalAttr<F32Attr>:$beta, OptionalAttr<I64Attr>:$transA, OptionalAttr<I64Attr>:$transB,
    OptionalAttr<StrAttr>:$activation, OptionalAttr<F32Attr>:$activation_alpha, OptionalAttr<F32Attr>:$activation_beta,
    OptionalAttr<F32Attr>:$activation_gamma);
}
def Onnx_FusedGemmOp : Onnx_GemmForm<"FusedGemm">;

class Onnx_ProductOp<string mnemonic>
    : Onnx_MicrosoftOp<mnemonic, 2, [Onnx_SameElements<>, DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<1> {
  let arguments = (ins AnyTensor:$a, AnyTensor:$b, DefaultValuedOptionalAttr<F32Attr, "1.0f">:$alpha, DefaultValuedOptionalAttr<I64Attr, "0">:$transA,
    DefaultValuedOptionalAttr<I64Attr, "0">:$transB, DefaultValuedOptionalAttr<I64Attr, "0">:$transBatchA,
    DefaultValuedOptionalAttr<I64Attr, "0">:$transBatchB);
  let results = (outs AnyTensor:$y);
}
/// A product, not an alias, since it is known only with the ranks which axes are transposed.
def Onnx_FusedMatMulOp : Onnx_ProductOp<"FusedMatMul">;
def Onnx_TransposeMatMulOp : Onnx_ProductOp<"TransposeMatMul">;

def Onnx_FusedMatMulActivationOp : Onnx_MicrosoftAlias<"FusedMatMulActivation", 2> {
  let attributes = (ins OptionalAttr<F32Attr>:$alpha, OptionalAttr<I64Attr>:$transA, OptionalAttr<I64Attr>:$transB, OptionalAttr<I64Attr>:$transBatchA,
    OptionalAttr<I64Attr>:$transBatchB, OptionalAttr<StrAttr>:$activation, OptionalAttr<F32Attr>:$activation_alpha,
    OptionalAttr<I64Attr>:$activation_axis, OptionalAttr<F32Attr>:$activation_beta, OptionalAttr<F32Attr>:$activation_gamma);
}

def Onnx_FusedConvOp : Onnx_MicrosoftAlias<"FusedConv", 4> {
  let attributes = (ins OptionalAttr<StrAttr>:$auto_pad, OptionalAttr<DenseI64ArrayAttr>:$dilations, OptionalAttr<I64Attr>:$group,
    OptionalAttr<DenseI64ArrayAttr>:$kernel_shape, OptionalAttr<DenseI64ArrayAttr>:$pads, OptionalAttr<DenseI64ArrayAttr>:$strides,
    OptionalAttr<StrAttr>:$activation, OptionalAttr<DenseF32ArrayAttr>:$activation_params);
}

def Onnx_ConvTransposeWithDynamicPadsOp : Onnx_MicrosoftAlias<"ConvTransposeWithDynamicPads", 4> {
  let attributes = (ins OptionalAttr<StrAttr>:$auto_pad, OptionalAttr<DenseI64ArrayAttr>:$dilations, OptionalAttr<I64Attr>:$group,
    OptionalAttr<DenseI64ArrayAttr>:$kernel_shape, OptionalAttr<DenseI64ArrayAttr>:$output_padding, OptionalAttr<DenseI64ArrayAttr>:$strides);
}
