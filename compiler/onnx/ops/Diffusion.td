// Declares what ONNX Runtime's optimizer makes of diffusion models: images whose channels are their last axis, and sums
// in front of the ops that follow them.
include "compiler/onnx/Onnx.td"

def Onnx_BiasAddOp : Onnx_MicrosoftAlias<"BiasAdd", 3>;
def Onnx_BiasSplitGeluOp : Onnx_MicrosoftAlias<"BiasSplitGelu", 2>;

class Onnx_ImageNormAlias<string mnemonic, int inputs> : Onnx_MicrosoftAlias<mnemonic, inputs> {
  let attributes = (ins OptionalAttr<I64Attr>:$activation, OptionalAttr<I64Attr>:$channels_last, OptionalAttr<F32Attr>:$epsilon,
    OptionalAttr<I64Attr>:$groups);
}
def Onnx_GroupNormOp : Onnx_ImageNormAlias<"GroupNorm", 3>;
def Onnx_SkipGroupNormOp : Onnx_ImageNormAlias<"SkipGroupNorm", 5>;

class Onnx_NhwcAlias<string mnemonic, int inputs, dag otherArguments = (ins)> : Onnx_MicrosoftAlias<mnemonic, inputs> {
  let attributes = !con((ins OptionalAttr<StrAttr>:$auto_pad, OptionalAttr<DenseI64ArrayAttr>:$dilations, OptionalAttr<I64Attr>:$group,
    OptionalAttr<DenseI64ArrayAttr>:$kernel_shape, OptionalAttr<DenseI64ArrayAttr>:$pads, OptionalAttr<DenseI64ArrayAttr>:$strides), otherArguments);
}
def Onnx_NhwcConvOp : Onnx_NhwcAlias<"NhwcConv", 3>;
def Onnx_NhwcFusedConvOp : Onnx_NhwcAlias<"NhwcFusedConv", 4, (ins OptionalAttr<StrAttr>:$activation, OptionalAttr<DenseF32ArrayAttr>:$activation_params)>;
