// Declares Resize, its older definition, and the op that kernels are made of: interpolation by tables.
include "compiler/onnx/Onnx.td"

def Onnx_ResizeOp : Onnx_Op<"Resize", 4, [DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<19> {
  let arguments = (ins AnyTensor:$data, Onnx_OptionalOf<Onnx_Floats>:$roi, Onnx_OptionalOf<Onnx_Floats>:$scales, Onnx_OptionalOf<Onnx_Int64s>:$sizes,
    DefaultValuedOptionalAttr<I64Attr, "0">:$antialias, OptionalAttr<DenseI64ArrayAttr>:$axes,
    DefaultValuedOptionalAttr<StrAttr, "\"half_pixel\"">:$coordinate_transformation_mode,
    DefaultValuedOptionalAttr<F32Attr, "-0.75f">:$cubic_coeff_a, DefaultValuedOptionalAttr<I64Attr, "0">:$exclude_outside,
    DefaultValuedOptionalAttr<F32Attr, "0.0f">:$extrapolation_value,
    DefaultValuedOptionalAttr<StrAttr, "\"stretch\"">:$keep_aspect_ratio_policy, DefaultValuedOptionalAttr<StrAttr, "\"nearest\"">:$mode,
    DefaultValuedOptionalAttr<StrAttr, "\"round_prefer_floor\"">:$nearest_mode);
  let results = (outs AnyTensor:$y);
  let memberDeclarations = "static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node);";
}
def Onnx_UpsampleOp : Onnx_Op<"Upsample", 2>, Since<9> {
  let summary = "opsets before 10; becomes Resize when imported";
  let arguments = (ins AnyTensor:$data, Onnx_OptionalOf<Onnx_Floats>:$scales);
  let results = (outs AnyTensor:$y);
  let memberDeclarations = "static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node);";
}

def Onnx_InterpolateOp : Onnx_CoreOp<"Interpolate"> {
  let summary = "resized along axes; not in the standard";
  let description = [{
    Two tables for each of `axes`: positions (int32) and weights, both [taps, size]. The result is the weighted sum of the operand's elements at all
    combinations of positions. With `nearest` there is one tap, and no weights are read.}];
  let arguments = (ins AnyTensor:$data, Variadic<AnyTensor>:$tables, DenseI64ArrayAttr:$axes, BoolAttr:$nearest);
  let results = (outs AnyTensor:$y);
}
