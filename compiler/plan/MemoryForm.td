// The memory form of the plan dialect is a run after the room `memory`. No tensor is left. The function's arguments are
// the buffers of the model's inputs and outputs (outputs carry `plan.output`). Everything else that a run reads and
// writes lies in memories: slots of the workspace, the weights, and what the run asks its host for. Sizes are
// attributes, and a size that the run finds is known behind the operation that finds it.
#ifndef INGOT_PLAN_MEMORY_FORM
#define INGOT_PLAN_MEMORY_FORM

// Memories, and buffers in them

def Plan_SlotOp : Plan_Op<"slot", [Pure, InferTypeOpAdaptor]> {
  let hasVerifier = 1;
  let summary = "a stretch of the workspace, at a place that is known now, or behind the ends of all the slots `above` which it lies";
  let description = [{
    Without `at` it begins at the largest of the ends of the other slots, ends being rounded up to 64 bytes: at 0 where there are none. A model's
    slots either all have `at` or none does.
  }];
  let arguments = (ins StrAttr:$name, Onnx_SizeAttr:$bytes, OptionalAttr<I64Attr>:$at, Variadic<Plan_MemoryType>:$above, Plan_Device:$device);
  let results = (outs Plan_MemoryType:$memory);
  let assemblyFormat = "$name `of` $bytes (`on` $device^)? (`at` $at^)? (`above` `(` $above^ `:` type($above) `)`)? attr-dict";
}
def Plan_HostAllocationOp : Plan_Op<"host_allocation", [Pure, InferTypeOpAdaptor]> {
  let hasVerifier = 1;
  let summary = "memory that the run asks its host or a device for, by plan.need; what is still held when the run ends is given back, or handed to the caller as an output";
  let arguments = (ins I64Attr:$number, OptionalAttr<I64Attr>:$output, Plan_Device:$device);
  let results = (outs Plan_MemoryType:$memory);
  let assemblyFormat = "$number (`output` $output^)? (`on` $device^)? attr-dict";
}
def Plan_WeightsOp : Plan_Op<"weights", [Pure, InferTypeOpAdaptor]> {
  let summary = "the weights section, or the one of a device";
  let arguments = (ins Plan_Device:$device);
  let results = (outs Plan_MemoryType:$memory);
  let assemblyFormat = "(`on` $device^)? attr-dict";
}
def Plan_BufferOp : Plan_Op<"buffer", [Pure]> {
  let hasVerifier = 1;
  let summary = "the buffer of a tensor, so many bytes (a size) behind the beginning of a memory or of another buffer";
  let arguments = (ins AnyTypeOf<[Plan_MemoryType, Plan_BufferType]>:$memory, Onnx_SizeAttr:$offset);
  let results = (outs Plan_BufferType:$buffer);
  let assemblyFormat = "$memory `at` $offset attr-dict `:` type($memory) `->` type($buffer)";
}
def Plan_NeedOp : Plan_Op<"need"> {
  let hasVerifier = 1;
  let summary = "from here on a host allocation has `bytes` (a size), of which the first `kept` stay as they are; else the run ends";
  let arguments = (ins Plan_MemoryType:$memory, Onnx_SizeAttr:$kept, Onnx_SizeAttr:$bytes);
  let assemblyFormat = "$bytes `in` $memory `keeping` $kept attr-dict custom<DeviceOfMemory>(type($memory))";
}
def Plan_ReleaseOp : Plan_Op<"release"> {
  let hasVerifier = 1;
  let summary = "the rest of the run does not need a host allocation";
  let arguments = (ins Plan_MemoryType:$memory);
  let assemblyFormat = "$memory attr-dict custom<DeviceOfMemory>(type($memory))";
}

// Reads, writes, checks

def Plan_CopyOp : Plan_Op<"copy"> {
  let hasVerifier = 1;
  let summary = "all bytes of a buffer, copied to another one";
  let description = [{
    One to a device has read its source when the run goes on; one from a device is enqueued, and what it writes is there behind the next plan.wait.
    Nothing crosses of an input that the run leaves out.
  }];
  let arguments = (ins Arg<Plan_BufferType, "", [MemRead]>:$from, Arg<Plan_BufferType, "", [MemWrite]>:$to);
  let assemblyFormat = "$from `to` $to attr-dict `:` type($from) `to` type($to)";
}
def Plan_WaitOp : Plan_Op<"wait"> {
  let hasVerifier = 1;
  let summary = "all that was enqueued `on` a device has ended; else the run ends";
  let arguments = (ins I64Attr:$device);
  let assemblyFormat = "`on` $device attr-dict";
}
def Plan_ReadOp : Plan_Op<"read"> {
  let hasVerifier = 1;
  let summary = "the one element of a buffer of integers or booleans";
  let arguments = (ins Arg<Plan_BufferType, "", [MemRead]>:$buffer);
  let results = (outs SignlessIntegerLike:$value);
  let assemblyFormat = "$buffer attr-dict `:` type($buffer) `->` type($value)";
}
def Plan_WriteOp : Plan_Op<"write"> {
  let hasVerifier = 1;
  let summary = "a size, written to a buffer of one int64";
  let arguments = (ins Onnx_SizeAttr:$size, Arg<Plan_BufferType, "", [MemWrite]>:$buffer);
  let assemblyFormat = "$size `to` $buffer attr-dict `:` type($buffer)";
}
def Plan_CheckOp : Plan_Op<"check"> {
  let hasVerifier = 1;
  let summary = "ends the run if the one size is negative, or the two differ";
  let arguments = (ins Onnx_SizesAttr:$sizes, StrAttr:$node);
  let assemblyFormat = "$sizes `of` $node attr-dict";
}

// Control flow

def Plan_IfOp : Plan_Op<"if", [NoRegionArguments, SingleBlock]> {
  let summary = "one of two branches; `onnx.choices` lists what it finds: sizes that are one thing in a branch and another in the other";
  let arguments = (ins I1:$condition);
  let regions = (region SizedRegion<1>:$thenBranch, SizedRegion<1>:$elseBranch);
  let assemblyFormat = "$condition attr-dict-with-keyword $thenBranch `else` $elseBranch";
}
def Plan_LoopOp : Plan_Op<"loop", [AttrSizedOperandSegments, NoRegionArguments, SingleBlock]> {
  let hasVerifier = 1;
  let summary = "iterations, at most `trips` where that is given, and only if `condition`, where that is given";
  let description = [{
    `number` is the symbol that stands for the number of the iteration in the body. Each but the first runs if the plan.next of the one before says so.
    `onnx.grows` lists sizes that change from one iteration to the next, `onnx.data_dependent_size` is their number.
  }];
  let arguments = (ins Onnx_SymbolAttr:$number, Optional<I64>:$trips, Optional<I1>:$condition);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$number (`trips` $trips^)? (`if` $condition^)? attr-dict-with-keyword $body";
}
def Plan_GrowOp : Plan_Op<"grow", [HasParent<"LoopOp">]> {
  let summary = "from here on the sizes that the loop changes are known for the next iteration";
  let assemblyFormat = "attr-dict";
}
def Plan_NextOp : Plan_Op<"next", [Terminator, HasParent<"LoopOp">]> {
  let summary = "the end of an iteration, the last one unless `condition`, where that is given";
  let arguments = (ins Optional<I1>:$condition);
  let assemblyFormat = "(`if` $condition^)? attr-dict";
}
def Plan_EndOp : Plan_Op<"end", [Terminator, HasParent<"IfOp">]> {
  let summary = "the end of a branch";
  let assemblyFormat = "attr-dict";
}
def Plan_FailOp : Plan_Op<"fail", [Terminator, HasParent<"IfOp">]> {
  let summary = "the end of a run that takes this branch: its node cannot be computed";
  let arguments = (ins StrAttr:$node);
  let assemblyFormat = "$node attr-dict";
}
def Plan_ReturnOp : Plan_Op<"return", [Terminator, HasParent<"::mlir::func::FuncOp">]> {
  let summary = "the end of a run";
  let assemblyFormat = "attr-dict";
}
#endif
