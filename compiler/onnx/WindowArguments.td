// Declares the attributes of convolutions of integers, the standard's and those of the kernels' formats.
#ifndef INGOT_WINDOW_ARGUMENTS
#define INGOT_WINDOW_ARGUMENTS
include "compiler/onnx/Onnx.td"

class Onnx_WindowArguments<dag tensors> {
  dag all = !con(tensors, (ins DefaultValuedOptionalAttr<StrAttr, "\"NOTSET\"">:$auto_pad, OptionalAttr<DenseI64ArrayAttr>:$dilations,
    DefaultValuedOptionalAttr<I64Attr, "1">:$group, OptionalAttr<DenseI64ArrayAttr>:$kernel_shape,
    OptionalAttr<DenseI64ArrayAttr>:$pads, OptionalAttr<DenseI64ArrayAttr>:$strides));
}
#endif
