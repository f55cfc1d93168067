// Declares control flow: ops whose regions hold a model's subgraphs. A region reads values around it directly; its
// results are those of its yield.
include "compiler/onnx/Onnx.td"

/// The class of control ops. One is not pure where it finds sizes (compiler/onnx/sizes/DataDependentSizes.h): other ops may speak of
/// them although nobody reads the results.
class Onnx_ControlOp<string mnemonic, list<Trait> traits = []>
    : Op<Onnx_Dialect, mnemonic, traits # [RecursiveMemoryEffects, SingleBlock, DeclareOpInterfaceMethods<Onnx_InferTypes>,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let hasVerifier = 1;
}
def Onnx_IfOp : Onnx_ControlOp<"If", [NoRegionArguments]> {
  let summary = "one of two branches, by a condition of one element";
  let description = [{
    A branch whose types contradict each other (exporters leave branches that fit other sizes) holds nothing but an onnx.Fail: a run that takes
    it ends with an error value.
  }];
  let arguments = (ins Onnx_Bools:$condition);
  let results = (outs Variadic<AnyTensor>:$outs);
  let regions = (region SizedRegion<1>:$thenBranch, SizedRegion<1>:$elseBranch);
}
def Onnx_LoopOp : Onnx_ControlOp<"Loop"> {
  let summary = "a loop over a trip count, while a condition holds";
  let description = [{
    The body's arguments are the iteration's number, the condition, and the carried values; it yields the condition for the next iteration, the
    carried values, and for each scan output a slice, which the result stacks along a new first axis. Scan is a Loop as well: graph::resolve makes it one.
  }];
  let arguments = (ins Onnx_OptionalOf<Onnx_Int64s>:$trips, Onnx_OptionalOf<Onnx_Bools>:$condition, Variadic<AnyTensor>:$initial);
  let results = (outs Variadic<AnyTensor>:$outs);
  let regions = (region SizedRegion<1>:$body);
  let extraClassDeclaration = [{
    unsigned carried() { return getInitial().size(); }
    unsigned scans() { return getNumResults() - carried(); }
    ::mlir::Block &block() { return getBody().front(); }
    ::mlir::Value number() { return block().getArgument(0); }
    /// the condition, which is true, or the iteration would not be
    ::mlir::Value enters() { return block().getArgument(1); }
    ::mlir::Value argument(unsigned i) { return block().getArgument(2 + i); }
    /// Returns the first value that the body yields: the condition, behind which comes a value for each result.
    ::mlir::OpOperand &continues() { return block().getTerminator()->getOpOperand(0); }
    ::mlir::OpOperand &yielded(unsigned i) { return block().getTerminator()->getOpOperand(1 + i); }
  }];
}
def Onnx_YieldOp : Op<Onnx_Dialect, "Yield", [Pure, Terminator, ParentOneOf<["IfOp", "LoopOp"]>]> {
  let summary = "what a subgraph gives";
  let arguments = (ins Variadic<AnyTensor>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}
def Onnx_FailOp : Op<Onnx_Dialect, "Fail", [Pure]> {
  let summary = "what a branch that cannot be computed gives: nothing; `why` says the reason";
  let arguments = (ins StrAttr:$why);
  let results = (outs Variadic<AnyTensor>:$outs);
  let assemblyFormat = "$why attr-dict `:` type($outs)";
}
