// Declares interfaces of operators that hold subgraphs, or that are loops, derivatives and the like in terms of others.
#ifndef INGOT_ONNX_EXPANSION
#define INGOT_ONNX_EXPANSION
include "mlir/IR/OpBase.td"

def Onnx_Expandable : OpInterface<"Expandable"> {
  let cppNamespace = "::ingot::onnx";
  let description = "An op whose meaning is other ops, whatever the sizes of its operands are; rewritten by graph::expand, before anything is simplified.";
  let methods = [InterfaceMethod<[{
      Writes the other ops at the builder's place, in front of this one, and fills one value for each result. Failure comes with a message.}],
    "::llvm::LogicalResult", "expand", (ins "::mlir::OpBuilder &":$b, "::llvm::SmallVectorImpl<::mlir::Value> &":$results)>];
}

def Onnx_SubgraphHolder : OpInterface<"SubgraphHolder"> {
  let cppNamespace = "::ingot::onnx";
  let description = "An op with a region for each subgraph that its node may have as an attribute; regions of those left out are empty.";
  let methods = [
    StaticInterfaceMethod<"The names of these attributes, one for each region.", "::llvm::ArrayRef<::llvm::StringLiteral>", "subgraphNames", (ins)>,
    InterfaceMethod<[{
      The types of the values that the op gives to the subgraph of a region, as far as operands and attributes tell them. `types` has those that
      the model declares for its inputs, null where it declares none.}],
    "::llvm::LogicalResult", "argumentTypes", (ins "unsigned":$region, "::llvm::SmallVectorImpl<::mlir::Type> &":$types)>];
}

def Onnx_TensorNamer : OpInterface<"TensorNamer"> {
  let cppNamespace = "::ingot::onnx";
  let description = [{
    An op whose node names tensors of the graph in attributes. They are operands: a group for each attribute, behind the group of the node's
    inputs.}];
  let methods = [StaticInterfaceMethod<"The names of these attributes.", "::llvm::ArrayRef<::llvm::StringLiteral>", "tensorAttributes", (ins)>];
}
#endif
