// Declares ops that become slices, reshapes and transposes.
include "compiler/onnx/Onnx.td"

class Onnx_Moves<string mnemonic, int inputs> : Onnx_Op<mnemonic, inputs, [DeclareOpInterfaceMethods<Onnx_Decomposable>]>;
def Onnx_SplitOp : Onnx_Op<"Split", 2, [DeclareOpInterfaceMethods<Onnx_Decomposable>, DeclareOpInterfaceMethods<Onnx_Evaluable>]>, Since<18> {
  let arguments = (ins AnyTensor:$data, Onnx_OptionalOf<Onnx_Int64s>:$split, DefaultValuedOptionalAttr<I64Attr, "0">:$axis, OptionalAttr<I64Attr>:$num_outputs);
  let results = (outs Variadic<AnyTensor>:$ys);
  let memberDeclarations = "static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node);";
}
def Onnx_DepthToSpaceOp : Onnx_Moves<"DepthToSpace", 1>, Since<28> {
  let arguments = (ins AnyTensor:$data, I64Attr:$blocksize, DefaultValuedOptionalAttr<StrAttr, "\"DCR\"">:$mode);
  let results = (outs AnyTensor:$y);
}
def Onnx_SpaceToDepthOp : Onnx_Moves<"SpaceToDepth", 1>, Since<28> {
  let arguments = (ins AnyTensor:$data, I64Attr:$blocksize, DefaultValuedOptionalAttr<StrAttr, "\"DCR\"">:$mode);
  let results = (outs AnyTensor:$y);
}
def Onnx_CenterCropPadOp : Onnx_Moves<"CenterCropPad", 2>, Since<18> {
  let summary = "the middle of the data, or zeros around it, so that axes have the sizes that are asked for";
  let arguments = (ins AnyTensor:$data, Onnx_Indices:$shape, OptionalAttr<DenseI64ArrayAttr>:$axes);
  let results = (outs AnyTensor:$y);
}

// These are experimental ops of opset 7 and before.
def Onnx_CropOp : Onnx_Moves<"Crop", 1>, Since<1> {
  let arguments = (ins Onnx_Floats:$data, DenseI64ArrayAttr:$border, OptionalAttr<DenseI64ArrayAttr>:$scale);
  let results = (outs AnyTensor:$y);
}
def Onnx_ImageScalerOp : Onnx_Moves<"ImageScaler", 1>, Since<1> {
  let arguments = (ins Onnx_Floats:$data, DenseF32ArrayAttr:$bias, DefaultValuedOptionalAttr<F32Attr, "1.0f">:$scale);
  let results = (outs AnyTensor:$y);
}
