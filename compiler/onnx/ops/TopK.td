// Declares the k largest or smallest elements along an axis, and their places.
include "compiler/onnx/Onnx.td"

def Onnx_TopKOp : Onnx_Op<"TopK", 2, [DeclareOpInterfaceMethods<Onnx_Parametric>]>, Since<24> {
  let arguments = (ins Onnx_Numbers:$x, Onnx_Int64s:$k, DefaultValuedOptionalAttr<I64Attr, "-1">:$axis,
    DefaultValuedOptionalAttr<I64Attr, "1">:$largest, DefaultValuedOptionalAttr<I64Attr, "1">:$sorted);
  let results = (outs AnyTensor:$values, AnyTensor:$indices);
  let memberDeclarations = "static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node);";
}
