// Declares convolutions that read their input at places which data determines.
include "compiler/onnx/Onnx.td"

def Onnx_DeformConvOp : Onnx_Op<"DeformConv", 5, [DeclareOpInterfaceMethods<Onnx_Decomposable>, Onnx_SameElements<>]>, Since<22> {
  let summary = "a convolution of samples: each tap is moved by an offset, and may be weighted by a mask";
  let arguments = (ins Onnx_Floats:$X, Onnx_Floats:$W, Onnx_Floats:$offset, Onnx_OptionalOf<Onnx_Floats>:$B, Onnx_OptionalOf<Onnx_Floats>:$mask,
    OptionalAttr<DenseI64ArrayAttr>:$dilations, DefaultValuedOptionalAttr<I64Attr, "1">:$group, OptionalAttr<DenseI64ArrayAttr>:$kernel_shape,
    DefaultValuedOptionalAttr<I64Attr, "1">:$offset_group, OptionalAttr<DenseI64ArrayAttr>:$pads, OptionalAttr<DenseI64ArrayAttr>:$strides);
  let results = (outs AnyTensor:$Y);
}
