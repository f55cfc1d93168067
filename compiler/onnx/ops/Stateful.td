// Declares layers that carry a state from call to call, instead of a cache that grows.
include "compiler/onnx/Onnx.td"

def Onnx_CausalConvWithStateOp : Onnx_Op<"CausalConvWithState", 4, [DeclareOpInterfaceMethods<Onnx_Decomposable>, Onnx_SameElements<>]>, Since<27> {
  let summary = "a depthwise convolution over the present and what came before";
  let arguments = (ins Onnx_Floats:$x, Onnx_Floats:$weight, Onnx_OptionalOf<Onnx_Floats>:$bias, Onnx_OptionalOf<Onnx_Floats>:$past_state,
    DefaultValuedOptionalAttr<StrAttr, "\"none\"">:$activation);
  let results = (outs AnyTensor:$y, AnyTensor:$present_state);
}
def Onnx_LinearAttentionOp : Onnx_Op<"LinearAttention", 6, [DeclareOpInterfaceMethods<Onnx_Decomposable>, Onnx_SameElements<"0, 1, 2, 4, 5">]>, Since<27> {
  let summary = "attention whose past is one matrix a head, written and read step by step";
  let arguments = (ins Onnx_Floats:$query, Onnx_Floats:$key, Onnx_Floats:$value, Onnx_OptionalOf<Onnx_Floats>:$past_state,
    Onnx_OptionalOf<Onnx_Floats>:$decay, Onnx_OptionalOf<Onnx_Floats>:$beta, DefaultValuedOptionalAttr<I64Attr, "0">:$chunk_size,
    I64Attr:$kv_num_heads, I64Attr:$q_num_heads, DefaultValuedOptionalAttr<F32Attr, "0.0f">:$scale,
    DefaultValuedOptionalAttr<StrAttr, "\"gated_delta\"">:$update_rule);
  let results = (outs AnyTensor:$y, AnyTensor:$present_state);
}
