// The onnx dialect and the base classes of its ops. Ops, attributes and their names are those of the ONNX standard, newest form of each op.
#ifndef INGOT_ONNX
#define INGOT_ONNX
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "compiler/onnx/Interfaces.td"

def Onnx_Dialect : Dialect {
  let name = "onnx";
  let cppNamespace = "::ingot::onnx";
  let summary = "ONNX operators on tensors";
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    /// Registers ops; called by the register<Family>() functions of ops/.
    template <typename... Ops> void add() { addOperations<Ops...>(); }
  }];
}

/// An input that a node may leave out: a value of type none, made by onnx.None, stands for it.
def Onnx_Optional : AnyTypeOf<[AnyTensor, NoneType], "a tensor, or none">;

/// `inputs` is how many inputs the newest form declares (-1: variadic). Left-out trailing inputs are filled with onnx.None by the importer.
/// Outputs are always all there; one that the model does not name has no uses.
class Onnx_Op<string mnemonic, int inputs, list<Trait> traits = []>
    : Op<Onnx_Dialect, mnemonic, traits # [Pure, DeclareOpInterfaceMethods<Onnx_InferTypes>, Onnx_Importable]> {
  code more = "";
  let extraClassDeclaration = "static int64_t inputCount() { return " # inputs # "; }\n" # more;
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

/// An op that the standard does not have: what decompositions leave for a kernel family. No model can name it.
class Onnx_CoreOp<string mnemonic, list<Trait> traits = []>
    : Op<Onnx_Dialect, mnemonic, traits # [Pure, DeclareOpInterfaceMethods<Onnx_InferTypes>]> {
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

/// An op whose result element depends on one element of each operand, with ONNX's (numpy's) broadcasting.
/// Its meaning is written once, in emit(); types are inferred from resultElement().
class Onnx_Elementwise<string mnemonic, int inputs, list<Trait> traits = []>
    : Op<Onnx_Dialect, mnemonic, traits # [Pure, Onnx_InferTypes, Onnx_Importable, DeclareOpInterfaceMethods<Onnx_ElementwiseInterface>]> {
  code more = "";
  let extraClassDeclaration = "static int64_t inputCount() { return " # inputs # [{; }
    ::llvm::LogicalResult inferTypes(::llvm::SmallVectorImpl<::mlir::Type> &types) { return inferElementwise(*this, types); }
  }] # more;
  let results = (outs AnyTensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
class Onnx_Unary<string mnemonic> : Onnx_Elementwise<mnemonic, 1> {
  let arguments = (ins AnyTensor:$x);
}
class Onnx_Binary<string mnemonic> : Onnx_Elementwise<mnemonic, 2> {
  let arguments = (ins AnyTensor:$a, AnyTensor:$b);
}
#endif
