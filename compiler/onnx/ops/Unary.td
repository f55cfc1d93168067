// Declares functions of one number.
include "compiler/onnx/Onnx.td"
include "compiler/onnx/interfaces/Curve.td"

class F32Default<string value> : DefaultValuedOptionalAttr<F32Attr, value>;
/// An elementwise function of one operand that has traits of its own.
class Onnx_Function<string mnemonic, list<Trait> traits, Type type = Onnx_Floats> : Onnx_Elementwise<mnemonic, 1, traits> {
  let arguments = (ins type:$x);
}
/// The class of such functions with one attribute alpha.
class Onnx_AlphaUnary<string mnemonic, string alpha, list<Trait> traits = []> : Onnx_Elementwise<mnemonic, 1, traits> {
  let arguments = (ins Onnx_Floats:$x, F32Default<alpha>:$alpha);
}
/// The class of such functions with attributes alpha and beta.
class Onnx_AlphaBetaUnary<string mnemonic, string alpha, string beta> : Onnx_Elementwise<mnemonic, 1> {
  let arguments = (ins Onnx_Floats:$x, F32Default<alpha>:$alpha, F32Default<beta>:$beta);
}

def Onnx_ReluOp : Onnx_Function<"Relu", [DeclareOpInterfaceMethods<Onnx_Curve>], Onnx_Numbers>, Since<14>;
def Onnx_LeakyReluOp : Onnx_AlphaUnary<"LeakyRelu", "0.01f">, Since<16>;
def Onnx_ThresholdedReluOp : Onnx_AlphaUnary<"ThresholdedRelu", "1.0f">, Since<22>;
def Onnx_EluOp : Onnx_AlphaUnary<"Elu", "1.0f", [Onnx_LongFormula]>, Since<22>;
def Onnx_CeluOp : Onnx_AlphaUnary<"Celu", "1.0f", [Onnx_LongFormula]>, Since<28>;
def Onnx_ShrinkOp : Onnx_Elementwise<"Shrink", 1>, Since<9> {
  let arguments = (ins Onnx_Numbers:$x, F32Default<"0.0f">:$bias, F32Default<"0.5f">:$lambd);
}
def Onnx_SeluOp : Onnx_Elementwise<"Selu", 1, [Onnx_LongFormula]>, Since<22> {
  let arguments = (ins Onnx_Floats:$x, F32Default<"1.67326319217681884765625f">:$alpha, F32Default<"1.05070102214813232421875f">:$gamma);
}
def Onnx_SigmoidOp : Onnx_Function<"Sigmoid", [Onnx_LongFormula, DeclareOpInterfaceMethods<Onnx_Curve, ["errorOfIntegers"]>]>, Since<13>;
def Onnx_HardSigmoidOp : Onnx_AlphaBetaUnary<"HardSigmoid", "0.2f", "0.5f">, Since<22>;
def Onnx_HardSwishOp : Onnx_Function<"HardSwish", [DeclareOpInterfaceMethods<Onnx_Curve>]>, Since<22>;
def Onnx_SwishOp : Onnx_AlphaUnary<"Swish", "1.0f", [Onnx_LongFormula, DeclareOpInterfaceMethods<Onnx_Curve, ["errorOfIntegers"]>]>, Since<24>;
def Onnx_MishOp : Onnx_Function<"Mish", [Onnx_LongFormula]>, Since<22>;
def Onnx_SoftplusOp : Onnx_Function<"Softplus", [Onnx_LongFormula]>, Since<22>;
def Onnx_SoftsignOp : Onnx_Unary<"Softsign">, Since<22>;
def Onnx_GeluOp : Onnx_Elementwise<"Gelu", 1, [Onnx_LongFormula, DeclareOpInterfaceMethods<Onnx_Curve, ["errorOfIntegers"]>]>, Since<20> {
  let arguments = (ins Onnx_Floats:$x, DefaultValuedOptionalAttr<StrAttr, "\"none\"">:$approximate);
}
def Onnx_TanhOp : Onnx_Function<"Tanh", [Onnx_LongFormula, DeclareOpInterfaceMethods<Onnx_Curve, ["errorOfIntegers"]>]>, Since<13>;
def Onnx_ErfOp : Onnx_Function<"Erf", [Onnx_LongFormula]>, Since<13>;
def Onnx_ExpOp : Onnx_Function<"Exp", [Onnx_LongFormula]>, Since<13>;
def Onnx_LogOp : Onnx_Function<"Log", [Onnx_LongFormula]>, Since<13>;
def Onnx_SqrtOp : Onnx_Unary<"Sqrt">, Since<13>;
def Onnx_ReciprocalOp : Onnx_Unary<"Reciprocal">, Since<13>;
def Onnx_NegOp : Onnx_Unary<"Neg", Onnx_Numbers>, Since<13>;
def Onnx_AbsOp : Onnx_Unary<"Abs", Onnx_Numbers>, Since<13>;
def Onnx_SignOp : Onnx_Unary<"Sign", Onnx_Numbers>, Since<13>;
def Onnx_FloorOp : Onnx_Unary<"Floor">, Since<13>;
def Onnx_CeilOp : Onnx_Unary<"Ceil">, Since<13>;
def Onnx_RoundOp : Onnx_Unary<"Round">, Since<22>;
def Onnx_SinOp : Onnx_Function<"Sin", [Onnx_LongFormula]>, Since<22>;
def Onnx_CosOp : Onnx_Function<"Cos", [Onnx_LongFormula]>, Since<22>;
def Onnx_TanOp : Onnx_Unary<"Tan">, Since<22>;
def Onnx_AsinOp : Onnx_Unary<"Asin">, Since<22>;
def Onnx_AcosOp : Onnx_Unary<"Acos">, Since<22>;
def Onnx_AtanOp : Onnx_Unary<"Atan">, Since<22>;
def Onnx_SinhOp : Onnx_Unary<"Sinh">, Since<22>;
def Onnx_CoshOp : Onnx_Unary<"Cosh">, Since<22>;
def Onnx_AsinhOp : Onnx_Unary<"Asinh">, Since<22>;
def Onnx_AcoshOp : Onnx_Unary<"Acosh">, Since<22>;
def Onnx_AtanhOp : Onnx_Unary<"Atanh">, Since<22>;
def Onnx_NotOp : Onnx_Unary<"Not", Onnx_Bools>, Since<1>;
def Onnx_BitwiseNotOp : Onnx_Unary<"BitwiseNot", Onnx_Integers>, Since<18>;
def Onnx_IsNaNOp : Onnx_Unary<"IsNaN">, Since<20> {
  let memberDeclarations = "::mlir::Type resultElement();";
}
def Onnx_IsInfOp : Onnx_Elementwise<"IsInf", 1>, Since<20> {
  let arguments = (ins Onnx_Floats:$x, DefaultValuedOptionalAttr<I64Attr, "1">:$detect_negative, DefaultValuedOptionalAttr<I64Attr, "1">:$detect_positive);
  let memberDeclarations = "::mlir::Type resultElement();";
}

// These are experimental functions of opset 7 and before.
def Onnx_ScaledTanhOp : Onnx_AlphaBetaUnary<"ScaledTanh", "1.0f", "1.0f">, Since<1>;
def Onnx_ParametricSoftplusOp : Onnx_AlphaBetaUnary<"ParametricSoftplus", "1.0f", "1.0f">, Since<1>;
def Onnx_AffineOp : Onnx_AlphaBetaUnary<"Affine", "1.0f", "0.0f">, Since<1>;
