// Declares arithmetic on small integers whose results have 32 bits, and hashes.
include "compiler/onnx/Onnx.td"

def Onnx_MatMulInteger16Op : Onnx_MicrosoftAlias<"MatMulInteger16", 2>;
def Onnx_MulIntegerOp : Onnx_MicrosoftAlias<"MulInteger", 4>;
def Onnx_ReduceSumIntegerOp : Onnx_MicrosoftAlias<"ReduceSumInteger", 1> {
  let attributes = (ins OptionalAttr<DenseI64ArrayAttr>:$axes, OptionalAttr<I64Attr>:$keepdims);
}
def Onnx_MurmurHash3Op : Onnx_MicrosoftAlias<"MurmurHash3", 1> {
  let attributes = (ins OptionalAttr<I64Attr>:$positive, OptionalAttr<I64Attr>:$seed);
}
