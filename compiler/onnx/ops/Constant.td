// Declares values that are known at compile time, and the mark of an input that is left out.
include "compiler/onnx/Onnx.td"

def Onnx_ConstantOp : Op<Onnx_Dialect, "Constant", [Pure, ConstantLike, AllTypesMatch<["value", "y"]>]> {
  let summary = "a tensor; weights are resources over the mapped model file";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyTensor:$y);
  let assemblyFormat = "$value attr-dict";
  let hasFolder = 1;
}
// What exporters compute from shapes becomes one of these: Shape of [n, 4], plus 1, is #onnx.sizes<"n + 1", 5>.
def Onnx_SizesOp : Op<Onnx_Dialect, "Sizes", [Pure]> {
  let summary = "a small integer tensor whose elements are expressions of the model's symbols; see compiler/support/Size.h";
  let arguments = (ins Onnx_SizesAttr:$values);
  let hasVerifier = 1;
  let results = (outs AnyTensor:$y);
  let assemblyFormat = "$values attr-dict `:` type($y)";
}
def Onnx_NoneOp : Op<Onnx_Dialect, "None", [Pure]> {
  let summary = "an input that the node leaves out";
  let results = (outs NoneType:$y);
  let assemblyFormat = "attr-dict `:` type($y)";
}
