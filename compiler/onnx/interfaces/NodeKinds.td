// Declares the trait of operators whose nodes do not become one op each in graph::resolve, but regions of a loop,
// several tensors, or nothing.
#ifndef INGOT_ONNX_NODE_KINDS
#define INGOT_ONNX_NODE_KINDS
include "mlir/IR/OpBase.td"

def Onnx_ResolvedByRule : NativeOpTrait<"ResolvedByRule"> {
  let cppNamespace = "::ingot::onnx";
}
#endif
