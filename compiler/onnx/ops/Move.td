// Declares ops that move elements to places known at compile time.
include "compiler/onnx/elements/Movement.td"

// Each has one formula, movement(), from which constants are folded, views are found, and kernels are made
// (ops/Move.cpp).
def Onnx_TransposeOp : Onnx_Move<"Transpose", 1>, Since<25> {
  let arguments = (ins AnyTensor:$data, OptionalAttr<DenseI64ArrayAttr>:$perm);
  let own = "/// The permutation, filled in when left out.\n::llvm::SmallVector<int64_t> permutation();";
}
def Onnx_SliceOp : Onnx_Move<"Slice", 5, 1, [Onnx_SameElements<"1, 2, 3, 4">]>, Since<13> {
  let arguments = (ins AnyTensor:$data, Onnx_Indices:$starts, Onnx_Indices:$ends, Onnx_OptionalOf<Onnx_Indices>:$axes, Onnx_OptionalOf<Onnx_Indices>:$steps);
  let own = upgrades;
}
def Onnx_ConcatOp : Onnx_Move<"Concat", -1, -1, [Onnx_SameElements<>, DeclareOpInterfaceMethods<Onnx_JoinInterface>]>, Since<13> {
  let arguments = (ins Variadic<AnyTensor>:$xs, I64Attr:$axis);
  let own = upgrades;
}
def Onnx_ExpandOp : Onnx_Move<"Expand", 2>, Since<13> {
  let arguments = (ins AnyTensor:$data, Onnx_Int64s:$shape);
}
def Onnx_TileOp : Onnx_Move<"Tile", 2>, Since<13> {
  let arguments = (ins AnyTensor:$data, Onnx_Int64s:$repeats);
  let own = upgrades;
}
