// Declares convolutions in the formats of kernels. Their third operand, which is always none, makes them like others.
include "compiler/onnx/Formats.td"
include "compiler/onnx/WindowArguments.td"

def Formats_Int8ConvOp : Formats_Op<"Int8Conv", [DeclareOpInterfaceMethods<Onnx_Decomposable>]> {
  let summary = "Conv of uint8 by int8, with sums of int32; around the image lies `padding`";
  let arguments = !con(Onnx_WindowArguments<(ins AnyTensor:$x, AnyTensor:$w, NoneType:$b)>.all,
    (ins DefaultValuedOptionalAttr<I64Attr, "0">:$padding));
  let results = (outs AnyTensor:$y);
}

def Formats_Bf16ConvOp : Formats_Op<"Bf16Conv"> {
  let summary = "Conv of bfloat16 by constant weights of bfloat16, with sums of float32";
  let arguments = Onnx_WindowArguments<(ins TensorOf<[BF16]>:$x, TensorOf<[BF16]>:$w, NoneType:$b)>.all;
  let results = (outs AnyTensor:$y);
}
