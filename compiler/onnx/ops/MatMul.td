// Matrix products.
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
  let more = "static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node);";
}

def Onnx_IntegerMatMulOp : Onnx_CoreOp<"IntegerMatMul", [DeclareOpInterfaceMethods<Onnx_Decomposable>]> {
  let summary = "MatMul of uint8 by int8, with sums of int32";
  let arguments = (ins AnyTensor:$A, AnyTensor:$B);
  let results = (outs AnyTensor:$Y);
}

def Onnx_HalfMatMulOp : Onnx_CoreOp<"HalfMatMul"> {
  let summary = "MatMul of bfloat16 by a constant matrix of bfloat16, with sums of float32";
  let description = [{
    `B` has words of 32 bits: in [w, n] the elements [2 w, n], in the low half, and [2 w + 1, n].
  }];
  let arguments = (ins TensorOf<[BF16]>:$A, TensorOf<[I32]>:$B);
  let results = (outs AnyTensor:$Y);
}

def Onnx_FewBitsMatMulOp : Onnx_CoreOp<"FewBitsMatMul"> {
  let summary = "MatMul of floats by unsigned integers of a few bits, less zero points, times the scales of blocks along K";
  let description = [{
    `B` has words of 32 bits: in [w, n] the numbers from [w * 32 / bits, n] on, the i-th one from bit i % 4 * 8 + i / 4 * bits on, so that what four
    bytes have in the same bits are neighbours; with zeros behind the last one of the last block. `scales` and `zeros` are [blocks, N]; without `zeros` all are `zero`. All but `A` are constants.
  }];
  let arguments = (ins AnyTensor:$A, AnyTensor:$B, AnyTensor:$scales, Onnx_OptionalOf<AnyTensor>:$zeros, I64Attr:$bits, I64Attr:$block,
    I64Attr:$k, DefaultValuedAttr<I64Attr, "0">:$zero);
  let results = (outs AnyTensor:$Y);
}

def Onnx_DigitMatMulOp : Onnx_CoreOp<"DigitMatMul"> {
  let summary = "the same of rows that are integers of two or three digits to the base of 254";
  let description = [{
    An element of a row is coarse * high + (middle * 254 + fine) * unit or, without `fine`, coarse * high + middle * unit, where `high` and `unit` belong
    to a block. Rows have as many elements as there are weights. `B`, `scales` and `zeros` are those of FewBitsMatMul; without `scales` the words of each block in `B` have its scales behind them, the
    bits of float32. `less` is minus the sum of a block's elements or, without `zeros`, that times the zero point of all.
  }];
  let arguments = (ins TensorOf<[I8]>:$coarse, TensorOf<[I8]>:$middle, Onnx_OptionalOf<TensorOf<[I8]>>:$fine, TensorOf<[F32]>:$high, TensorOf<[F32]>:$unit,
    TensorOf<[F32]>:$less, AnyTensor:$B, Onnx_OptionalOf<AnyTensor>:$scales, Onnx_OptionalOf<AnyTensor>:$zeros, I64Attr:$bits, I64Attr:$block);
  let results = (outs AnyTensor:$Y);
  let extraClassDeclaration = "static constexpr double base = 254;";
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
