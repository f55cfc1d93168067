// Declares ops on complex numbers as com.microsoft has them, pairs along the last axis: products, and Fourier
// transforms of real signals.
include "compiler/onnx/Onnx.td"

def Onnx_ComplexMulOp : Onnx_MicrosoftAlias<"ComplexMul", 2>;
def Onnx_ComplexMulConjOp : Onnx_MicrosoftAlias<"ComplexMulConj", 2>;
class Onnx_RealTransformForm<string mnemonic> : Onnx_MicrosoftAlias<mnemonic, 1> {
  let attributes = (ins OptionalAttr<I64Attr>:$normalized, OptionalAttr<I64Attr>:$onesided, OptionalAttr<I64Attr>:$signal_ndim);
}
def Onnx_RfftOp : Onnx_RealTransformForm<"Rfft">;
def Onnx_IrfftOp : Onnx_RealTransformForm<"Irfft">;
