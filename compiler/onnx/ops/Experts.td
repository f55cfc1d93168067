// Declares mixtures of experts: small networks, of which each token goes through some.
include "compiler/onnx/Onnx.td"

class Onnx_Experts<string name, int inputs, dag layers, dag storage = (ins)>
    : Onnx_MicrosoftOp<name, inputs, [DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<1> {
  dag routing = (ins DefaultValuedOptionalAttr<I64Attr, "1">:$k, DefaultValuedOptionalAttr<StrAttr, "\"relu\"">:$activation_type,
    DefaultValuedOptionalAttr<F32Attr, "1.0f">:$activation_alpha, DefaultValuedOptionalAttr<F32Attr, "0.0f">:$activation_beta,
    OptionalAttr<F32Attr>:$swiglu_limit, DefaultValuedOptionalAttr<I64Attr, "0">:$swiglu_fusion,
    DefaultValuedOptionalAttr<I64Attr, "0">:$normalize_routing_weights, DefaultValuedOptionalAttr<I64Attr, "0">:$use_sparse_mixer);
  let arguments = !con((ins Onnx_Floats:$x, Onnx_Floats:$router), layers, routing, storage);
  let results = (outs AnyTensor:$y);
}
def Onnx_MoEOp : Onnx_Experts<"MoE", 8, (ins Onnx_Floats:$fc1, Onnx_OptionalOf<Onnx_Floats>:$fc1_bias, Onnx_Floats:$fc2,
    Onnx_OptionalOf<Onnx_Floats>:$fc2_bias, Onnx_OptionalOf<Onnx_Floats>:$fc3, Onnx_OptionalOf<Onnx_Floats>:$fc3_bias)>;
def Onnx_QMoEOp : Onnx_Experts<"QMoE", 21, (ins TensorOf<[UI8]>:$fc1, Onnx_Floats:$fc1_scales, Onnx_OptionalOf<Onnx_Floats>:$fc1_bias,
    TensorOf<[UI8]>:$fc2, Onnx_Floats:$fc2_scales, Onnx_OptionalOf<Onnx_Floats>:$fc2_bias, Onnx_OptionalOf<TensorOf<[UI8]>>:$fc3,
    Onnx_OptionalOf<Onnx_Floats>:$fc3_scales, Onnx_OptionalOf<Onnx_Floats>:$fc3_bias, Onnx_OptionalOf<TensorOf<[UI8]>>:$fc1_zeros,
    Onnx_OptionalOf<TensorOf<[UI8]>>:$fc2_zeros, Onnx_OptionalOf<TensorOf<[UI8]>>:$fc3_zeros, Onnx_Optional:$router_weights,
    Onnx_Optional:$fc1_global_scale, Onnx_Optional:$fc2_global_scale, Onnx_Optional:$fc1_act_scale, Onnx_Optional:$fc2_act_scale,
    Onnx_Optional:$fc1_act_block_scale, Onnx_Optional:$fc2_act_block_scale),
    (ins DefaultValuedOptionalAttr<I64Attr, "4">:$expert_weight_bits, OptionalAttr<I64Attr>:$fc1_expert_weight_bits,
      OptionalAttr<I64Attr>:$fc2_expert_weight_bits, OptionalAttr<I64Attr>:$fc3_expert_weight_bits, DefaultValuedOptionalAttr<I64Attr, "0">:$block_size,
      DefaultValuedOptionalAttr<StrAttr, "\"int\"">:$quant_type, DefaultValuedOptionalAttr<I64Attr, "0">:$accuracy_level,
      DefaultValuedOptionalAttr<I64Attr, "-1">:$weights_prepacked)>;
