// Declares Gradient of ai.onnx.preview.training.
include "compiler/onnx/Onnx.td"
include "compiler/onnx/interfaces/Expansion.td"

def Onnx_GradientOp : Onnx_TrainingOp<"Gradient", -1,
    [AttrSizedOperandSegments, DeclareOpInterfaceMethods<Onnx_Expandable>, DeclareOpInterfaceMethods<Onnx_TensorNamer>]>, Since<1> {
  let summary = "the derivatives of a tensor by others";
  let description = [{
    `y` has been computed from `xs` and `zs` by the ops in front of this one. The results are its derivatives by `xs`, where these have the values
    `place`: one for each tensor of `xs`, and behind them one for each of `zs`.
  }];
  let arguments = (ins Variadic<AnyTensor>:$place, Variadic<AnyTensor>:$xs, Variadic<AnyTensor>:$zs, Variadic<AnyTensor>:$y);
  let results = (outs Variadic<AnyTensor>:$derivatives);
  let hasVerifier = 1;
  let assemblyFormat = "`at` `(` $place `)` `xs` `(` $xs `)` `zs` `(` $zs `)` `y` `(` $y `)` attr-dict `:` functional-type(operands, results)";
}
