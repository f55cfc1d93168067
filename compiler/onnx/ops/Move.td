// Ops that move elements to places known at compile time.
include "compiler/onnx/Onnx.td"

/// Operands beyond the first `data` ones say where elements go and must be constants.
class Onnx_Move<string mnemonic, int inputs, int dataOperands = 1, list<Trait> traits = []>
    : Onnx_Op<mnemonic, inputs, traits # [Onnx_Evaluable, Onnx_Parametric, Onnx_ViewInterface, DeclareOpInterfaceMethods<Onnx_Mover>]> {
  code own = "";
  let results = (outs AnyTensor:$y);
  let more = [{
    bool isParameter(unsigned operand) { return }] # !if(!eq(dataOperands, -1), "false", "operand >= " # dataOperands) # [{; }
    ::std::optional<::ingot::support::Size> viewOffset() { return contiguousOffset(*this); }
    ::llvm::LogicalResult evaluate(::llvm::ArrayRef<::mlir::ElementsAttr> operands, ::llvm::SmallVectorImpl<::mlir::ElementsAttr> &results) {
      auto moves = movement();
      return moves ? evaluateMovement(*this, *moves, operands, results) : ::llvm::failure();
    }
  }] # own;
}
defvar upgrades = "static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node);";

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
def Onnx_PadOp : Onnx_Move<"Pad", 4, 1, [Onnx_SameElements<"0, 2">, DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<25> {
  let arguments = (ins AnyTensor:$data, Onnx_Int64s:$pads, Onnx_Optional:$value, Onnx_OptionalOf<Onnx_Indices>:$axes,
    DefaultValuedOptionalAttr<StrAttr, "\"constant\"">:$mode);
  let own = upgrades # "/// (before, after) of each axis; nothing when not constant.\n::std::optional<::llvm::SmallVector<::std::pair<int64_t, int64_t>>> amounts();";
}
