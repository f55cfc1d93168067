// Declares recurrent networks.
include "compiler/onnx/Onnx.td"

def Onnx_RecurrenceOp : Onnx_CoreOp<"Recurrence"> {
  let summary = "one direction of an LSTM, GRU or RNN behind its input projection";
  let description = [{
    P is X W' + bias for all steps: [steps, batch, gates * hidden], gates in the standard's order; R is [gates * hidden, hidden].
    `bias` is GRU's recurrent bias of the hidden gate, where it may not be added before the reset gate; `peephole` is [3 * hidden].
    An activation has an alpha and a beta; both are there for each, used or not.
    An R of int8 is a constant with a float32 `scale` for each row and, unless all are zero, an int32 `zero` point; `digits` is how many bytes an element of
    the state may become to be multiplied with it.
  }];
  let arguments = (ins AnyTensor:$P, AnyTensor:$R, Onnx_Optional:$initial_h, Onnx_Optional:$initial_c, Onnx_Optional:$bias,
    Onnx_Optional:$peephole, Onnx_Optional:$sequence_lens, Onnx_Optional:$scale, Onnx_Optional:$zero, StrAttr:$kind, StrArrayAttr:$activations, DenseF32ArrayAttr:$alphas,
    DenseF32ArrayAttr:$betas, OptionalAttr<F32Attr>:$clip, UnitAttr:$reverse, UnitAttr:$linearBeforeReset, UnitAttr:$inputForget,
    DefaultValuedAttr<I64Attr, "3">:$digits);
  let results = (outs AnyTensor:$Y, AnyTensor:$Y_h, AnyTensor:$Y_c);
}

def Onnx_Int32s : TensorOf<[I32]>;
class Onnx_RecurrentNode<string mnemonic, int inputs, string floats> : Onnx_Op<mnemonic, inputs, [Onnx_SameElements<floats>, DeclareOpInterfaceMethods<Onnx_Decomposable>]> {
  let memberDeclarations = "static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node);";
}
def Onnx_LSTMOp : Onnx_RecurrentNode<"LSTM", 8, "0, 1, 2, 3, 5, 6, 7">, Since<22> {
  let arguments = (ins Onnx_Floats:$X, Onnx_Floats:$W, Onnx_Floats:$R, Onnx_OptionalOf<Onnx_Floats>:$B, Onnx_OptionalOf<Onnx_Int32s>:$sequence_lens, Onnx_OptionalOf<Onnx_Floats>:$initial_h,
    Onnx_OptionalOf<Onnx_Floats>:$initial_c, Onnx_OptionalOf<Onnx_Floats>:$P, OptionalAttr<DenseF32ArrayAttr>:$activation_alpha,
    OptionalAttr<DenseF32ArrayAttr>:$activation_beta, OptionalAttr<StrArrayAttr>:$activations, OptionalAttr<F32Attr>:$clip,
    DefaultValuedOptionalAttr<StrAttr, "\"forward\"">:$direction, OptionalAttr<I64Attr>:$hidden_size,
    DefaultValuedOptionalAttr<I64Attr, "0">:$input_forget, DefaultValuedOptionalAttr<I64Attr, "0">:$layout);
  let results = (outs AnyTensor:$Y, AnyTensor:$Y_h, AnyTensor:$Y_c);
}
def Onnx_GRUOp : Onnx_RecurrentNode<"GRU", 6, "0, 1, 2, 3, 5">, Since<22> {
  let arguments = (ins Onnx_Floats:$X, Onnx_Floats:$W, Onnx_Floats:$R, Onnx_OptionalOf<Onnx_Floats>:$B, Onnx_OptionalOf<Onnx_Int32s>:$sequence_lens, Onnx_OptionalOf<Onnx_Floats>:$initial_h,
    OptionalAttr<DenseF32ArrayAttr>:$activation_alpha, OptionalAttr<DenseF32ArrayAttr>:$activation_beta,
    OptionalAttr<StrArrayAttr>:$activations, OptionalAttr<F32Attr>:$clip, DefaultValuedOptionalAttr<StrAttr, "\"forward\"">:$direction,
    OptionalAttr<I64Attr>:$hidden_size, DefaultValuedOptionalAttr<I64Attr, "0">:$layout,
    DefaultValuedOptionalAttr<I64Attr, "0">:$linear_before_reset);
  let results = (outs AnyTensor:$Y, AnyTensor:$Y_h);
}
def Onnx_RNNOp : Onnx_RecurrentNode<"RNN", 6, "0, 1, 2, 3, 5">, Since<22> {
  let arguments = (ins Onnx_Floats:$X, Onnx_Floats:$W, Onnx_Floats:$R, Onnx_OptionalOf<Onnx_Floats>:$B, Onnx_OptionalOf<Onnx_Int32s>:$sequence_lens, Onnx_OptionalOf<Onnx_Floats>:$initial_h,
    OptionalAttr<DenseF32ArrayAttr>:$activation_alpha, OptionalAttr<DenseF32ArrayAttr>:$activation_beta,
    OptionalAttr<StrArrayAttr>:$activations, OptionalAttr<F32Attr>:$clip, DefaultValuedOptionalAttr<StrAttr, "\"forward\"">:$direction,
    OptionalAttr<I64Attr>:$hidden_size, DefaultValuedOptionalAttr<I64Attr, "0">:$layout);
  let results = (outs AnyTensor:$Y, AnyTensor:$Y_h);
}

def Onnx_DynamicQuantizeLSTMOp
    : Onnx_MicrosoftOp<"DynamicQuantizeLSTM", 12, [Onnx_SameElements<"0, 3, 5, 6, 7, 8, 10">, DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<1> {
  let summary = "an LSTM whose products are of bytes: W and R are quantized, [directions, rows, gates * hidden], X and the state by their own range in the run";
  let arguments = (ins TensorOf<[F32]>:$X, TensorOf<[I8, UI8]>:$W, TensorOf<[I8, UI8]>:$R, Onnx_OptionalOf<Onnx_Floats>:$B, Onnx_OptionalOf<Onnx_Int32s>:$sequence_lens,
    Onnx_OptionalOf<Onnx_Floats>:$initial_h, Onnx_OptionalOf<Onnx_Floats>:$initial_c, Onnx_OptionalOf<Onnx_Floats>:$P, Onnx_Floats:$W_scale,
    TensorOf<[I8, UI8]>:$W_zero_point, Onnx_Floats:$R_scale, TensorOf<[I8, UI8]>:$R_zero_point, OptionalAttr<DenseF32ArrayAttr>:$activation_alpha,
    OptionalAttr<DenseF32ArrayAttr>:$activation_beta, OptionalAttr<StrArrayAttr>:$activations, OptionalAttr<F32Attr>:$clip,
    DefaultValuedOptionalAttr<StrAttr, "\"forward\"">:$direction, OptionalAttr<I64Attr>:$hidden_size,
    DefaultValuedOptionalAttr<I64Attr, "0">:$input_forget);
  let results = (outs AnyTensor:$Y, AnyTensor:$Y_h, AnyTensor:$Y_c);
}
