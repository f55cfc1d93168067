// Declares matrix products in the formats of kernels.
include "compiler/onnx/Formats.td"

def Formats_Int8MatMulOp : Formats_Op<"Int8MatMul", [DeclareOpInterfaceMethods<Onnx_Decomposable>]> {
  let summary = "MatMul of uint8 by int8, with sums of int32";
  let arguments = (ins AnyTensor:$A, AnyTensor:$B);
  let results = (outs AnyTensor:$Y);
}

def Formats_Bf16MatMulOp : Formats_Op<"Bf16MatMul"> {
  let summary = "MatMul of bfloat16 by a constant matrix of bfloat16, with sums of float32";
  let description = [{
    `B` has words of 32 bits: in [w, n] the elements [2 w, n], in the low half, and [2 w + 1, n].
  }];
  let arguments = (ins TensorOf<[BF16]>:$A, TensorOf<[I32]>:$B);
  let results = (outs AnyTensor:$Y);
}

def Formats_FewBitsMatMulOp : Formats_Op<"FewBitsMatMul"> {
  let summary = "MatMul of floats by unsigned integers of a few bits, less zero points, times the scales of blocks along K";
  let description = [{
    `B` has words of 32 bits: in [w, n] the numbers from [w * 32 / bits, n] on, the i-th one from bit i % 4 * 8 + i / 4 * bits on, so that what four
    bytes have in the same bits are neighbours; with zeros behind the last one of the last block. `scales` and `zeros` are [blocks, N]; without `zeros` all are `zero`. All but `A` are constants.
    With `bytesA` the model lets a kernel round the rows of `A` to bytes, with a scale for each block.
  }];
  let arguments = (ins AnyTensor:$A, AnyTensor:$B, AnyTensor:$scales, Onnx_OptionalOf<AnyTensor>:$zeros, I64Attr:$bits, I64Attr:$block,
    I64Attr:$k, DefaultValuedAttr<I64Attr, "0">:$zero, UnitAttr:$bytesA);
  let results = (outs AnyTensor:$Y);
}

def Formats_SplitIntegerMatMulOp : Formats_Op<"SplitIntegerMatMul"> {
  let summary = "FewBitsMatMul of rows that are integers of one to three digits to the base of 254";
  let description = [{
    An element of a row is coarse * high + (middle * 254 + fine) * unit or, without `fine`, coarse * high + middle * unit, where `high` and `unit` belong
    to a block. Without `middle` there is no `high` either, and an element is coarse * unit. Rows have as many elements as there are weights. `B`, `scales` and `zeros` are those of FewBitsMatMul. `less` is minus the sum of a block's elements or, without `zeros`, that times the zero point of all.
  }];
  let arguments = (ins TensorOf<[I8]>:$coarse, Onnx_OptionalOf<TensorOf<[I8]>>:$middle, Onnx_OptionalOf<TensorOf<[I8]>>:$fine, Onnx_OptionalOf<TensorOf<[F32]>>:$high, TensorOf<[F32]>:$unit,
    TensorOf<[F32]>:$less, AnyTensor:$B, AnyTensor:$scales, Onnx_OptionalOf<AnyTensor>:$zeros, I64Attr:$bits, I64Attr:$block);
  let results = (outs AnyTensor:$Y);
  let extraClassDeclaration = "static constexpr double base = 254;";
}
