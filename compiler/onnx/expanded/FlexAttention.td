// Declares FlexAttention of ai.onnx.preview.
include "compiler/onnx/Onnx.td"
include "compiler/onnx/interfaces/Expansion.td"

def Onnx_FlexAttentionOp : Onnx_PreviewOp<"FlexAttention", 3,
    [DeclareOpInterfaceMethods<Onnx_Expandable>, DeclareOpInterfaceMethods<Onnx_SubgraphHolder>]>, Since<1> {
  let summary = "attention whose scores, and whose weights behind the softmax, go through subgraphs";
  let arguments = (ins Onnx_Floats:$Q, Onnx_Floats:$K, Onnx_Floats:$V, OptionalAttr<F32Attr>:$scale, OptionalAttr<I64Attr>:$softmax_precision);
  let results = (outs AnyTensor:$Y);
  let regions = (region AnyRegion:$score_mod, AnyRegion:$prob_mod);
  let hasVerifier = 1;
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results) (`score_mod` $score_mod^)? (`prob_mod` $prob_mod^)?";
}
