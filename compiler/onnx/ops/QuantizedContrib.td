// Declares quantized operators of com.microsoft, as ONNX Runtime's quantizer and model builder write them.
include "compiler/onnx/Onnx.td"

class Onnx_Ms<string name, int inputs>
    : Onnx_MicrosoftOp<name, inputs, [DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<1> {
  let results = (outs AnyTensor:$y);
}

// The class of an operator of the standard between Dequantize and Quantize.
class Onnx_MsUnary<string name, dag attributes = (ins)> : Onnx_Ms<name, 5> {
  let arguments = !con((ins Onnx_Bytes:$x, Onnx_Floats:$x_scale, Onnx_OptionalOf<Onnx_Bytes>:$x_zero, Onnx_Floats:$y_scale,
    Onnx_OptionalOf<Onnx_Bytes>:$y_zero), attributes);
}
class Onnx_MsBinary<string name> : Onnx_Ms<name, 8> {
  let arguments = (ins Onnx_Bytes:$a, Onnx_Floats:$a_scale, Onnx_OptionalOf<Onnx_Bytes>:$a_zero, Onnx_Bytes:$b, Onnx_Floats:$b_scale,
    Onnx_OptionalOf<Onnx_Bytes>:$b_zero, Onnx_Floats:$c_scale, Onnx_OptionalOf<Onnx_Bytes>:$c_zero);
}

def Onnx_MsQLinearAddOp : Onnx_MsBinary<"QLinearAdd">;
def Onnx_MsQLinearMulOp : Onnx_MsBinary<"QLinearMul">;
def Onnx_MsQLinearSigmoidOp : Onnx_MsUnary<"QLinearSigmoid">;
def Onnx_MsQLinearLeakyReluOp
    : Onnx_MsUnary<"QLinearLeakyRelu", (ins DefaultValuedOptionalAttr<F32Attr, "0.01f">:$alpha)>;
def Onnx_MsQLinearSoftmaxOp
    : Onnx_MsUnary<"QLinearSoftmax", (ins DefaultValuedOptionalAttr<I64Attr, "-1">:$axis, I64Attr:$opset)>;
def Onnx_MsQLinearReduceMeanOp
    : Onnx_MsUnary<"QLinearReduceMean", (ins OptionalAttr<DenseI64ArrayAttr>:$axes, DefaultValuedOptionalAttr<I64Attr, "1">:$keepdims)>;
def Onnx_MsQLinearGlobalAveragePoolOp
    : Onnx_MsUnary<"QLinearGlobalAveragePool", (ins DefaultValuedOptionalAttr<I64Attr, "0">:$channels_last)>;
def Onnx_MsQLinearAveragePoolOp
    : Onnx_MsUnary<"QLinearAveragePool", (ins DefaultValuedOptionalAttr<StrAttr, "\"NOTSET\"">:$auto_pad,
        DefaultValuedOptionalAttr<I64Attr, "0">:$ceil_mode, DefaultValuedOptionalAttr<I64Attr, "0">:$channels_last,
        DefaultValuedOptionalAttr<I64Attr, "0">:$count_include_pad, DenseI64ArrayAttr:$kernel_shape, OptionalAttr<DenseI64ArrayAttr>:$pads,
        OptionalAttr<DenseI64ArrayAttr>:$strides)>;

def Onnx_MsQOrderedGeluOp : Onnx_Ms<"QOrderedGelu", 3> {
  let summary = "Gelu between Dequantize and Quantize, without zero points";
  let arguments = (ins TensorOf<[I8]>:$x, TensorOf<[F32]>:$x_scale, TensorOf<[F32]>:$y_scale, OptionalAttr<I64Attr>:$order_X,
    OptionalAttr<I64Attr>:$order_Y);
  let hasVerifier = 1;
}

def Onnx_MsQOrderedLayerNormalizationOp : Onnx_Ms<"QOrderedLayerNormalization", 5> {
  let summary = "LayerNormalization between Dequantize and Quantize, without zero points";
  let arguments = (ins TensorOf<[I8]>:$x, TensorOf<[F32]>:$x_scale, TensorOf<[F32, F16]>:$gamma, Onnx_OptionalOf<TensorOf<[F32, F16]>>:$beta,
    TensorOf<[F32]>:$y_scale, DefaultValuedOptionalAttr<I64Attr, "-1">:$axis, DefaultValuedOptionalAttr<F32Attr, "1e-5f">:$epsilon,
    DefaultValuedOptionalAttr<I64Attr, "1">:$order_X, DefaultValuedOptionalAttr<I64Attr, "1">:$order_Y);
  let hasVerifier = 1;
}

// The class of a conversion between floats and bytes, either of which may be in an order of cuBLASLt.
class Onnx_MsOrdered<string name, dag inputs, dag attributes = (ins)> : Onnx_Ms<name, 2> {
  let arguments = !con(inputs, (ins TensorOf<[F32]>:$scale, I64Attr:$order_input, I64Attr:$order_output), attributes);
  let hasVerifier = 1;
}
def Onnx_MsQuantizeWithOrderOp : Onnx_MsOrdered<"QuantizeWithOrder", (ins TensorOf<[F32, F16]>:$x)> {
  let summary = "QuantizeLinear to int8 without a zero point, whose matrices may be stored by columns";
}
def Onnx_MsDequantizeWithOrderOp : Onnx_MsOrdered<"DequantizeWithOrder", (ins TensorOf<[I8]>:$x), (ins I64Attr:$to)> {
  let summary = "DequantizeLinear of int8 without a zero point, whose matrices may be stored by columns";
}

def Onnx_MsNhwcMaxPoolOp : Onnx_MicrosoftAlias<"NhwcMaxPool", 1> {
  let attributes = (ins OptionalAttr<StrAttr>:$auto_pad, OptionalAttr<I64Attr>:$ceil_mode, OptionalAttr<DenseI64ArrayAttr>:$dilations,
    OptionalAttr<DenseI64ArrayAttr>:$kernel_shape, OptionalAttr<DenseI64ArrayAttr>:$pads, OptionalAttr<DenseI64ArrayAttr>:$strides);
}
def Onnx_MsQLinearConvOp : Onnx_MicrosoftAlias<"QLinearConv", 9> {
  let attributes = (ins OptionalAttr<StrAttr>:$auto_pad, OptionalAttr<I64Attr>:$channels_last, OptionalAttr<DenseI64ArrayAttr>:$dilations,
    OptionalAttr<I64Attr>:$group, OptionalAttr<DenseI64ArrayAttr>:$kernel_shape, OptionalAttr<DenseI64ArrayAttr>:$pads,
    OptionalAttr<DenseI64ArrayAttr>:$strides);
}

def Onnx_MsQLinearWhereOp : Onnx_Ms<"QLinearWhere", 9> {
  let arguments = (ins Onnx_Bools:$condition, Onnx_Bytes:$a, Onnx_Floats:$a_scale, Onnx_Bytes:$a_zero, Onnx_Bytes:$b, Onnx_Floats:$b_scale,
    Onnx_Bytes:$b_zero, Onnx_Floats:$c_scale, Onnx_Bytes:$c_zero);
}
def Onnx_MsQLinearConcatOp : Onnx_Ms<"QLinearConcat", -1> {
  let summary = "scale and zero point of the result, then tensor, scale and zero point of each part";
  let arguments = (ins Variadic<AnyTensor>:$parts, I64Attr:$axis);
  let hasVerifier = 1;
}

// These are products.
def Onnx_MsQGemmOp : Onnx_Ms<"QGemm", 9> {
  let summary = "alpha * A' * B' + C, quantized, or as floats where there is no scale for the result";
  let arguments = (ins Onnx_Bytes:$a, Onnx_Floats:$a_scale, Onnx_Bytes:$a_zero, Onnx_Bytes:$b, Onnx_Floats:$b_scale, Onnx_Bytes:$b_zero,
    Onnx_OptionalOf<TensorOf<[I32]>>:$c, Onnx_OptionalOf<Onnx_Floats>:$y_scale, Onnx_OptionalOf<Onnx_Bytes>:$y_zero,
    DefaultValuedOptionalAttr<F32Attr, "1.0f">:$alpha, DefaultValuedOptionalAttr<I64Attr, "0">:$transA,
    DefaultValuedOptionalAttr<I64Attr, "0">:$transB);
}
def Onnx_MsMatMulIntegerToFloatOp : Onnx_Ms<"MatMulIntegerToFloat", 7> {
  let arguments = (ins Onnx_Bytes:$a, Onnx_Bytes:$b, Onnx_Floats:$a_scale, Onnx_Floats:$b_scale, Onnx_OptionalOf<Onnx_Bytes>:$a_zero,
    Onnx_OptionalOf<Onnx_Bytes>:$b_zero, Onnx_OptionalOf<Onnx_Floats>:$bias);
}
def Onnx_MsDynamicQuantizeMatMulOp : Onnx_Ms<"DynamicQuantizeMatMul", 5> {
  let arguments = (ins Onnx_Floats:$a, Onnx_Bytes:$b, Onnx_Floats:$b_scale, Onnx_OptionalOf<Onnx_Bytes>:$b_zero,
    Onnx_OptionalOf<Onnx_Floats>:$bias);
}

// These are older names of operators that the standard has since.
def Onnx_MsQuantizeLinearOp : Onnx_Ms<"QuantizeLinear", 3> {
  let arguments = (ins Onnx_Floats:$x, Onnx_Floats:$scale, Onnx_Optional:$zero, DefaultValuedOptionalAttr<I64Attr, "1">:$axis);
}
def Onnx_MsDequantizeLinearOp : Onnx_Ms<"DequantizeLinear", 3> {
  let arguments = (ins AnyTensor:$x, Onnx_Floats:$scale, Onnx_Optional:$zero, DefaultValuedOptionalAttr<I64Attr, "1">:$axis);
}
