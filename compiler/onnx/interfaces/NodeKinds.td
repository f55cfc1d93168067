// Declares the trait of operators of whose nodes graph::resolve does not make an op each.
#ifndef INGOT_ONNX_NODE_KINDS
#define INGOT_ONNX_NODE_KINDS
include "mlir/IR/OpBase.td"

def Onnx_ResolvedByRule : NativeOpTrait<"ResolvedByRule"> {
  let cppNamespace = "::ingot::onnx";
}
#endif
