// The run dialect: what loop IR says of a run beside MLIR's own dialects. Each exit writes these operations (emit/ConvertToLLVM.cpp,
// emit/cpp/FunctionWriter.cpp); what is made of them is written once, in the room `entry`.
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

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
