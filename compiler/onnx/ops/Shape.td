// Declares ops that read shapes, and that give elements another shape.
include "compiler/onnx/Onnx.td"

def Onnx_ShapeOp : Onnx_Op<"Shape", 1, [DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<25> {
  let arguments = (ins AnyTensor:$x, DefaultValuedOptionalAttr<I64Attr, "0">:$start, OptionalAttr<I64Attr>:$end);
  let results = (outs AnyTensor:$y);
}
def Onnx_SizeOp : Onnx_Op<"Size", 1, [DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<25> {
  let arguments = (ins AnyTensor:$x);
  let results = (outs AnyTensor:$y);
}
def Onnx_ReshapeOp : Onnx_Op<"Reshape", 2, [DeclareOpInterfaceMethods<Onnx_Evaluable>, DeclareOpInterfaceMethods<Onnx_ViewInterface>]>, Since<25> {
  let arguments = (ins AnyTensor:$x, Onnx_Int64s:$shape, DefaultValuedOptionalAttr<I64Attr, "0">:$allowzero);
  let results = (outs AnyTensor:$y);
  let memberDeclarations = "static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node);";
}

/// The class of ops that give the elements another shape, which is known from the operand's; they become Reshape.
class Onnx_View<string mnemonic, int inputs> : Onnx_Op<mnemonic, inputs, [DeclareOpInterfaceMethods<Onnx_Decomposable>, DeclareOpInterfaceMethods<Onnx_Evaluable>]> {
  let results = (outs AnyTensor:$y);
}
def Onnx_FlattenOp : Onnx_View<"Flatten", 1>, Since<25> {
  let arguments = (ins AnyTensor:$x, DefaultValuedOptionalAttr<I64Attr, "1">:$axis);
}
def Onnx_SqueezeOp : Onnx_View<"Squeeze", 2>, Since<25> {
  let arguments = (ins AnyTensor:$x, Onnx_OptionalOf<Onnx_Int64s>:$axes);
  let memberDeclarations = "static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node);";
}
def Onnx_UnsqueezeOp : Onnx_View<"Unsqueeze", 2>, Since<25> {
  let arguments = (ins AnyTensor:$x, Onnx_Int64s:$axes);
  let memberDeclarations = "static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node);";
}
def Onnx_IdentityOp : Onnx_Op<"Identity", 1, [DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<25> {
  let arguments = (ins AnyTensor:$x);
  let results = (outs AnyTensor:$y);
}
def Onnx_DropoutOp : Onnx_Op<"Dropout", 3, [DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<22> {
  let arguments = (ins Onnx_Floats:$x, Onnx_OptionalOf<Onnx_Floats>:$ratio, Onnx_OptionalOf<Onnx_Bools>:$training_mode,
    // opset 9 and before have a mask of the data's type, which only training fills
    OptionalAttr<I64Attr>:$seed, UnitAttr:$unfilled_mask);
  let results = (outs AnyTensor:$y, AnyTensor:$mask);
  let memberDeclarations = [{
    static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node);
    ::llvm::LogicalResult train(::mlir::PatternRewriter &rewriter);
  }];
}
