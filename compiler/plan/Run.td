// The run dialect: what loop IR says of a run beside MLIR's own dialects. Each back end writes these operations (emit/ConvertToLLVM.cpp,
// emit/cpp/FunctionWriter.cpp); what is made of them is written once, in the room `entry`.
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/IR/SymbolInterfaces.td"

def Run_Dialect : Dialect {
  let name = "run";
  let cppNamespace = "::ingot::run";
  let summary = "what a run has of its caller, and of devices";
}
class Run_Op<string mnemonic, list<Trait> traits = []> : Op<Run_Dialect, mnemonic, traits>;

def Run_FieldOp : Run_Op<"field", [NoMemoryEffect]> {
  let hasVerifier = 1;
  let summary = "a pointer that the run's ingot_exec has, which is not null; no field of it changes while the model runs";
  let arguments = (ins AnyType:$exec, StrAttr:$field);
  let results = (outs AnyType:$value);
  let assemblyFormat = "$field `of` $exec attr-dict `:` type($exec) `->` type($value)";
}
def Run_GivenOp : Run_Op<"given", [Pure]> {
  let summary = "whether a pointer (an ingot_exec, memory, a function) is not null";
  let arguments = (ins AnyType:$pointer);
  let results = (outs I1:$isGiven);
  let assemblyFormat = "$pointer attr-dict `:` type($pointer)";
}
def Run_KernelNumberOp : Run_Op<"kernel_number", [Pure]> {
  let summary = "the number of a kernel among those of a device; a constant as soon as all of them are known (emit/DeviceCode.cpp)";
  let arguments = (ins FlatSymbolRefAttr:$kernel, I64Attr:$device);
  let results = (outs I32:$number);
  let assemblyFormat = "$kernel `on` $device attr-dict";
}
def Run_OverItemsOp : Run_Op<"over_items", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a kernel on all of its work items, which the threads of an ingot_exec share where that is worth it";
  let description = [{
    The kernel has a range of work items behind these arguments. Where the ingot_exec is null, or it is not worth it, this thread alone does
    the work. The status is 0, the kernel's, or what the caller's threads ended with.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, AnyType:$exec, I1:$isWorth, AnyType:$items, Variadic<AnyType>:$arguments);
  let results = (outs I32:$status);
  let assemblyFormat = [{
    $kernel `(` $arguments `)` `over` $items `by` $exec `if` $isWorth attr-dict
    `:` functional-type($arguments, $status) `,` type($items) `,` type($exec)
  }];
}
