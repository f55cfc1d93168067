// Declares pools, in which a window, or the whole image, becomes one element, and the local response normalisation,
// which is a pool over channels.
include "compiler/onnx/Onnx.td"

class Onnx_Pool<string mnemonic> : Onnx_Op<mnemonic, 1, [DeclareOpInterfaceMethods<Onnx_Decomposable>]> {}

def Onnx_MaxPoolOp : Onnx_Pool<"MaxPool">, Since<22> {
  let summary = "the largest element of each window, and where it was";
  let arguments = (ins TensorOf<[Onnx_Float, I8, UI8]>:$x,
    DefaultValuedOptionalAttr<StrAttr, "\"NOTSET\"">:$auto_pad, DefaultValuedOptionalAttr<I64Attr, "0">:$ceil_mode,
    OptionalAttr<DenseI64ArrayAttr>:$dilations, DenseI64ArrayAttr:$kernel_shape, OptionalAttr<DenseI64ArrayAttr>:$pads,
    DefaultValuedOptionalAttr<I64Attr, "0">:$storage_order, OptionalAttr<DenseI64ArrayAttr>:$strides);
  let results = (outs AnyTensor:$y, AnyTensor:$indices);
}
def Onnx_AveragePoolOp : Onnx_Pool<"AveragePool">, Since<22> {
  let summary = "the mean of each window, with or without the padding";
  let arguments = (ins Onnx_Floats:$x,
    DefaultValuedOptionalAttr<StrAttr, "\"NOTSET\"">:$auto_pad, DefaultValuedOptionalAttr<I64Attr, "0">:$ceil_mode,
    DefaultValuedOptionalAttr<I64Attr, "0">:$count_include_pad, OptionalAttr<DenseI64ArrayAttr>:$dilations,
    DenseI64ArrayAttr:$kernel_shape, OptionalAttr<DenseI64ArrayAttr>:$pads, OptionalAttr<DenseI64ArrayAttr>:$strides);
  let results = (outs AnyTensor:$y);
}
def Onnx_LpPoolOp : Onnx_Pool<"LpPool">, Since<22> {
  let summary = "the p-norm of each window; p of 1 and 2 are kernels, others are made of the first";
  let arguments = (ins Onnx_Floats:$x,
    DefaultValuedOptionalAttr<StrAttr, "\"NOTSET\"">:$auto_pad, DefaultValuedOptionalAttr<I64Attr, "0">:$ceil_mode,
    OptionalAttr<DenseI64ArrayAttr>:$dilations, DenseI64ArrayAttr:$kernel_shape, DefaultValuedOptionalAttr<I64Attr, "2">:$p,
    OptionalAttr<DenseI64ArrayAttr>:$pads, OptionalAttr<DenseI64ArrayAttr>:$strides);
  let results = (outs AnyTensor:$y);
}

class Onnx_GlobalPool<string mnemonic> : Onnx_Op<mnemonic, 1> {
  let arguments = (ins Onnx_Floats:$x);
  let results = (outs AnyTensor:$y);
}
def Onnx_GlobalAveragePoolOp : Onnx_GlobalPool<"GlobalAveragePool">, Since<22> { let summary = "the mean of each channel"; }
def Onnx_GlobalMaxPoolOp : Onnx_GlobalPool<"GlobalMaxPool">, Since<22> { let summary = "the largest element of each channel"; }

def Onnx_GlobalLpPoolOp : Onnx_Op<"GlobalLpPool", 1, [DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<22> {
  let summary = "the p-norm of each channel";
  let arguments = (ins Onnx_Floats:$x, DefaultValuedOptionalAttr<I64Attr, "2">:$p);
  let results = (outs AnyTensor:$y);
  let memberDeclarations = "static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node);";
}

def Onnx_LRNOp : Onnx_Op<"LRN", 1, [DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<13> {
  let summary = "x / (bias + alpha / size * sum of squares over `size` neighbouring channels) ^ beta";
  let arguments = (ins Onnx_Floats:$x, DefaultValuedOptionalAttr<F32Attr, "0.0001f">:$alpha, DefaultValuedOptionalAttr<F32Attr, "0.75f">:$beta,
    DefaultValuedOptionalAttr<F32Attr, "1.0f">:$bias, I64Attr:$size);
  let results = (outs AnyTensor:$y);
}
