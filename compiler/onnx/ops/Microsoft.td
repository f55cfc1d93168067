// Declares operators of com.microsoft that are other ways to write those of the standard: mostly what ONNX Runtime's
// optimizer makes of several nodes.
include "compiler/onnx/Onnx.td"

def Onnx_GemmFastGeluOp : Onnx_MicrosoftAlias<"GemmFastGelu", 3>;
def Onnx_MicrosoftGeluOp : Onnx_MicrosoftAlias<"Gelu", 1>;
def Onnx_FastGeluOp : Onnx_MicrosoftAlias<"FastGelu", 2>;
def Onnx_BiasGeluOp : Onnx_MicrosoftAlias<"BiasGelu", 2>;
def Onnx_QuickGeluOp : Onnx_MicrosoftAlias<"QuickGelu", 1> {
  let attributes = (ins OptionalAttr<F32Attr>:$alpha);
}

class Onnx_SkipForm<string mnemonic, int inputs> : Onnx_MicrosoftAlias<mnemonic, inputs> {
  let attributes = (ins OptionalAttr<F32Attr>:$epsilon);
}
def Onnx_SkipLayerNormalizationOp : Onnx_SkipForm<"SkipLayerNormalization", 5>;
def Onnx_SkipSimplifiedLayerNormalizationOp : Onnx_SkipForm<"SkipSimplifiedLayerNormalization", 4>;
/// These are in the standard's domain, though the standard never had the first one, and has none of them any more.
def Onnx_SimplifiedLayerNormalizationOp : Onnx_AliasOp<"SimplifiedLayerNormalization", 2>, Since<1> {
  let attributes = (ins OptionalAttr<I64Attr>:$axis, OptionalAttr<F32Attr>:$epsilon, OptionalAttr<I64Attr>:$stash_type);
}

def Onnx_ScaleOp : Onnx_AliasOp<"Scale", 1>, Since<1> {
  let attributes = (ins OptionalAttr<F32Attr>:$scale);
}
def Onnx_DynamicSliceOp : Onnx_AliasOp<"DynamicSlice", 4>, Since<1>;

def Onnx_EmbedLayerNormalizationOp : Onnx_MicrosoftAlias<"EmbedLayerNormalization", 9> {
  let attributes = (ins OptionalAttr<F32Attr>:$epsilon, OptionalAttr<I64Attr>:$mask_index_type);
}

def Onnx_ExpandDimsOp : Onnx_MicrosoftAlias<"ExpandDims", 2>;
def Onnx_MicrosoftRangeOp : Onnx_MicrosoftAlias<"Range", 3>;
def Onnx_MicrosoftTriluOp : Onnx_MicrosoftAlias<"Trilu", 2> {
  let attributes = (ins OptionalAttr<I64Attr>:$upper);
}
def Onnx_MicrosoftPadOp : Onnx_MicrosoftAlias<"Pad", 3> {
  let attributes = (ins OptionalAttr<StrAttr>:$mode);
}
def Onnx_MicrosoftGatherNDOp : Onnx_MicrosoftAlias<"GatherND", 2>;
def Onnx_MicrosoftGridSampleOp : Onnx_MicrosoftAlias<"GridSample", 2> {
  let attributes = (ins OptionalAttr<I64Attr>:$align_corners, OptionalAttr<StrAttr>:$mode, OptionalAttr<StrAttr>:$padding_mode);
}

// This is what the standard has got since, with more attributes.
def Onnx_MicrosoftCausalConvWithStateOp : Onnx_MicrosoftAlias<"CausalConvWithState", 4> {
  let attributes = (ins OptionalAttr<StrAttr>:$activation, OptionalAttr<I64Attr>:$channels_last, OptionalAttr<I64Attr>:$dilation, OptionalAttr<I64Attr>:$ndim,
    OptionalAttr<I64Attr>:$state_window);
}
def Onnx_MicrosoftLinearAttentionOp : Onnx_MicrosoftAlias<"LinearAttention", 6> {
  let attributes = (ins OptionalAttr<I64Attr>:$chunk_size, OptionalAttr<I64Attr>:$kv_num_heads, OptionalAttr<I64Attr>:$q_num_heads,
    OptionalAttr<F32Attr>:$scale, OptionalAttr<I64Attr>:$state_window, OptionalAttr<StrAttr>:$update_rule);
}
def Onnx_LinearAttentionGateOp : Onnx_MicrosoftAlias<"LinearAttentionGate", 4>;
def Onnx_GatedAddOp : Onnx_MicrosoftAlias<"GatedAdd", 3>;
def Onnx_ScaledSiLUOp : Onnx_MicrosoftAlias<"ScaledSiLU", 2> {
  let attributes = (ins OptionalAttr<F32Attr>:$alpha);
}
def Onnx_GatedRMSNormOp : Onnx_MicrosoftAlias<"GatedRMSNorm", 3> {
  let attributes = (ins OptionalAttr<StrAttr>:$activation, OptionalAttr<F32Attr>:$epsilon);
}
def Onnx_QEmbedLayerNormalizationOp : Onnx_MicrosoftAlias<"QEmbedLayerNormalization", 18> {
  let attributes = (ins OptionalAttr<F32Attr>:$epsilon);
}

// The class of several products with weights of a few bits behind one normalization.
class Onnx_FewBitsForm<string mnemonic, int inputs, dag own> : Onnx_MicrosoftAlias<mnemonic, inputs> {
  let attributes = !con((ins OptionalAttr<I64Attr>:$K, OptionalAttr<I64Attr>:$bits, OptionalAttr<I64Attr>:$block_size, OptionalAttr<I64Attr>:$accuracy_level,
    OptionalAttr<F32Attr>:$epsilon), own);
}
def Onnx_MatMulNBitsMlpOp : Onnx_FewBitsForm<"MatMulNBitsMlp", 9, (ins OptionalAttr<I64Attr>:$N, OptionalAttr<StrAttr>:$activation)>;
def Onnx_MatMulNBitsQkvOp : Onnx_FewBitsForm<"MatMulNBitsQkv", 12, (ins OptionalAttr<I64Attr>:$Nq, OptionalAttr<I64Attr>:$Nkv)>;

// These are the others.
def Onnx_CDistOp : Onnx_MicrosoftAlias<"CDist", 2> {
  let attributes = (ins OptionalAttr<StrAttr>:$metric);
}
def Onnx_SampleOp : Onnx_MicrosoftAlias<"SampleOp", 1>;
def Onnx_WordConvEmbeddingOp : Onnx_MicrosoftAlias<"WordConvEmbedding", 4> {
  let attributes = (ins OptionalAttr<I64Attr>:$embedding_size, OptionalAttr<I64Attr>:$conv_window_size, OptionalAttr<I64Attr>:$char_embedding_size);
}
def Onnx_MicrosoftUniqueOp : Onnx_MicrosoftAlias<"Unique", 1>;
def Onnx_UnfoldTensorOp : Onnx_MicrosoftOp<"UnfoldTensor", 1, [DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<1> {
  let summary = "all slices of some places along an axis, each in a row at the end";
  let arguments = (ins AnyTensor:$x, I64Attr:$size, DefaultValuedOptionalAttr<I64Attr, "1">:$step, DefaultValuedOptionalAttr<I64Attr, "-1">:$dim);
  let results = (outs AnyTensor:$y);
}
