// Declares ops that change the element type.
include "compiler/onnx/Onnx.td"
include "compiler/onnx/interfaces/Curve.td"

def Onnx_CastOp : Onnx_Elementwise<"Cast", 1, [DeclareOpInterfaceMethods<Onnx_Curve>]>, Since<28> {
  let arguments = (ins AnyTensor:$x, I64Attr:$to, DefaultValuedOptionalAttr<I64Attr, "1">:$saturate,
    DefaultValuedOptionalAttr<StrAttr, "\"up\"">:$round_mode);
  let hasVerifier = 1;
  let memberDeclarations = [{
    ::mlir::Type resultElement();
    static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node);
  }];
}
/// An op that keeps the bytes and changes their type.
def Onnx_BitCastOp : Onnx_Elementwise<"BitCast", 1>, Since<26> {
  let arguments = (ins AnyTensor:$x, I64Attr:$to);
  let memberDeclarations = [{
    ::mlir::Type resultElement();
    static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node);
  }];
  let hasVerifier = 1;
}
def Onnx_CastLikeOp : Onnx_Op<"CastLike", 2, [DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<25> {
  let memberDeclarations = "static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node);";
  let arguments = (ins AnyTensor:$x, AnyTensor:$target, DefaultValuedOptionalAttr<I64Attr, "1">:$saturate,
    DefaultValuedOptionalAttr<StrAttr, "\"up\"">:$round_mode);
  let hasVerifier = 1;
  let results = (outs AnyTensor:$y);
}
