// Declares Softmax and its relatives, and the normalisations.
include "compiler/onnx/Onnx.td"

/// The class of ops along an axis. Before opset 13 the tensor was flattened to a matrix at `axis`, by default 1.
class Onnx_AlongAxis<string mnemonic, list<Trait> traits = []> : Onnx_Op<mnemonic, 1, traits> {
  let arguments = (ins Onnx_Floats:$input, DefaultValuedOptionalAttr<I64Attr, "-1">:$axis);
  let results = (outs AnyTensor:$output);
  let memberDeclarations = "static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node);";
}
def Onnx_SoftmaxOp : Onnx_AlongAxis<"Softmax">, Since<13>;
def Onnx_LogSoftmaxOp : Onnx_AlongAxis<"LogSoftmax">, Since<13>;
def Onnx_HardmaxOp : Onnx_AlongAxis<"Hardmax", [DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<13>;

def Onnx_StandardizeOp : Onnx_CoreOp<"Standardize"> {
  let summary = "(x - mean) / sqrt(variance + epsilon) over trailing axes; uncentered: x / sqrt(mean of squares + epsilon)";
  let arguments = (ins Onnx_Floats:$x, DenseI64ArrayAttr:$axes, F32Attr:$epsilon, UnitAttr:$uncentered);
  let results = (outs AnyTensor:$y);
}

def Onnx_LayerNormalizationOp : Onnx_Op<"LayerNormalization", 3, [Onnx_SameElements<>, DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<17> {
  let arguments = (ins Onnx_Floats:$X, Onnx_Floats:$Scale, Onnx_OptionalOf<Onnx_Floats>:$B, DefaultValuedOptionalAttr<I64Attr, "-1">:$axis,
    DefaultValuedOptionalAttr<F32Attr, "1e-5f">:$epsilon, DefaultValuedOptionalAttr<I64Attr, "1">:$stash_type);
  let results = (outs AnyTensor:$Y, AnyTensor:$Mean, AnyTensor:$InvStdDev);
}
def Onnx_RMSNormalizationOp : Onnx_Op<"RMSNormalization", 2, [DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<23> {
  let arguments = (ins Onnx_Floats:$X, Onnx_Floats:$scale, DefaultValuedOptionalAttr<I64Attr, "-1">:$axis,
    DefaultValuedOptionalAttr<F32Attr, "1e-5f">:$epsilon, DefaultValuedOptionalAttr<I64Attr, "1">:$stash_type);
  let results = (outs AnyTensor:$Y);
}
def Onnx_InstanceNormalizationOp : Onnx_Op<"InstanceNormalization", 3, [Onnx_SameElements<>, DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<22> {
  let arguments = (ins Onnx_Floats:$input, Onnx_Floats:$scale, Onnx_Floats:$B, DefaultValuedOptionalAttr<F32Attr, "1e-5f">:$epsilon);
  let results = (outs AnyTensor:$output);
  let memberDeclarations = "static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node);";
}
def Onnx_GroupNormalizationOp : Onnx_Op<"GroupNormalization", 3, [Onnx_SameElements<>, DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<21> {
  let arguments = (ins Onnx_Floats:$X, Onnx_Floats:$scale, Onnx_Floats:$bias, I64Attr:$num_groups, DefaultValuedOptionalAttr<F32Attr, "1e-5f">:$epsilon,
    DefaultValuedOptionalAttr<I64Attr, "1">:$stash_type);
  let results = (outs AnyTensor:$Y);
}
def Onnx_BatchNormalizationOp : Onnx_Op<"BatchNormalization", 5, [Onnx_SameElements<"1, 2">, Onnx_SameElements<"3, 4">, DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<15> {
  let arguments = (ins Onnx_Floats:$X, Onnx_Floats:$scale, Onnx_Floats:$B, Onnx_Floats:$input_mean, Onnx_Floats:$input_var,
    DefaultValuedOptionalAttr<F32Attr, "1e-5f">:$epsilon, DefaultValuedOptionalAttr<F32Attr, "0.9f">:$momentum,
    DefaultValuedOptionalAttr<I64Attr, "0">:$training_mode);
  let results = (outs AnyTensor:$Y, AnyTensor:$running_mean, AnyTensor:$running_var);
  let memberDeclarations = "static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node);";
}
def Onnx_MeanVarianceNormalizationOp : Onnx_Op<"MeanVarianceNormalization", 1, [DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<13> {
  let arguments = (ins Onnx_Floats:$X, DefaultValuedOptionalAttr<DenseI64ArrayAttr, "{0, 2, 3}">:$axes);
  let results = (outs AnyTensor:$Y);
}
def Onnx_LpNormalizationOp : Onnx_Op<"LpNormalization", 1, [DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<22> {
  let arguments = (ins Onnx_Floats:$input, DefaultValuedOptionalAttr<I64Attr, "-1">:$axis, DefaultValuedOptionalAttr<I64Attr, "2">:$p);
  let results = (outs AnyTensor:$output);
}
