// Declares encoded images. The operator becomes two ops, since the header of an image tells how large it is when the
// model runs.
include "compiler/onnx/Onnx.td"

def Onnx_ImageDecoderOp : Onnx_AliasOp<"ImageDecoder", 1>, Since<20> {
  let summary = "the pixels of an encoded image";
  let attributes = (ins DefaultValuedOptionalAttr<StrAttr, "\"RGB\"">:$pixel_format);
}
def Onnx_ImageSizeOp : Onnx_CoreOp<"ImageSize"> {
  let summary = "height and width of an encoded image; what is no image has none";
  let arguments = (ins TensorOf<[UI8]>:$encoded);
  let results = (outs AnyTensor:$size);
}
def Onnx_DecodeImageOp : Onnx_CoreOp<"DecodeImage", [DeclareOpInterfaceMethods<Onnx_Parametric>]> {
  let summary = "the pixels of an encoded image of that height and width, in an order of channels of ingot.h";
  let arguments = (ins TensorOf<[UI8]>:$encoded, Onnx_Int64s:$size, I64Attr:$order);
  let results = (outs AnyTensor:$pixels);
}
