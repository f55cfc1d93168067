// Declares ops that make small integers with a scale and a zero point of numbers, and the reverse.
include "compiler/onnx/Onnx.td"
include "compiler/onnx/interfaces/Curve.td"

class Onnx_Quantization<string mnemonic, int inputs, list<Trait> traits = []>
    : Onnx_Op<mnemonic, inputs, traits # [DeclareOpInterfaceMethods<Onnx_Decomposable>]> {
  let memberDeclarations = "static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node);";
}

def Onnx_QuantizeLinearOp : Onnx_Quantization<"QuantizeLinear", 3>, Since<28> {
  let summary = "saturate(round(x / y_scale) + y_zero_point)";
  let arguments = (ins Onnx_Numbers:$x, Onnx_Floats:$y_scale, Onnx_Optional:$y_zero_point, DefaultValuedOptionalAttr<I64Attr, "1">:$axis,
    DefaultValuedOptionalAttr<I64Attr, "0">:$block_size, DefaultValuedOptionalAttr<I64Attr, "0">:$output_dtype,
    DefaultValuedOptionalAttr<I64Attr, "0">:$precision, DefaultValuedOptionalAttr<I64Attr, "1">:$saturate);
  let results = (outs AnyTensor:$y);
}
def Onnx_DequantizeLinearOp : Onnx_Quantization<"DequantizeLinear", 3>, Since<28> {
  let summary = "(x - x_zero_point) * x_scale";
  let arguments = (ins AnyTensor:$x, Onnx_Floats:$x_scale, Onnx_Optional:$x_zero_point, DefaultValuedOptionalAttr<I64Attr, "1">:$axis,
    DefaultValuedOptionalAttr<I64Attr, "0">:$block_size, DefaultValuedOptionalAttr<I64Attr, "0">:$output_dtype);
  let results = (outs AnyTensor:$y);
}
def Onnx_DynamicQuantizeLinearOp : Onnx_Op<"DynamicQuantizeLinear", 1, [DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<11> {
  let summary = "uint8 with the scale and zero point of the tensor's own range";
  let arguments = (ins Onnx_Floats:$x);
  let results = (outs AnyTensor:$y, AnyTensor:$y_scale, AnyTensor:$y_zero_point);
}

// The class of the ops that they become, whose scale and zero point are broadcast.
class Onnx_CoreElementwise<string mnemonic, list<Trait> traits = []>
    : Op<Onnx_Dialect, mnemonic, traits # [Pure, Onnx_InferTypes, DeclareOpInterfaceMethods<Onnx_ElementwiseInterface, ["resultElement", "mixesElements"]>]> {
  let results = (outs AnyTensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    ::llvm::LogicalResult inferTypes(::llvm::SmallVectorImpl<::mlir::Type> &types) { return inferElementwise(*this, types); }
  }];
}
def Onnx_QuantizeOp : Onnx_CoreElementwise<"Quantize"> {
  let summary = "saturate(round(x / scale) + zero)";
  let arguments = (ins Onnx_Floats:$x, Onnx_Floats:$scale, AnyTensor:$zero, I64Attr:$to,
    DefaultValuedOptionalAttr<I64Attr, "1">:$saturate, UnitAttr:$bounded); // bounded: x / scale is known to be below 2^30
}
def Onnx_DequantizeOp : Onnx_CoreElementwise<"Dequantize", [DeclareOpInterfaceMethods<Onnx_Curve>]> {
  let summary = "(x - zero) * scale";
  let arguments = (ins AnyTensor:$x, Onnx_Floats:$scale, AnyTensor:$zero);
}
