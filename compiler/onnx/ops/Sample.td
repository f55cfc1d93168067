// Declares ops that read images at places between the pixels, which only data determines.
include "compiler/onnx/Onnx.td"

def Onnx_GridSampleOp : Onnx_Op<"GridSample", 2, [DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<22> {
  let summary = "the image at the places of a grid, which are given in [-1, 1] along each spatial axis, the last axis first";
  let arguments = (ins AnyTensor:$x, Onnx_Floats:$grid, DefaultValuedOptionalAttr<I64Attr, "0">:$align_corners,
    DefaultValuedOptionalAttr<StrAttr, "\"linear\"">:$mode, DefaultValuedOptionalAttr<StrAttr, "\"zeros\"">:$padding_mode);
  let results = (outs AnyTensor:$y);
  let memberDeclarations = "static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node);";
}

def Onnx_AffineGridOp : Onnx_Op<"AffineGrid", 2, [DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<20> {
  let summary = "GridSample's grid of an image that is moved, rotated and scaled";
  let arguments = (ins Onnx_Floats:$theta, Onnx_Int64s:$size, DefaultValuedOptionalAttr<I64Attr, "0">:$align_corners);
  let results = (outs AnyTensor:$grid);
}
def Onnx_RoiAlignOp : Onnx_Op<"RoiAlign", 3, [DeclareOpInterfaceMethods<Onnx_Decomposable>, Onnx_SameElements<"0, 1">]>, Since<22> {
  let summary = "each region of the image as so many bins: the mean, or the largest, of samples between the pixels";
  let arguments = (ins Onnx_Floats:$x, Onnx_Floats:$rois, Onnx_Int64s:$batch_indices,
    DefaultValuedOptionalAttr<StrAttr, "\"half_pixel\"">:$coordinate_transformation_mode, DefaultValuedOptionalAttr<StrAttr, "\"avg\"">:$mode,
    DefaultValuedOptionalAttr<I64Attr, "1">:$output_height, DefaultValuedOptionalAttr<I64Attr, "1">:$output_width,
    DefaultValuedOptionalAttr<I64Attr, "0">:$sampling_ratio, DefaultValuedOptionalAttr<F32Attr, "1.0f">:$spatial_scale);
  let results = (outs AnyTensor:$y);
  let memberDeclarations = "static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node);";
}
def Onnx_MaxRoiPoolOp : Onnx_Op<"MaxRoiPool", 2, [DeclareOpInterfaceMethods<Onnx_Decomposable>, Onnx_SameElements<"0, 1">]>, Since<22> {
  let summary = "each region of the image as so many bins: the largest pixel of each, 0 where it has none";
  let arguments = (ins Onnx_Floats:$x, Onnx_Floats:$rois, DenseI64ArrayAttr:$pooled_shape, DefaultValuedOptionalAttr<F32Attr, "1.0f">:$spatial_scale);
  let results = (outs AnyTensor:$y);
}
def Onnx_RoiSampleOp : Onnx_CoreOp<"RoiSample"> {
  let summary = "RoiAlign of an image whose channels are its last axis; of the mode `pixels`: MaxRoiPool";
  let arguments = Onnx_RoiAlignOp.arguments;
  let results = (outs AnyTensor:$y);
}
def Onnx_CropAndResizeOp : Onnx_MicrosoftAlias<"CropAndResize", 4> {
  let attributes = (ins OptionalAttr<F32Attr>:$extrapolation_value, OptionalAttr<StrAttr>:$mode);
}
