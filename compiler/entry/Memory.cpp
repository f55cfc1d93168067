// Writes where values lie, and requests for memory that nothing bounds.
#include "compiler/entry/Entry.h"
#include "compiler/entry/SizeChecks.h"
#include "compiler/lower/core/LlvmAttributes.h"
#include "compiler/onnx/Control.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using ingot::support::Size;

namespace ingot::entry {

MemRefType Entry::heldType() {
  return MemRefType::get({static_cast<int64_t>(hostAllocations.size()) * heldWords}, w.b.getI64Type());
}

void Entry::buildHolder() {
  func::FuncOp inner = entry;
  SmallVector<Type> types(inner.getArgumentTypes());
  if (!hostAllocations.empty()) {
    types.erase(types.end() - 2);
  }
  func::FuncOp outer = begin("_run", types);
  SmallVector<Value> arguments(outer.getArguments());
  Value exec = arguments.back(), list, count = number(static_cast<int64_t>(hostAllocations.size()), 32);
  if (!hostAllocations.empty()) {
    list = beginMemory(outer);
    arguments.insert(arguments.end() - 1, list);
  }
  if (deviceCount) {
    beginDevices(outer);
  }
  Value result = func::CallOp::create(w.b, w.loc, inner, arguments).getResult(0);
  Type i32 = w.b.getI32Type();
  if (deviceCount) { // a device may still write to memory that is released next
    result = w.callLibrary("ingot_devices_end", {exec, number(deviceCount, 32), result}, i32);
  }
  ret(list ? w.callLibrary("ingot_memory_end", {exec, list, count, result}, i32) : result);
}

Value Entry::beginMemory(func::FuncOp outer) {
  Type i64 = w.b.getI64Type();
  Value list = memref::AllocaOp::create(w.b, w.loc, heldType());
  size_t first = inputTypes.size();
  for (auto [i, output] : llvm::enumerate(hostAllocations)) {
    Value place = number(0, 64);
    if (output >= 0) {
      Value address = memref::ExtractAlignedPointerAsIndexOp::create(w.b, w.loc, outer.getArgument(first + output));
      place = w.integer(w.ix(address), i64);
    }
    w.store(place, {list, i64}, static_cast<int64_t>(i) * heldWords + 2);
    w.store(number(output, 64), {list, i64}, static_cast<int64_t>(i) * heldWords + 3);
  }
  Value exec = outer.getArguments().back(), count = number(static_cast<int64_t>(hostAllocations.size()), 32);
  Value bad = w.callLibrary("ingot_memory_begin", {exec, list, count}, w.b.getI32Type());
  returnIfBad(outer, bad, [&] {
    // The number says which argument is null, counted over inputs, outputs, workspace, weights, and then the functions
    // that give memory.
    return status(INGOT_ERROR_NULL, static_cast<int64_t>(info.inputs.size() + info.outputs.size()) + 2);
  });
  return list;
}

/// Returns the number by which the support library knows a host allocation.
Value Entry::numberOf(Value memory) {
  return number(static_cast<int64_t>(memory.getDefiningOp<plan::HostAllocationOp>().getNumber()), 32);
}

void Entry::build(plan::NeedOp need) {
  Size bytes = need.getBytes().getValue(), kept = need.getKept().getValue();
  int64_t node = nodeNumber(onnx::nodeOf(need.getLoc()));
  returnIf(entry, impossible(w, bytes), [&] { return status(INGOT_ERROR_SIZE, node); });
  Type i64 = w.b.getI64Type();
  Value memory = numberOf(need.getMemory());
  Value arguments[] = {exec(), held, memory, w.integer(kept, i64), w.integer(bytes, i64)};
  Value bad = w.callLibrary("ingot_memory_need", arguments, w.b.getI32Type());
  returnIfBad(entry, bad, [&] { return status(INGOT_ERROR_MEMORY, node); });
}

void Entry::build(plan::ReleaseOp release) {
  w.callLibrary("ingot_memory_release", {exec(), held, numberOf(release.getMemory())}, {});
}

Value Entry::at(Value bytes, Ix offset, Type type) {
  return memref::ViewOp::create(w.b, w.loc, cast<MemRefType>(type), bytes, w.value(offset), ValueRange{});
}

Value Entry::inWorkspace(int64_t bytes, const Size &offset, Type type) {
  std::vector<int64_t> parts = info.workspaceParts();
  // A part without buffers begins where the next one does.
  auto part = std::prev(std::upper_bound(parts.begin(), parts.end(), bytes));
  return at(workspaces[part - parts.begin()], Ix(bytes - *part) + Ix(offset), type);
}

Value Entry::address(Value buffer, Type type) {
  Size offset = 0;
  while (auto inside = buffer.getDefiningOp<plan::BufferOp>()) {
    buffer = inside.getMemory(), offset = offset + inside.getOffset().getValue();
  }
  if (auto slot = buffer.getDefiningOp<plan::SlotOp>()) {
    if (slot.getAt() && !slot.getDevice()) {
      return inWorkspace(static_cast<int64_t>(*slot.getAt()), offset, type);
    }
    Ix start = slot.getAt() ? Ix(static_cast<int64_t>(*slot.getAt())) : w.ix(starts.at(slot));
    Value own = slot.getDevice() ? deviceMemory("ingot_device_workspace", slot.getDevice()) : workspaces.front();
    return at(own, start + Ix(offset), type);
  }
  if (buffer.getDefiningOp<plan::HostAllocationOp>()) {
    Value memory = w.callLibrary("ingot_memory_at", {held, numberOf(buffer)}, bytesType(Size::unknown()));
    return at(memory, offset, type);
  }
  if (auto section = buffer.getDefiningOp<plan::WeightsOp>()) {
    if (section.getDevice()) {
      return at(deviceMemory("ingot_device_weights", section.getDevice()), offset, type);
    }
    // Without a weights section, weights are tensors without elements.
    return at(weights ? weights : workspaces.front(), offset, type);
  }
  return at(entry.getArgument(cast<BlockArgument>(buffer).getArgNumber()), offset, type);
}

void Entry::build(plan::ReadOp read) {
  Type element = read.getBuffer().getType().getTensor().getElementType();
  Value memory = address(read.getBuffer(), MemRefType::get({1}, memoryType(element)));
  values[read] = w.load({memory, valueType(element)}, 0);
}

void Entry::build(plan::WriteOp write) {
  Type i64 = w.b.getI64Type();
  Value number = w.integer(write.getSize().getValue(), i64);
  w.store(number, {address(write.getBuffer(), MemRefType::get({1}, i64)), i64}, 0);
}

/// Begins to read streamed weights. A read that fails ends the run, with the node that waits for it.
void Entry::build(plan::FetchOp fetch) {
  w.loc = fetch.getLoc();
  Type i64 = w.b.getI64Type();
  Value to = address(fetch.getInto(), bytesType(Size::unknown()));
  Value bytes = w.integer(bytesOf(fetch.getInto().getType().getTensor()), i64);
  Value arguments[] = {exec(), number(static_cast<int64_t>(fetch.getAt()), 64), to, bytes};
  Value bad = w.callLibrary("ingot_weights_begin", arguments, w.b.getI32Type());
  returnIfBad(entry, bad, [&] { return status(INGOT_ERROR_READ, nodeNumber(onnx::nodeOf(fetch.getLoc()))); });
  reads = isReading = true;
}

void Entry::build(plan::FetchedOp fetched) {
  w.loc = fetched.getLoc();
  isReading = false;
  Value bad = w.callLibrary("ingot_weights_finish", {exec()}, w.b.getI32Type());
  returnIfBad(entry, bad, [&] { return status(INGOT_ERROR_READ, nodeNumber(onnx::nodeOf(fetched.getLoc()))); });
}

void Entry::build(plan::CopyOp copy) {
  if (copy.getFrom().getType().getDevice() || copy.getTo().getType().getDevice()) {
    return copyAcross(copy);
  }
  Size bytes = bytesOf(copy.getFrom().getType().getTensor());
  MemRefType type = MemRefType::get({memoryExtent(bytes)}, w.b.getI8Type());
  Buffer source = {address(copy.getFrom(), type), w.b.getI8Type()};
  Buffer target = {address(copy.getTo(), type), w.b.getI8Type()};
  constexpr int64_t piece = 16; // bytes of a vector register that every host has
  Ix whole = bytes.isNumber() ? Ix(bytes.number() / piece * piece) : Ix(floorDiv(bytes, piece)) * piece;
  w.loop(0, whole, piece, [&](Ix at) { w.store(w.load(source, at, piece), target, at); });
  w.loop(whole, bytes, 1, [&](Ix at) { w.store(w.load(source, at), target, at); });
}

} // namespace ingot::entry
