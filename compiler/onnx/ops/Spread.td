// Declares ops that put windows back to where they came from.
include "compiler/onnx/Onnx.td"

class Onnx_Spread<string mnemonic, int inputs> : Onnx_Op<mnemonic, inputs, [DeclareOpInterfaceMethods<Onnx_Decomposable>]> {
  let results = (outs AnyTensor:$y);
}
def Onnx_Col2ImOp : Onnx_Spread<"Col2Im", 3>, Since<18> {
  let summary = "the sum of blocks, each at its place in the image";
  let arguments = (ins AnyTensor:$x, Onnx_Int64s:$image_shape, Onnx_Int64s:$block_shape, OptionalAttr<DenseI64ArrayAttr>:$dilations,
    OptionalAttr<DenseI64ArrayAttr>:$pads, OptionalAttr<DenseI64ArrayAttr>:$strides);
}
def Onnx_MaxUnpoolOp : Onnx_Spread<"MaxUnpool", 3>, Since<22> {
  let summary = "each element at the place from which MaxPool took it, zeros elsewhere";
  let arguments = (ins Onnx_Floats:$x, Onnx_Int64s:$indices, Onnx_OptionalOf<Onnx_Int64s>:$output_shape, DenseI64ArrayAttr:$kernel_shape,
    OptionalAttr<DenseI64ArrayAttr>:$pads, OptionalAttr<DenseI64ArrayAttr>:$strides);
}
