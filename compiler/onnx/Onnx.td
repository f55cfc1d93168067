// Declares the onnx dialect and the base classes of its ops. Ops, attributes and their names are those of the ONNX standard, the newest definition of each op.
#ifndef INGOT_ONNX
#define INGOT_ONNX
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "compiler/onnx/Encoding.td"
include "compiler/onnx/Interfaces.td"

def Onnx_Dialect : Dialect {
  let name = "onnx";
  let cppNamespace = "::ingot::onnx";
  let summary = "ONNX operators on tensors";
  let dependentDialects = ["::ingot::formats::FormatsDialect"]; // decompositions leave its ops
  let hasConstantMaterializer = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    /// Adds the attributes of SizeAttributes.cpp.
    void addSizeAttributes();
    /// Registers ops; called by the register<Family>() functions of ops/.
    template <typename... Ops> void add() { addOperations<Ops...>(); }
  }];
}

// Sizes (compiler/support/Size.h). Their texts are quoted: the symbols of a model have names of its own.
def Onnx_SizeParameter : AttrOrTypeParameter<"::ingot::support::Size", "a size"> {
  let comparator = "same($_lhs, $_rhs)";
}
def Onnx_SizesParameter : ArrayRefParameter<"::ingot::support::Size", "sizes"> {
  let comparator = "::ingot::support::same($_lhs, $_rhs)";
}
class Onnx_Attr<string name, string keyword, dag fields, list<Trait> traits = []> : AttrDef<Onnx_Dialect, name, traits> {
  let mnemonic = keyword;
  let parameters = fields;
  let hasCustomAssemblyFormat = 1;
}
def Onnx_SizeAttr : Onnx_Attr<"Size", "size", (ins Onnx_SizeParameter:$value)> {
  let summary = "a size: `#onnx.size<\"1+batch\">`, `#onnx.size<8>`, `#onnx.size<?>` where it is not known";
}
def Onnx_SizesAttr : Onnx_Attr<"Sizes", "sizes", (ins Onnx_SizesParameter:$values),
    [DeclareAttrInterfaceMethods<Onnx_SizedEncoding>, DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "several sizes: `#onnx.sizes<\"batch\", 3>`; as a type's encoding, those of its axes";
}
def Onnx_StridedAttr : AttrDef<Onnx_Dialect, "Strided"> {
  let mnemonic = "strided";
  let parameters = (ins "::ingot::onnx::SizeAttr":$offset, "::ingot::onnx::SizesAttr":$strides);
  let assemblyFormat = "`<` $offset `,` $strides `>`";
  let summary = "an offset and strides (compiler/support/Strided.h): `#onnx.strided<<0>, <\"8*s\", 4, 1>>`";
  let extraClassDeclaration = [{
    ::ingot::support::Strided<::ingot::support::Size> value() const {
      return {getOffset().getValue(), getStrides().getValues()};
    }
  }];
}
def Onnx_SymbolAttr : Onnx_Attr<"Symbol", "symbol", (ins "::ingot::support::Symbol":$value)> {
  let summary = "a symbol that is defined here: `#onnx.symbol<\"$3\">`; where sizes speak of it, it stands in them";
}

// Element types, as the standard's newest definitions allow them; what older definitions allow is among these.
def Onnx_Float : Type<CPred<"::llvm::isa<::mlir::FloatType>($_self) && $_self.getIntOrFloatBitWidth() >= 16">, "float">;
def Onnx_Integer : Type<CPred<"$_self.isInteger() && $_self.getIntOrFloatBitWidth() >= 8 && $_self.getIntOrFloatBitWidth() <= 64">, "integer">;
def Onnx_Strings : TensorOf<[I<128>]>;
def Onnx_Index : Type<CPred<"::ingot::onnx::isInt($_self, 32) || ::ingot::onnx::isInt($_self, 64)">, "int32 or int64">;
def Onnx_Floats : TensorOf<[Onnx_Float]>;
def Onnx_Integers : TensorOf<[Onnx_Integer]>;
def Onnx_Numbers : TensorOf<[Onnx_Float, Onnx_Integer]>;
def Onnx_Bools : TensorOf<[I1]>;
def Onnx_Comparables : TensorOf<[Onnx_Float, Onnx_Integer, I1]>;
def Onnx_Indices : TensorOf<[Onnx_Index]>;
def Onnx_Bytes : TensorOf<[I8, UI8]>;
def Onnx_Int64s : TensorOf<[I64]>;

/// An input that a node may leave out: a value of type none, made by onnx.None, stands for it.
class Onnx_OptionalOf<Type tensor> : AnyTypeOf<[tensor, NoneType], tensor.summary # ", or none">;
def Onnx_Optional : Onnx_OptionalOf<AnyTensor>;

/// That the operands of these numbers, where they are there, have one element type. No numbers: all operands.
class Onnx_SameElements<string numbers = "">
    : PredOpTrait<"operands have the same element type", CPred<"haveSameElements(*this, {" # numbers # "})">>;

/// The version of the operator's definition that its code was written for, the newest of those that the code knows. All definitions up to
/// onnx::newestOpset have been compared with it (test/opsets); one that the code does not take yet is said by a through() of the op's own.
class Since<int version> {
  int since = version;
}

/// `inputs` is how many inputs the newest definition declares (-1: variadic). Left-out trailing inputs are filled with onnx.None when a node is resolved.
/// Outputs are always all there; one that the model does not name has no uses. `memberDeclarations` is C++ text that goes into the class
/// of the op, such as the declaration of `upgrade`.
class Onnx_Op<string mnemonic, int inputs, list<Trait> traits = []>
    : Op<Onnx_Dialect, mnemonic, traits # [Pure, DeclareOpInterfaceMethods<Onnx_InferTypes>, Onnx_Importable]> {
  code memberDeclarations = "";
  int since = ?;
  let extraClassDeclaration = "static int64_t inputCount() { return " # inputs # "; }\nstatic int64_t since() { return " # since # "; }\n" # memberDeclarations;
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

/// An operator that is another way to write others, whatever its operands are: upgrade() makes those when the node is imported, and an op of
/// this name only lends its attributes to be checked. One whose meaning depends on sizes, which importing does not always know, is an Onnx_Op.
class Onnx_AliasOp<string mnemonic, int inputs> : Op<Onnx_Dialect, mnemonic, [Pure, Onnx_Importable]> {
  dag attributes = (ins);
  int since = ?;
  let arguments = !con((ins Variadic<AnyType>:$operandsOfAlias), attributes);
  let results = (outs Variadic<AnyType>:$resultsOfAlias);
  let extraClassDeclaration = "static int64_t inputCount() { return " # inputs # "; }\nstatic int64_t since() { return " # since # [{; }
    static bool isAlias() { return true; }
    static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node);
  }];
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

/// Operators of other domains: the domain is a part of the op's name, as in onnx.com.microsoft.FusedGemm, and Since counts its own versions
/// (onnx::newestVersion). test/tools/operators.py, by which random tests know what there is, reads the domain from these classes, and from
/// those that build on them. It does not find a dotted name in a def itself (`Onnx_Elementwise<"com.microsoft.X", 1>`); there is no class for
/// elementwise operators of com.microsoft yet, so the first one needs a class here.
class Onnx_MicrosoftOp<string mnemonic, int inputs, list<Trait> traits = []> : Onnx_Op<"com.microsoft." # mnemonic, inputs, traits>;
class Onnx_MicrosoftAlias<string mnemonic, int inputs> : Onnx_AliasOp<"com.microsoft." # mnemonic, inputs>, Since<1>;
class Onnx_MlOp<string mnemonic, int inputs, list<Trait> traits = []> : Onnx_Op<"ai.onnx.ml." # mnemonic, inputs, traits>;
class Onnx_MlAlias<string mnemonic, int inputs> : Onnx_AliasOp<"ai.onnx.ml." # mnemonic, inputs>;
class Onnx_PreviewOp<string mnemonic, int inputs, list<Trait> traits = []> : Onnx_Op<"ai.onnx.preview." # mnemonic, inputs, traits>;
class Onnx_TrainingOp<string mnemonic, int inputs, list<Trait> traits = []> : Onnx_Op<"ai.onnx.preview.training." # mnemonic, inputs, traits>;

/// An op that the standard does not have: what decompositions leave for a kernel family. No model can name it.
class Onnx_CoreOp<string mnemonic, list<Trait> traits = []>
    : Op<Onnx_Dialect, mnemonic, traits # [Pure, DeclareOpInterfaceMethods<Onnx_InferTypes>]> {
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

/// An op whose result element depends on one element of each operand, with ONNX's (numpy's) broadcasting.
/// Its meaning is written once, in emit(); types are inferred from resultElement().
class Onnx_Elementwise<string mnemonic, int inputs, list<Trait> traits = []>
    : Op<Onnx_Dialect, mnemonic, traits # [Pure, Onnx_InferTypes, Onnx_Importable, DeclareOpInterfaceMethods<Onnx_ElementwiseInterface>]> {
  code memberDeclarations = "";
  int since = ?;
  let extraClassDeclaration = "static int64_t inputCount() { return " # inputs # "; }\nstatic int64_t since() { return " # since # [{; }
    ::llvm::LogicalResult inferTypes(::llvm::SmallVectorImpl<::mlir::Type> &types) { return inferElementwise(*this, types); }
  }] # memberDeclarations;
  let results = (outs AnyTensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
class Onnx_Unary<string mnemonic, Type type = Onnx_Floats> : Onnx_Elementwise<mnemonic, 1> {
  let arguments = (ins type:$x);
}
class Onnx_Binary<string mnemonic, Type type = Onnx_Numbers> : Onnx_Elementwise<mnemonic, 2> {
  let arguments = (ins type:$a, type:$b);
}
#endif
