// Declares matrix products.
include "compiler/onnx/Onnx.td"

def Onnx_MatMulOp : Onnx_Op<"MatMul", 2, [Onnx_SameElements<>, DeclareOpInterfaceMethods<Onnx_Evaluable>]>, Since<13> {
  let summary = "matrix product with numpy's batching and one-dimensional forms";
  let description = [{
    `transA` and `transB` are ingot's: the operand's last two axes (it has at least two) are read swapped. Gemm and transposes before the
    product become them, so that no operand is ever transposed in memory.
  }];
  let arguments = (ins Onnx_Numbers:$A, Onnx_Numbers:$B, UnitAttr:$transA, UnitAttr:$transB);
  let results = (outs AnyTensor:$Y);
}

def Onnx_GemmOp : Onnx_Op<"Gemm", 3, [Onnx_SameElements<>, DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<13> {
  let summary = "alpha * A' * B' + beta * C";
  let arguments = (ins Onnx_Numbers:$A, Onnx_Numbers:$B, Onnx_OptionalOf<Onnx_Numbers>:$C, DefaultValuedOptionalAttr<F32Attr, "1.0f">:$alpha,
    DefaultValuedOptionalAttr<F32Attr, "1.0f">:$beta, DefaultValuedOptionalAttr<I64Attr, "0">:$transA,
    DefaultValuedOptionalAttr<I64Attr, "0">:$transB);
  let results = (outs AnyTensor:$Y);
  let memberDeclarations = "static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node);";
}

def Onnx_MatMulIntegerOp : Onnx_Op<"MatMulInteger", 4, [DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<10> {
  let summary = "product of quantized matrices without their scales, as int32";
  let arguments = (ins Onnx_Bytes:$A, Onnx_Bytes:$B, Onnx_OptionalOf<Onnx_Bytes>:$a_zero_point, Onnx_OptionalOf<Onnx_Bytes>:$b_zero_point);
  let results = (outs AnyTensor:$Y);
}

def Onnx_QLinearMatMulOp : Onnx_Op<"QLinearMatMul", 8, [DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<21> {
  let summary = "product of quantized matrices, quantized";
  let arguments = (ins Onnx_Bytes:$a, Onnx_Floats:$a_scale, Onnx_Bytes:$a_zero_point, Onnx_Bytes:$b, Onnx_Floats:$b_scale, Onnx_Bytes:$b_zero_point,
    Onnx_Floats:$y_scale, Onnx_Bytes:$y_zero_point);
  let results = (outs AnyTensor:$y);
}
