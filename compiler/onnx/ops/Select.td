// Declares ops that choose elements: Where and Clip.
include "compiler/onnx/Onnx.td"
include "compiler/onnx/interfaces/Curve.td"

def Onnx_WhereOp : Onnx_Elementwise<"Where", 3>, Since<16> {
  let arguments = (ins Onnx_Bools:$condition, AnyTensor:$x, AnyTensor:$z);
  let memberDeclarations = [{
    ::mlir::Type resultElement() { return ::mlir::getElementTypeOrSelf(getX().getType()); }
    bool mixesElements() { return true; }
  }];
  let hasVerifier = 1;
}
def Onnx_ClipOp : Onnx_Elementwise<"Clip", 3, [DeclareOpInterfaceMethods<Onnx_Curve>]>, Since<13> {
  let arguments = (ins Onnx_Numbers:$x, Onnx_OptionalOf<Onnx_Numbers>:$min, Onnx_OptionalOf<Onnx_Numbers>:$max);
  let memberDeclarations = "static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node);";
}
