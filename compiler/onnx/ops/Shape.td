// Shapes: reading them, and the same elements in another shape.
include "compiler/onnx/Onnx.td"

def Onnx_ShapeOp : Onnx_Op<"Shape", 1, [DeclareOpInterfaceMethods<Onnx_Evaluable>]> {
  let arguments = (ins AnyTensor:$x, DefaultValuedOptionalAttr<I64Attr, "0">:$start, OptionalAttr<I64Attr>:$end);
  let results = (outs AnyTensor:$y);
}
def Onnx_SizeOp : Onnx_Op<"Size", 1, [DeclareOpInterfaceMethods<Onnx_Evaluable>]> {
  let arguments = (ins AnyTensor:$x);
  let results = (outs AnyTensor:$y);
}
def Onnx_ReshapeOp : Onnx_Op<"Reshape", 2, [DeclareOpInterfaceMethods<Onnx_Evaluable>]> {
  let arguments = (ins AnyTensor:$x, AnyTensor:$shape, DefaultValuedOptionalAttr<I64Attr, "0">:$allowzero);
  let results = (outs AnyTensor:$y);
  let more = "static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node);";
}

/// The same elements in another shape, known from the operand's: becomes Reshape.
class Onnx_View<string mnemonic, int inputs> : Onnx_Op<mnemonic, inputs, [DeclareOpInterfaceMethods<Onnx_Decomposable>, DeclareOpInterfaceMethods<Onnx_Evaluable>]> {
  let results = (outs AnyTensor:$y);
}
def Onnx_FlattenOp : Onnx_View<"Flatten", 1> {
  let arguments = (ins AnyTensor:$x, DefaultValuedOptionalAttr<I64Attr, "1">:$axis);
}
def Onnx_SqueezeOp : Onnx_View<"Squeeze", 2> {
  let arguments = (ins AnyTensor:$x, Onnx_Optional:$axes);
  let more = "static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node);";
}
def Onnx_UnsqueezeOp : Onnx_View<"Unsqueeze", 2> {
  let arguments = (ins AnyTensor:$x, AnyTensor:$axes);
  let more = "static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node);";
}
def Onnx_IdentityOp : Onnx_Op<"Identity", 1, [DeclareOpInterfaceMethods<Onnx_Decomposable>]> {
  let arguments = (ins AnyTensor:$x);
  let results = (outs AnyTensor:$y);
}
def Onnx_DropoutOp : Onnx_Op<"Dropout", 3, [DeclareOpInterfaceMethods<Onnx_Decomposable>]> {
  let arguments = (ins AnyTensor:$x, Onnx_Optional:$ratio, Onnx_Optional:$training_mode);
  let results = (outs AnyTensor:$y, AnyTensor:$mask);
  let more = "static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node);";
}

// Tensors made from a shape or from bounds.
def Onnx_ConstantOfShapeOp : Onnx_Op<"ConstantOfShape", 1, [DeclareOpInterfaceMethods<Onnx_Evaluable>]> {
  let arguments = (ins AnyTensor:$shape, OptionalAttr<ElementsAttr>:$value);
  let results = (outs AnyTensor:$y);
}
def Onnx_RangeOp : Onnx_Op<"Range", 3, [DeclareOpInterfaceMethods<Onnx_Evaluable>]> {
  let arguments = (ins AnyTensor:$start, AnyTensor:$limit, AnyTensor:$delta);
  let results = (outs AnyTensor:$y);
}
def Onnx_EyeLikeOp : Onnx_Op<"EyeLike", 1, [DeclareOpInterfaceMethods<Onnx_Evaluable>]> {
  let arguments = (ins AnyTensor:$x, OptionalAttr<I64Attr>:$dtype, DefaultValuedOptionalAttr<I64Attr, "0">:$k);
  let results = (outs AnyTensor:$y);
}
