// Declares arithmetic and logic on two or more numbers, with broadcasting.
include "compiler/onnx/Onnx.td"
include "compiler/onnx/interfaces/Curve.td"

/// The class of operators whose definitions before opset 7 broadcast by attributes.
class Onnx_Arithmetic<string mnemonic, Type type = Onnx_Numbers, list<Trait> traits = []> : Onnx_Elementwise<mnemonic, 2, traits> {
  let arguments = (ins type:$a, type:$b);
  let memberDeclarations = "static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node);";
}
class Onnx_Variadic<string mnemonic, Type type> : Onnx_Elementwise<mnemonic, -1> {
  let arguments = (ins Variadic<type>:$xs);
}

def Onnx_AddOp : Onnx_Arithmetic<"Add", Onnx_Numbers, [DeclareOpInterfaceMethods<Onnx_Curve>]>, Since<14>;
def Onnx_SubOp : Onnx_Arithmetic<"Sub", Onnx_Numbers, [DeclareOpInterfaceMethods<Onnx_Curve>]>, Since<14>;
def Onnx_MulOp : Onnx_Arithmetic<"Mul", Onnx_Numbers, [DeclareOpInterfaceMethods<Onnx_Curve>]>, Since<14>;
def Onnx_DivOp : Onnx_Arithmetic<"Div">, Since<14>;
def Onnx_PowOp : Onnx_Arithmetic<"Pow">, Since<15> {
  let memberDeclarations = "static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node); bool mixesElements() { return true; }";
}
def Onnx_AndOp : Onnx_Arithmetic<"And", Onnx_Bools>, Since<7>;
def Onnx_OrOp : Onnx_Arithmetic<"Or", Onnx_Bools>, Since<7>;
def Onnx_XorOp : Onnx_Arithmetic<"Xor", Onnx_Bools>, Since<7>;
def Onnx_ModOp : Onnx_Elementwise<"Mod", 2>, Since<28> {
  let arguments = (ins Onnx_Numbers:$a, Onnx_Numbers:$b, DefaultValuedOptionalAttr<I64Attr, "0">:$fmod);
}
def Onnx_BitShiftOp : Onnx_Elementwise<"BitShift", 2>, Since<28> {
  let arguments = (ins Onnx_Integers:$a, Onnx_Integers:$b, StrAttr:$direction);
}
def Onnx_BitwiseAndOp : Onnx_Binary<"BitwiseAnd", Onnx_Integers>, Since<18>;
def Onnx_BitwiseOrOp : Onnx_Binary<"BitwiseOr", Onnx_Integers>, Since<18>;
def Onnx_BitwiseXorOp : Onnx_Binary<"BitwiseXor", Onnx_Integers>, Since<18>;
def Onnx_SwiGLUOp : Onnx_Elementwise<"SwiGLU", 2>, Since<28> {
  let arguments = (ins Onnx_Floats:$a, Onnx_Floats:$b, DefaultValuedOptionalAttr<F32Attr, "1.0f">:$alpha);
}
def Onnx_MinOp : Onnx_Variadic<"Min", Onnx_Numbers>, Since<13>;
def Onnx_MaxOp : Onnx_Variadic<"Max", Onnx_Numbers>, Since<13>;
def Onnx_SumOp : Onnx_Variadic<"Sum", Onnx_Floats>, Since<13>;
def Onnx_MeanOp : Onnx_Variadic<"Mean", Onnx_Floats>, Since<13>;
def Onnx_PReluOp : Onnx_Elementwise<"PRelu", 2>, Since<16> {
  let arguments = (ins Onnx_Numbers:$x, Onnx_Numbers:$slope);
  let memberDeclarations = "static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node);";
}
