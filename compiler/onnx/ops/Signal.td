// Declares Fourier transforms and windows of signals.
include "compiler/onnx/Onnx.td"

class Onnx_Window<string mnemonic> : Onnx_Op<mnemonic, 1, [DeclareOpInterfaceMethods<Onnx_Decomposable>]> {
  let arguments = (ins Onnx_Indices:$size, DefaultValuedOptionalAttr<I64Attr, "1">:$periodic, DefaultValuedOptionalAttr<I64Attr, "1">:$output_datatype);
  let results = (outs AnyTensor:$y);
}
def Onnx_HannWindowOp : Onnx_Window<"HannWindow">, Since<17>;
def Onnx_HammingWindowOp : Onnx_Window<"HammingWindow">, Since<17>;
def Onnx_BlackmanWindowOp : Onnx_Window<"BlackmanWindow">, Since<17>;

class Onnx_Transform<string mnemonic, int inputs, list<Trait> traits = []>
    : Onnx_Op<mnemonic, inputs, traits # [DeclareOpInterfaceMethods<Onnx_Decomposable>]> {
  let results = (outs AnyTensor:$y);
}
/// `axis` is an input since opset 20, an attribute before.
def Onnx_DFTOp : Onnx_Transform<"DFT", 3>, Since<20> {
  let summary = "the discrete Fourier transform; the last axis is [real] or [real, imaginary]";
  let arguments = (ins Onnx_Floats:$x, Onnx_OptionalOf<Onnx_Indices>:$dft_length, Onnx_OptionalOf<Onnx_Int64s>:$axis,
    DefaultValuedOptionalAttr<I64Attr, "0">:$inverse, DefaultValuedOptionalAttr<I64Attr, "0">:$onesided);
  let memberDeclarations = "static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node);";
}
def Onnx_STFTOp : Onnx_Transform<"STFT", 4, [Onnx_SameElements<"0, 2">, Onnx_SameElements<"1, 3">]>, Since<17> {
  let summary = "DFT of frames, each so many samples behind the one before and weighted by a window";
  let arguments = (ins Onnx_Floats:$signal, Onnx_Indices:$frame_step, Onnx_OptionalOf<Onnx_Floats>:$window,
    Onnx_OptionalOf<Onnx_Indices>:$frame_length, DefaultValuedOptionalAttr<I64Attr, "1">:$onesided);
}
