// Declares ops that make a tensor from a shape, from bounds, or like another one.
include "compiler/onnx/Onnx.td"

def Onnx_ConstantOfShapeOp : Onnx_Op<"ConstantOfShape", 1, [DeclareOpInterfaceMethods<Onnx_Evaluable>, DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<25> {
  let arguments = (ins Onnx_Int64s:$shape, OptionalAttr<ElementsAttr>:$value);
  let results = (outs AnyTensor:$y);
}
def Onnx_RangeOp : Onnx_Op<"Range", 3, [Onnx_SameElements<>, DeclareOpInterfaceMethods<Onnx_Evaluable>,
    DeclareOpInterfaceMethods<Onnx_Parametric>]>, Since<27> {
  let arguments = (ins Onnx_Numbers:$start, Onnx_Numbers:$limit, Onnx_Numbers:$delta);
  let results = (outs AnyTensor:$y);
  let memberDeclarations = "static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node);";
}
def Onnx_EyeLikeOp : Onnx_Op<"EyeLike", 1, [DeclareOpInterfaceMethods<Onnx_Evaluable>, DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<22> {
  let arguments = (ins AnyTensor:$x, OptionalAttr<I64Attr>:$dtype, DefaultValuedOptionalAttr<I64Attr, "0">:$k);
  let results = (outs AnyTensor:$y);
}
