// Declares ops that pick elements by their values: only data determines how many there are (compiler/onnx/sizes/DataDependentSizes.h).
// The last result, which no node names, is their number.
include "compiler/onnx/Onnx.td"

/// The class of such ops. They are not pure, since sizes of other ops may speak of the number although nobody reads the
/// results.
class Onnx_CoreSelection<string mnemonic, list<Trait> traits = []>
    : Op<Onnx_Dialect, mnemonic, traits # [MemoryEffects<[MemWrite]>, DeclareOpInterfaceMethods<Onnx_InferTypes>]> {
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
class Onnx_Selection<string mnemonic, int inputs, list<Trait> traits = []> : Onnx_CoreSelection<mnemonic, traits # [Onnx_Importable]> {
  code memberDeclarations = "";
  int since = ?;
  let extraClassDeclaration = "static int64_t inputCount() { return " # inputs # "; }\nstatic int64_t since() { return " # since # "; }\n" # memberDeclarations;
}
def Onnx_NonZeroOp : Onnx_Selection<"NonZero", 1, [DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<13> {
  let summary = "the indices of all elements that are not zero, a column each";
  let arguments = (ins AnyTensor:$x);
  let results = (outs AnyTensor:$y, AnyTensor:$count);
}
def Onnx_NonMaxSuppressionOp : Onnx_Selection<"NonMaxSuppression", 5>, Since<11> {
  let summary = "boxes by falling score, but for those that overlap a better one: (batch, class, box) each";
  let arguments = (ins TensorOf<[F32]>:$boxes, TensorOf<[F32]>:$scores, Onnx_OptionalOf<Onnx_Int64s>:$max_output,
    Onnx_OptionalOf<TensorOf<[F32]>>:$iou_threshold, Onnx_OptionalOf<TensorOf<[F32]>>:$score_threshold,
    DefaultValuedOptionalAttr<I64Attr, "0">:$center_point_box);
  let results = (outs AnyTensor:$selected, AnyTensor:$count);
}
def Onnx_UniqueOp : Onnx_Selection<"Unique", 1>, Since<28> {
  let summary = "elements, or slices along an axis, that differ; where each first stands, which one each is, and how many are like it";
  let memberDeclarations = "static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node);";
  let arguments = (ins Onnx_Comparables:$x, OptionalAttr<I64Attr>:$axis, DefaultValuedOptionalAttr<I64Attr, "1">:$sorted);
  let results = (outs AnyTensor:$y, AnyTensor:$first, AnyTensor:$inverse, AnyTensor:$counts, AnyTensor:$count);
}

// A size that a model computes from data. No model can name these ops: graph/ReadSizes.cpp makes them.
def Onnx_ReadSizeOp : Onnx_CoreSelection<"ReadSize"> {
  let summary = "a number in data that is a size: from 0 to the one size in `sizes`, or without it to 2^40; all else ends the run";
  let arguments = (ins Onnx_Int64s:$x, OptionalAttr<Onnx_SizesAttr>:$sizes);
  let hasVerifier = 1;
  let results = (outs AnyTensor:$count);
}
def Onnx_RangeSizeOp : Onnx_CoreSelection<"RangeSize"> {
  let summary = "how many numbers a Range of these bounds has; a delta of zero, what is no number, and more than 2^40 end the run";
  let arguments = (ins Onnx_Numbers:$start, Onnx_Numbers:$limit, Onnx_Numbers:$delta);
  let results = (outs AnyTensor:$count);
}
