// Declares operators of com.microsoft whose weights have a few bits, with a scale for each block of them.
include "compiler/onnx/Onnx.td"

class Onnx_BlockQuantized<string name, int inputs>
    : Onnx_MicrosoftOp<name, inputs, [DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<1> {
  let results = (outs AnyTensor:$y);
}

def Onnx_MsMatMulNBitsOp : Onnx_BlockQuantized<"MatMulNBits", 6> {
  let summary = "product with transposed weights of 2, 4 or 8 bits, with a scale and a zero point for each block of a column";
  let arguments = (ins Onnx_Floats:$a, TensorOf<[UI8]>:$b, Onnx_Floats:$scales, Onnx_Optional:$zeros, Onnx_Optional:$g_idx,
    Onnx_OptionalOf<Onnx_Floats>:$bias, I64Attr:$K, I64Attr:$N, DefaultValuedOptionalAttr<I64Attr, "4">:$bits, I64Attr:$block_size,
    DefaultValuedOptionalAttr<I64Attr, "0">:$accuracy_level, DefaultValuedOptionalAttr<I64Attr, "0">:$weight_prepacked);
}

def Onnx_MsMatMulBnb4Op : Onnx_BlockQuantized<"MatMulBnb4", 3> {
  let summary = "product with weights that are indices of 4 bits into a table of 16 numbers, with a factor for each block of them";
  let arguments = (ins Onnx_Floats:$a, TensorOf<[UI8]>:$b, Onnx_Floats:$absmax, I64Attr:$K, I64Attr:$N, I64Attr:$block_size, I64Attr:$quant_type,
    DefaultValuedOptionalAttr<I64Attr, "0">:$training_mode, DefaultValuedOptionalAttr<I64Attr, "1">:$transB);
}
def Onnx_MsGatherBlockQuantizedOp : Onnx_BlockQuantized<"GatherBlockQuantized", 4> {
  let summary = "Gather from a table that is quantized by blocks along an axis; the bytes of uint8 tables hold several elements of the last axis";
  let arguments = (ins AnyTensor:$data, Onnx_Indices:$indices, Onnx_Floats:$scales, Onnx_Optional:$zeros,
    DefaultValuedOptionalAttr<I64Attr, "4">:$bits, DefaultValuedOptionalAttr<I64Attr, "128">:$block_size,
    DefaultValuedOptionalAttr<I64Attr, "0">:$gather_axis, DefaultValuedOptionalAttr<I64Attr, "1">:$quantize_axis);
}
