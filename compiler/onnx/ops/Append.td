// Declares a cache that grows from run to run. It is no op of the standard: it takes the place of a Concat of past and
// new rows where the cache has room for more (graph/ShareCaches).
include "compiler/onnx/Onnx.td"

def Onnx_AppendOp : Onnx_CoreOp<"Append"> {
  let summary = "a cache with rows written at `sizes[0]` along `axis`";
  let arguments = (ins AnyTensor:$cache, AnyTensor:$rows, I64Attr:$axis, Onnx_SizesAttr:$sizes);
  let hasVerifier = 1;
  let extraClassDeclaration = "::ingot::support::Size place();";
  let results = (outs AnyTensor:$y);
}
