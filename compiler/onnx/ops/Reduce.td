// Declares reductions over axes, positions of extremes, and running sums and products.
include "compiler/onnx/Onnx.td"

def Onnx_ReduceOp : Onnx_CoreOp<"Reduce",
    [DeclareOpInterfaceMethods<Onnx_Evaluable>]> {
  let summary = "reduction over axes that are known: normal, sorted, at least one";
  let arguments = (ins AnyTensor:$data, StrAttr:$kind, DenseI64ArrayAttr:$axes, UnitAttr:$keepdims);
  let description = "`kind` is Sum, Mean, Prod, Max or Min.";
  let results = (outs AnyTensor:$reduced);
}

def Onnx_ReduceToOp : Onnx_CoreOp<"ReduceTo"> {
  let summary = "reduction over axes that only the run knows: each of `sizes` is that of the operand, or 1";
  let arguments = (ins AnyTensor:$data, StrAttr:$kind, Onnx_SizesAttr:$sizes);
  let results = (outs AnyTensor:$reduced);
}

/// The class of reductions. `axes` is an input since opset 18 (ReduceSum: 13), and an attribute before. Left out or
/// empty it means all axes, or none with noop_with_empty_axes.
class Onnx_Reduction<string mnemonic, Type type = Onnx_Numbers, list<Trait> traits = []> : Onnx_Op<mnemonic, 2, traits # [DeclareOpInterfaceMethods<Onnx_Decomposable>]> {
  let arguments = (ins type:$data, Onnx_OptionalOf<Onnx_Int64s>:$axes, DefaultValuedOptionalAttr<I64Attr, "1">:$keepdims,
    DefaultValuedOptionalAttr<I64Attr, "0">:$noop_with_empty_axes);
  let results = (outs AnyTensor:$reduced);
  let memberDeclarations = [{
    static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node) { node.attributeToOperand("axes", 1); return ::llvm::success(); }
  }];
}
class Onnx_PlainReduction<string mnemonic, Type type = Onnx_Numbers> : Onnx_Reduction<mnemonic, type, [DeclareOpInterfaceMethods<Onnx_Evaluable>]>;
def Onnx_ReduceSumOp : Onnx_PlainReduction<"ReduceSum">, Since<13>;
def Onnx_ReduceMeanOp : Onnx_PlainReduction<"ReduceMean">, Since<18>;
def Onnx_ReduceProdOp : Onnx_PlainReduction<"ReduceProd">, Since<18>;
def Onnx_ReduceMaxOp : Onnx_PlainReduction<"ReduceMax", Onnx_Comparables>, Since<20>;
def Onnx_ReduceMinOp : Onnx_PlainReduction<"ReduceMin", Onnx_Comparables>, Since<20>;
def Onnx_ReduceL1Op : Onnx_Reduction<"ReduceL1">, Since<18>;
def Onnx_ReduceL2Op : Onnx_Reduction<"ReduceL2">, Since<18>;
def Onnx_ReduceLogSumOp : Onnx_Reduction<"ReduceLogSum", Onnx_Floats>, Since<28>;
def Onnx_ReduceLogSumExpOp : Onnx_Reduction<"ReduceLogSumExp", Onnx_Floats>, Since<28>;
def Onnx_ReduceSumSquareOp : Onnx_Reduction<"ReduceSumSquare">, Since<18>;

class Onnx_Extreme<string mnemonic> : Onnx_Op<mnemonic, 1,
    [DeclareOpInterfaceMethods<Onnx_Evaluable>]> {
  let arguments = (ins Onnx_Numbers:$data, DefaultValuedOptionalAttr<I64Attr, "0">:$axis, DefaultValuedOptionalAttr<I64Attr, "1">:$keepdims,
    DefaultValuedOptionalAttr<I64Attr, "0">:$select_last_index);
  let results = (outs AnyTensor:$reduced);
}
def Onnx_ArgMaxOp : Onnx_Extreme<"ArgMax">, Since<13>;
def Onnx_ArgMinOp : Onnx_Extreme<"ArgMin">, Since<13>;

class Onnx_Cumulative<string mnemonic> : Onnx_Op<mnemonic, 2, [DeclareOpInterfaceMethods<Onnx_Decomposable>]> {
  let arguments = (ins Onnx_Numbers:$x, Onnx_Indices:$axis, DefaultValuedOptionalAttr<I64Attr, "0">:$exclusive,
    DefaultValuedOptionalAttr<I64Attr, "0">:$reverse);
  let results = (outs AnyTensor:$y);
}
def Onnx_CumSumOp : Onnx_Cumulative<"CumSum">, Since<14>;
def Onnx_CumProdOp : Onnx_Cumulative<"CumProd">, Since<26>;
def Onnx_CumulativeOp : Onnx_CoreOp<"Cumulative"> {
  let summary = "CumSum or CumProd along an axis that is known";
  let arguments = (ins AnyTensor:$x, StrAttr:$kind, I64Attr:$axis, UnitAttr:$exclusive, UnitAttr:$reverse);
  let description = "`kind` is Sum or Prod.";
  let results = (outs AnyTensor:$y);
}
