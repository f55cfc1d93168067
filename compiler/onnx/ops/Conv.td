// Convolutions and their transposes.
include "compiler/onnx/WindowArguments.td"

class Onnx_ConvLike<string mnemonic, list<Trait> traits = []>
    : Onnx_Op<mnemonic, 3, traits # [Onnx_SameElements<"0, 1, 2">]> {
  let results = (outs AnyTensor:$y);
}

def Onnx_ConvOp : Onnx_ConvLike<"Conv", [DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<22> {
  let summary = "y[n,o,p] = b[o] + sum of w[o,c,k] * x[n,c,p*stride + k*dilation - pad], zeros around x";
  let arguments = (ins Onnx_Floats:$x, Onnx_Floats:$w, Onnx_OptionalOf<Onnx_Floats>:$b,
    DefaultValuedOptionalAttr<StrAttr, "\"NOTSET\"">:$auto_pad, OptionalAttr<DenseI64ArrayAttr>:$dilations,
    DefaultValuedOptionalAttr<I64Attr, "1">:$group, OptionalAttr<DenseI64ArrayAttr>:$kernel_shape,
    OptionalAttr<DenseI64ArrayAttr>:$pads, OptionalAttr<DenseI64ArrayAttr>:$strides);
}

def Onnx_ConvTransposeOp : Onnx_ConvLike<"ConvTranspose", [DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<22> {
  let summary = "the adjoint of Conv: each input pixel scatters w[c,o,k] * x to p*stride + k*dilation - pad";
  let arguments = (ins Onnx_Floats:$x, Onnx_Floats:$w, Onnx_OptionalOf<Onnx_Floats>:$b,
    DefaultValuedOptionalAttr<StrAttr, "\"NOTSET\"">:$auto_pad, OptionalAttr<DenseI64ArrayAttr>:$dilations,
    DefaultValuedOptionalAttr<I64Attr, "1">:$group, OptionalAttr<DenseI64ArrayAttr>:$kernel_shape,
    OptionalAttr<DenseI64ArrayAttr>:$output_padding, OptionalAttr<DenseI64ArrayAttr>:$output_shape,
    OptionalAttr<DenseI64ArrayAttr>:$pads, OptionalAttr<DenseI64ArrayAttr>:$strides);
}

def Onnx_ConvIntegerOp : Onnx_Op<"ConvInteger", 4, [DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<10> {
  let summary = "convolution of quantized images without their scales, as int32";
  let arguments = Onnx_WindowArguments<(ins Onnx_Bytes:$x, Onnx_Bytes:$w, Onnx_OptionalOf<Onnx_Bytes>:$x_zero_point,
    Onnx_OptionalOf<Onnx_Bytes>:$w_zero_point)>.all;
  let results = (outs AnyTensor:$y);
}

def Onnx_QLinearConvOp : Onnx_Op<"QLinearConv", 9, [DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<10> {
  let summary = "convolution of quantized images, quantized; the bias is in units of x_scale * w_scale";
  let arguments = Onnx_WindowArguments<(ins Onnx_Bytes:$x, Onnx_Floats:$x_scale, Onnx_Bytes:$x_zero_point, Onnx_Bytes:$w, Onnx_Floats:$w_scale,
    Onnx_Bytes:$w_zero_point, Onnx_Floats:$y_scale, Onnx_Bytes:$y_zero_point, Onnx_OptionalOf<TensorOf<[I32]>>:$B)>.all;
  let results = (outs AnyTensor:$y);
}
