// Functions of one number.
include "compiler/onnx/Onnx.td"

class F32Default<string value> : DefaultValuedOptionalAttr<F32Attr, value>;
/// With one attribute alpha.
class Onnx_AlphaUnary<string mnemonic, string alpha> : Onnx_Elementwise<mnemonic, 1> {
  let arguments = (ins Onnx_Floats:$x, F32Default<alpha>:$alpha);
}
/// With attributes alpha and beta.
class Onnx_AlphaBetaUnary<string mnemonic, string alpha, string beta> : Onnx_Elementwise<mnemonic, 1> {
  let arguments = (ins Onnx_Floats:$x, F32Default<alpha>:$alpha, F32Default<beta>:$beta);
}

def Onnx_ReluOp : Onnx_Unary<"Relu", Onnx_Numbers>;
def Onnx_LeakyReluOp : Onnx_AlphaUnary<"LeakyRelu", "0.01f">;
def Onnx_ThresholdedReluOp : Onnx_AlphaUnary<"ThresholdedRelu", "1.0f">;
def Onnx_EluOp : Onnx_AlphaUnary<"Elu", "1.0f">;
def Onnx_CeluOp : Onnx_AlphaUnary<"Celu", "1.0f">;
def Onnx_ShrinkOp : Onnx_Elementwise<"Shrink", 1> {
  let arguments = (ins Onnx_Numbers:$x, F32Default<"0.0f">:$bias, F32Default<"0.5f">:$lambd);
}
def Onnx_SeluOp : Onnx_Elementwise<"Selu", 1> {
  let arguments = (ins Onnx_Floats:$x, F32Default<"1.67326319217681884765625f">:$alpha, F32Default<"1.05070102214813232421875f">:$gamma);
}
def Onnx_SigmoidOp : Onnx_Unary<"Sigmoid">;
def Onnx_HardSigmoidOp : Onnx_AlphaBetaUnary<"HardSigmoid", "0.2f", "0.5f">;
def Onnx_HardSwishOp : Onnx_Unary<"HardSwish">;
def Onnx_SwishOp : Onnx_AlphaUnary<"Swish", "1.0f">;
def Onnx_MishOp : Onnx_Unary<"Mish">;
def Onnx_SoftplusOp : Onnx_Unary<"Softplus">;
def Onnx_SoftsignOp : Onnx_Unary<"Softsign">;
def Onnx_GeluOp : Onnx_Elementwise<"Gelu", 1> {
  let arguments = (ins Onnx_Floats:$x, DefaultValuedOptionalAttr<StrAttr, "\"none\"">:$approximate);
}
def Onnx_TanhOp : Onnx_Unary<"Tanh">;
def Onnx_ErfOp : Onnx_Unary<"Erf">;
def Onnx_ExpOp : Onnx_Unary<"Exp">;
def Onnx_LogOp : Onnx_Unary<"Log">;
def Onnx_SqrtOp : Onnx_Unary<"Sqrt">;
def Onnx_ReciprocalOp : Onnx_Unary<"Reciprocal">;
def Onnx_NegOp : Onnx_Unary<"Neg", Onnx_Numbers>;
def Onnx_AbsOp : Onnx_Unary<"Abs", Onnx_Numbers>;
def Onnx_SignOp : Onnx_Unary<"Sign", Onnx_Numbers>;
def Onnx_FloorOp : Onnx_Unary<"Floor">;
def Onnx_CeilOp : Onnx_Unary<"Ceil">;
def Onnx_RoundOp : Onnx_Unary<"Round">;
def Onnx_SinOp : Onnx_Unary<"Sin">;
def Onnx_CosOp : Onnx_Unary<"Cos">;
def Onnx_TanOp : Onnx_Unary<"Tan">;
def Onnx_AsinOp : Onnx_Unary<"Asin">;
def Onnx_AcosOp : Onnx_Unary<"Acos">;
def Onnx_AtanOp : Onnx_Unary<"Atan">;
def Onnx_SinhOp : Onnx_Unary<"Sinh">;
def Onnx_CoshOp : Onnx_Unary<"Cosh">;
def Onnx_AsinhOp : Onnx_Unary<"Asinh">;
def Onnx_AcoshOp : Onnx_Unary<"Acosh">;
def Onnx_AtanhOp : Onnx_Unary<"Atanh">;
def Onnx_NotOp : Onnx_Unary<"Not", Onnx_Bools>;
def Onnx_BitwiseNotOp : Onnx_Unary<"BitwiseNot", Onnx_Integers>;
def Onnx_IsNaNOp : Onnx_Unary<"IsNaN"> {
  let more = "::mlir::Type resultElement();";
}
def Onnx_IsInfOp : Onnx_Elementwise<"IsInf", 1> {
  let arguments = (ins Onnx_Floats:$x, DefaultValuedOptionalAttr<I64Attr, "1">:$detect_negative, DefaultValuedOptionalAttr<I64Attr, "1">:$detect_positive);
  let more = "::mlir::Type resultElement();";
}

// Experimental functions of opset 7 and before.
def Onnx_ScaledTanhOp : Onnx_AlphaBetaUnary<"ScaledTanh", "1.0f", "1.0f">;
def Onnx_ParametricSoftplusOp : Onnx_AlphaBetaUnary<"ParametricSoftplus", "1.0f", "1.0f">;
def Onnx_AffineOp : Onnx_AlphaBetaUnary<"Affine", "1.0f", "0.0f">;
