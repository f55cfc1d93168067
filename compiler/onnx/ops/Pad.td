// Declares ops that put elements around a tensor, or take some away: a number, its edges, or what lies opposite.
include "compiler/onnx/elements/Movement.td"

def Onnx_PadOp : Onnx_Move<"Pad", 4, 1, [Onnx_SameElements<"0, 2">, DeclareOpInterfaceMethods<Onnx_Decomposable>]>, Since<25> {
  let arguments = (ins AnyTensor:$data, Onnx_Int64s:$pads, Onnx_Optional:$value, Onnx_OptionalOf<Onnx_Indices>:$axes,
    DefaultValuedOptionalAttr<StrAttr, "\"constant\"">:$mode);
  let own = upgrades # "/// (before, after) of each axis; nothing when not constant.\n::std::optional<::llvm::SmallVector<::std::pair<int64_t, int64_t>>> amounts();";
}
