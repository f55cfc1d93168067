// The plan dialect stands between fusion and loops: kernels (each a group of onnx ops), layouts, views, launches.
include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "compiler/onnx/Onnx.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/IR/SymbolInterfaces.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::ingot::plan";
  let summary = "kernels, layouts, buffers";
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let dependentDialects = ["::ingot::onnx::OnnxDialect"]; // sizes
}

def Plan_BlockedAttr : AttrDef<Plan_Dialect, "Blocked", [DeclareAttrInterfaceMethods<Onnx_SizedEncoding>,
    DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let genVerifyDecl = 1;
  let mnemonic = "blocked";
  let summary = "channels in blocks, with a frame around the image";
  let description = [{
    Encoding of a tensor [N, C, spatial...]. In memory: [N][ceil(C / lanes)][before + size + after of each spatial axis][lanes].
    `halo` is (before, after) of each spatial axis; the buffer owns it, and it holds `fill` when a consumer runs.
    `sizes` has the size of each axis where some depend on the model's symbols; C is a number, and so are the halos.
    `blocks` is how many channel blocks an image has in the buffer, where the tensor is a part of a joined one; 0: its own.
    Lanes at or beyond C hold anything: nobody may let them reach another lane.
  }];
  let parameters = (ins "int64_t":$lanes, OptionalArrayRefParameter<"int64_t">:$halo, OptionalParameter<"::ingot::onnx::SizesAttr">:$sizes,
                        DefaultValuedParameter<"int64_t", "0">:$blocks, DefaultValuedParameter<"int64_t", "0">:$fill);
  let extraClassDefinition = [{
    ::llvm::ArrayRef<::ingot::support::Size> $cppClass::axisSizes() const {
      return getSizes() ? getSizes().getValues() : ::llvm::ArrayRef<::ingot::support::Size>();
    }
  }];
  let hasCustomAssemblyFormat = 1; // each part may be missing
}

def Plan_PieceAttr : AttrDef<Plan_Dialect, "Piece"> {
  let mnemonic = "piece";
  let summary = "of a kernel whose code its target brought: the function (whose declaration holds the object, `plan.object`), scratch bytes, open sizes";
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$function, "::ingot::onnx::SizeAttr":$scratch, "::ingot::onnx::SizesAttr":$sizes);
  let assemblyFormat = "`<` $function `,` `scratch` $scratch `,` `sizes` $sizes `>`";
}

class Plan_Type<string name, string keyword> : TypeDef<Plan_Dialect, name> {
  let mnemonic = keyword;
}
def Plan_BufferType : Plan_Type<"Buffer", "buffer"> {
  let summary = "the memory of a tensor, in its layout: `!plan.buffer<tensor<8x8xf32>>`, `!plan.buffer<tensor<8x8xf32>, 1>` in that of device 1";
  let parameters = (ins "::mlir::RankedTensorType":$tensor, DefaultValuedParameter<"int64_t", "0">:$device);
  let assemblyFormat = "`<` $tensor (`,` $device^)? `>`";
}
def Plan_MemoryType : Plan_Type<"Memory", "memory"> {
  let summary = "a stretch of memory in which buffers lie: the host's (device 0), or that of a device with a memory of its own";
  let parameters = (ins DefaultValuedParameter<"int64_t", "0">:$device);
  let assemblyFormat = "(`<` $device^ `>`)?";
}
// The number of a device: 0 is the host, others count the devices with memories of their own in the order of the
// function's `plan.devices`.
def Plan_Device : DefaultValuedOptionalAttr<I64Attr, "0">;
def Plan_Operand : AnyTypeOf<[AnyTensor, Plan_BufferType]>;

class Plan_Op<string mnemonic, list<Trait> traits = []> : Op<Plan_Dialect, mnemonic, traits>;

def Plan_KernelOp : Plan_Op<"kernel", [IsolatedFromAbove, SingleBlock, Pure]> {
  let hasVerifier = 1;
  let summary = "a group of onnx ops that becomes one function";
  let description = [{
    The region's arguments stand for the operands, one to one. The region holds at most one root (an op that a kernel family builds, compiler/lower/Family.h), elementwise
    ops before it (where the root reads through) and after it, and scalar constants. Equal regions over equal types become one function, so a
    builder may depend on everything in the region and on nothing else: the values of constant operands reach it packed, as pointers.

    Of a `piece` the target brought the code. Its region holds any ops, for the record; operands and results are row-major.
  }];
  let arguments = (ins Variadic<AnyTensor>:$ins, StrAttr:$target, OptionalAttr<Plan_PieceAttr>:$piece);
  let results = (outs Variadic<AnyTensor>:$outs);
  let regions = (region SizedRegion<1>:$body);
  let builders = [OpBuilder<(ins "::mlir::TypeRange":$outs, "::mlir::ValueRange":$ins, "::llvm::StringRef":$target), [{
    build($_builder, $_state, outs, ins, target, PieceAttr());
  }]>];
  let extraClassDeclaration = [{
    /// The root; null when there is none and for a piece.
    ::mlir::Operation *root();
  }];
}
def Plan_YieldOp : Plan_Op<"yield", [Terminator, Pure, HasParent<"KernelOp">]> {
  let arguments = (ins Variadic<AnyTensor>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}
def Plan_ReorderOp : Plan_Op<"reorder", [Pure]> {
  let hasVerifier = 1;
  let summary = "the same tensor in another layout; the root of a kernel";
  let arguments = (ins AnyTensor:$x);
  let results = (outs AnyTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}
def Plan_ViewOp : Plan_Op<"view", [Pure]> {
  let hasVerifier = 1;
  let summary = "the same memory from a byte offset (a size) on, read as another type: reshapes, contiguous slices";
  let arguments = (ins AnyTensor:$x, Onnx_SizeAttr:$offset);
  let results = (outs AnyTensor:$y);
  let assemblyFormat = "$x `at` $offset attr-dict `:` type($x) `->` type($y)";
}
def Plan_JoinOp : Plan_Op<"join", [Pure]> {
  let hasVerifier = 1;
  let summary = "a concatenation in place: the operands' buffers lie one behind the other in the result's";
  let arguments = (ins Variadic<AnyTensor>:$xs);
  let results = (outs AnyTensor:$y);
  let assemblyFormat = "$xs attr-dict `:` functional-type($xs, $y)";
}
def Plan_WeightOp : Plan_Op<"weight", [Pure]> {
  let hasVerifier = 1;
  let summary = "packed bytes of the weights section, or of the one of a device";
  let arguments = (ins I64Attr:$offset, Plan_Device:$device);
  let results = (outs AnyTensor:$y);
  let assemblyFormat = "`at` $offset (`on` $device^)? attr-dict `:` type($y)";
}
def Plan_TransferOp : Plan_Op<"transfer", [Pure]> {
  let hasVerifier = 1;
  let summary = "the same tensor in the memory of a device (0: of the host)";
  let arguments = (ins AnyTensor:$x, Plan_Device:$device);
  let results = (outs AnyTensor:$y);
  let assemblyFormat = "$x (`on` $device^)? attr-dict `:` type($x) `->` type($y)";
}
def Plan_BundleOp : Plan_Op<"bundle", [Pure]> {
  let hasVerifier = 1;
  let summary = "small values that cross in one copy: the operands' buffers lie one behind the other, each aligned as a buffer is, in the result's, which is nothing but bytes";
  let arguments = (ins Variadic<AnyTensor>:$parts);
  let results = (outs AnyTensor:$y);
  let assemblyFormat = "$parts attr-dict `:` functional-type($parts, $y)";
}
def Plan_StageOp : Plan_Op<"stage", [Pure, SameOperandsAndResultType]> {
  let hasVerifier = 1;
  let summary = "the same tensor in another buffer of the host's: what the caller has, for a bundle; what came in a bundle, for the caller";
  let arguments = (ins AnyTensor:$x);
  let results = (outs AnyTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
def Plan_FetchOp : Plan_Op<"fetch"> {
  let hasVerifier = 1;
  let summary = "weights that are streamed: the host begins to read them, `at` so many bytes of NAME.weights, and they are there behind the next plan.fetched; else the run ends";
  let description = [{
    On tensors its result is the bytes, of which kernels read views; in the memory form it has none, and reads `into` a buffer instead. One read is
    under way at a time, and none at the ends of a block or where an If or a Loop begins. `name` says who waits for it.
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$at, Arg<Optional<Plan_BufferType>, "", [MemWrite]>:$into);
  let results = (outs Optional<AnyTensor>:$y);
  let assemblyFormat = "$name `at` $at (`into` $into^ `:` type($into))? attr-dict (`->` type($y)^)?";
}
def Plan_FetchedOp : Plan_Op<"fetched"> {
  let summary = "what the last plan.fetch reads is there; else the run ends";
  let assemblyFormat = "attr-dict";
}
def Plan_LaunchOp : Plan_Op<"launch", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let hasVerifier = 1;
  let summary = "a call of a kernel function over work items [0, items)";
  let description = [{
    The function takes a pointer for each operand, for each result, for the scratch (when scratchBytes is not 0), the model's symbols that `symbols`
    names, and the range of work items [begin, end). `items` and `scratchBytes` are sizes. With `checked` it returns a status (i32). Work items are
    independent: any split over threads gives the same bits. One that finds a size (`dataDependentSize`) leaves it in its last result.

    On tensors it has results; in the memory form it has none, and writes `into` buffers instead. A launch `on` a device reads and writes that
    device's memory and is only enqueued: the device runs what is enqueued in order, and plan.wait waits for it.
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<Plan_Operand>:$ins, Variadic<Plan_BufferType>:$into, Optional<Plan_BufferType>:$scratch,
                       Onnx_SizeAttr:$items, Onnx_SizeAttr:$scratchBytes, OptionalAttr<Onnx_SizesAttr>:$symbols, UnitAttr:$checked,
                       OptionalAttr<Onnx_SymbolAttr>:$dataDependentSize, Plan_Device:$device);
  let results = (outs Variadic<AnyTensor>:$outs);
  let assemblyFormat = [{
    $callee `(` $ins `)` (`into` `(` $into^ `)`)? (`scratch` `(` $scratch^ `)`)? (`on` $device^)? attr-dict `:` functional-type($ins, $outs)
    (`into` type($into)^)? (`scratch` type($scratch)^)?
  }];
}

include "compiler/plan/MemoryForm.td"
