// Declares what an op says of itself; the families say what kernels make of it (compiler/lower/Family.h). Each op
// implements these in its own family file, compiler/onnx/ops/<Family>.cpp; there is no list elsewhere.
#ifndef INGOT_ONNX_INTERFACES
#define INGOT_ONNX_INTERFACES
include "mlir/IR/OpBase.td"

def Onnx_InferTypes : OpInterface<"InferTypes"> {
  let cppNamespace = "::ingot::onnx";
  let description = "Result types from operand types, attributes and operands that are constants.";
  let methods = [InterfaceMethod<[{
      Fills one type for each result. What cannot be known yet is a dynamic dimension (`?`) or an unranked tensor; the element type is
      always known. A contradiction is the user's error: emitOpError() and failure.}],
    "::llvm::LogicalResult", "inferTypes", (ins "::llvm::SmallVectorImpl<::mlir::Type> &":$types)>];
}

def Onnx_Importable : OpInterface<"Importable"> {
  let cppNamespace = "::ingot::onnx";
  let description = "How a node of any opset becomes the op's newest definition.";
  let methods = [
    StaticInterfaceMethod<"Number of inputs that the newest definition declares; -1 when variadic.", "int64_t", "inputCount", (ins)>,
    StaticInterfaceMethod<"Version of the definition that the op's code was written for.", "int64_t", "since", (ins)>,
    StaticInterfaceMethod<"The newest opset in which that definition, or an older one, holds. A model of a newer one may mean something else.",
      "int64_t", "through", (ins), "", [{ return ::ingot::onnx::newestOpset; }]>,
    StaticInterfaceMethod<[{
      Rewrites `node`, given by the definition of opset `node.opset`, to the newest definition: attributes that became inputs, defaults that changed,
      renamed ops. An op that isAlias() fills `node.results` instead. The default is right for an op whose definitions all read alike.}],
    "::llvm::LogicalResult", "upgrade", (ins "::ingot::onnx::Node &":$node), "", [{ return ::llvm::success(); }]>,
    StaticInterfaceMethod<"Whether upgrade() writes each node in terms of other ops, so that none of this name is ever made.", "bool", "isAlias", (ins), "",
      [{ return false; }]>];
}

def Onnx_ElementwiseInterface : OpInterface<"Elementwise"> {
  let cppNamespace = "::ingot::onnx";
  let description = "An op whose result element depends on one element of each operand.";
  let methods = [
    InterfaceMethod<[{
      Computes the result for operands that are all scalars, or all vectors of one length. Values are signless; booleans are i1; an operand
      left out (none) is a null Value. The same code serves scalars, vectors, epilogues of any root and constant folding.}],
    "::mlir::Value", "emit", (ins "::mlir::OpBuilder &":$b, "::mlir::ValueRange":$x)>,
    InterfaceMethod<"Element type of the result.", "::mlir::Type", "resultElement", (ins), "",
      [{ return ::mlir::getElementTypeOrSelf($_op->getOperand(0).getType()); }]>,
    InterfaceMethod<"Whether the operands may have element types that differ.", "bool", "mixesElements", (ins), "", [{ return false; }]>];
}

def Onnx_Decomposable : OpInterface<"Decomposable"> {
  let cppNamespace = "::ingot::onnx";
  let description = "An op whose meaning is other ops; rewritten by graph-simplify once its operand shapes are known.";
  let methods = [InterfaceMethod<[{
      Replaces the op by others (rewriter.replaceOp). Failure without a message: not for these operands, or not yet.}],
    "::llvm::LogicalResult", "decompose", (ins "::mlir::PatternRewriter &":$rewriter)>];
}

def Onnx_Evaluable : OpInterface<"Evaluable"> {
  let cppNamespace = "::ingot::onnx";
  let description = "An op that the compiler can compute when its operands are constants (elementwise ops need not say so: emit() serves).";
  let methods = [InterfaceMethod<[{
      Fills one constant for each result. `operands` has a null attribute for an input left out, and for one that is not a constant
      (such as Shape's); fails quietly when it needs it. Result types are already inferred and static.}],
    "::llvm::LogicalResult", "evaluate",
    (ins "::llvm::ArrayRef<::mlir::ElementsAttr>":$operands, "::llvm::SmallVectorImpl<::mlir::ElementsAttr> &":$results)>];
}

def Onnx_Mover : OpInterface<"Mover"> {
  let cppNamespace = "::ingot::onnx";
  let description = "An op of one result that only moves elements.";
  let methods = [InterfaceMethod<"Where they go. Types are static; nothing when an operand that says so is not a constant.",
    "::std::optional<::ingot::onnx::Movement>", "movement", (ins)>];
}

def Onnx_ViewInterface : OpInterface<"View"> {
  let cppNamespace = "::ingot::onnx";
  let description = "An op of one result that may be nothing but another name for memory of operand 0.";
  let methods = [InterfaceMethod<[{
      The element of the row-major operand 0 where the row-major result begins; nothing when its elements do not lie there one behind the
      other. Sizes are known.}],
    "::std::optional<::ingot::support::Size>", "viewOffset", (ins)>];
}

def Onnx_JoinInterface : OpInterface<"Join"> {
  let cppNamespace = "::ingot::onnx";
  let description = "An op whose result is its operands one behind the other along an axis.";
  let methods = [InterfaceMethod<"The axis, not negative. Types are static.", "int64_t", "joinAxis", (ins)>];
}

def Onnx_Indexer : OpInterface<"Indexer"> {
  let cppNamespace = "::ingot::onnx";
  let description = "An op that reads or writes elements of operand 0's shape at places given by operand 1.";
  let methods = [InterfaceMethod<"The places. Types are static.", "::ingot::onnx::Lookup", "lookup", (ins)>];
}

def Onnx_Parametric : OpInterface<"Parametric"> {
  let cppNamespace = "::ingot::onnx";
  let description = "An op with operands that nobody reads in a run, as result types or positions known at compile time say all that they say.";
  let methods = [InterfaceMethod<"Whether this operand is one.", "bool", "isParameter", (ins "unsigned":$operand)>];
}
#endif
