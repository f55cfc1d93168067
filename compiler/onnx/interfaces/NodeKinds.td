// Declares traits of operators whose nodes do not become one op each in graph::resolve, but regions of a loop, several
// tensors, or nothing.
#ifndef INGOT_ONNX_NODE_KINDS
#define INGOT_ONNX_NODE_KINDS
include "mlir/IR/OpBase.td"

class Onnx_NodeKind<string name> : NativeOpTrait<name> {
  let cppNamespace = "::ingot::onnx";
}
def Onnx_ControlNode : Onnx_NodeKind<"ControlNode">;   // has subgraphs that become regions of loops and branches
def Onnx_SequenceNode : Onnx_NodeKind<"SequenceNode">; // is about sequences of tensors
def Onnx_OptionalNode : Onnx_NodeKind<"OptionalNode">; // is about values that may be absent
#endif
