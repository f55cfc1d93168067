// Arithmetic and logic on two or more numbers, with broadcasting.
include "compiler/onnx/Onnx.td"

/// Whose old forms (before opset 7) broadcast by attributes.
class Onnx_Arithmetic<string mnemonic> : Onnx_Binary<mnemonic> {
  let more = "static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node);";
}
class Onnx_Variadic<string mnemonic> : Onnx_Elementwise<mnemonic, -1> {
  let arguments = (ins Variadic<AnyTensor>:$xs);
}

def Onnx_AddOp : Onnx_Arithmetic<"Add">;
def Onnx_SubOp : Onnx_Arithmetic<"Sub">;
def Onnx_MulOp : Onnx_Arithmetic<"Mul">;
def Onnx_DivOp : Onnx_Arithmetic<"Div">;
def Onnx_PowOp : Onnx_Arithmetic<"Pow"> {
  let more = "static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node); bool mixesElements() { return true; }";
}
def Onnx_AndOp : Onnx_Arithmetic<"And">;
def Onnx_OrOp : Onnx_Arithmetic<"Or">;
def Onnx_XorOp : Onnx_Arithmetic<"Xor">;
def Onnx_ModOp : Onnx_Elementwise<"Mod", 2> {
  let arguments = (ins AnyTensor:$a, AnyTensor:$b, DefaultValuedOptionalAttr<I64Attr, "0">:$fmod);
}
def Onnx_BitShiftOp : Onnx_Elementwise<"BitShift", 2> {
  let arguments = (ins AnyTensor:$a, AnyTensor:$b, StrAttr:$direction);
}
def Onnx_BitwiseAndOp : Onnx_Binary<"BitwiseAnd">;
def Onnx_BitwiseOrOp : Onnx_Binary<"BitwiseOr">;
def Onnx_BitwiseXorOp : Onnx_Binary<"BitwiseXor">;
def Onnx_MinOp : Onnx_Variadic<"Min">;
def Onnx_MaxOp : Onnx_Variadic<"Max">;
def Onnx_SumOp : Onnx_Variadic<"Sum">;
def Onnx_MeanOp : Onnx_Variadic<"Mean">;
def Onnx_PReluOp : Onnx_Elementwise<"PRelu", 2> {
  let arguments = (ins AnyTensor:$x, AnyTensor:$slope);
  let more = "static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node);";
}
