// Writes what a run wants of devices with a memory of their own. That is a call of the support library (core/device.c),
// whose status ends the run where it is not 0. A kernel gets its arguments as words of 8 bytes, which every device
// reads alike:
//
//   args = {a word for every argument, N}                  on the stack, one place for all launches
//   status = ingot_device_launch(exec, device, kernel, args, bytes of args, N, 1, 1)
//
// A kernel that checks the data that it reads cannot return its status to the host. It stores the status in the
// device's memory instead, and therefore gets two more words before N: the address of that status, and the node's bits
// in it.
#include "compiler/entry/Entry.h"
#include "compiler/onnx/Optional.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using ingot::support::Size;

namespace ingot::entry {

Value Entry::deviceMemory(StringRef name, uint64_t device) {
  Value &memory = deviceMemories[(name + Twine(device)).str()];
  if (!memory) {
    OpBuilder::InsertionGuard guard(w.b);
    w.b.setInsertionPointToStart(&entry.getBody().front());
    memory = w.callLibrary(name, {exec(), deviceNumber(device)}, bytesType(Size::unknown()));
  }
  return memory;
}

void Entry::enqueue(plan::LaunchOp launch, ArrayRef<Value> arguments) {
  Type i32 = w.b.getI32Type(), i64 = w.b.getI64Type();
  Value device = deviceNumber(launch.getDevice());
  auto word = [&](Value index) { return arith::IndexCastUIOp::create(w.b, w.loc, i64, index).getResult(); };
  callProfile(launch, /*hasEnded=*/false);
  SmallVector<Value> words;
  for (Value argument : arguments) {
    words.push_back(word(isa<MemRefType>(argument.getType()) ? w.address({argument, {}}) : argument));
  }
  if (launch.getChecked()) { // as INGOT_STATUS does it
    Value status = w.callLibrary("ingot_device_status", {exec(), device}, bytesType(Size::unknown()));
    words.push_back(word(w.address({status, {}})));
    words.push_back(number((nodeNumber(onnx::nodeOf(launch.getLoc())) + 1) << 8, 64));
  }
  Value items = word(w.value(launch.getItems().getValue()));
  words.push_back(items);
  for (auto [i, each] : llvm::enumerate(words)) {
    w.store(each, {at(launchWords(), 8 * static_cast<int64_t>(i), MemRefType::get({1}, i64)), i64}, 0);
  }
  Value kernel = run::KernelNumberOp::create(w.b, w.loc, i32, launch.getCallee(), launch.getDevice());
  Value one = number(1, 64), bytes = number(static_cast<int64_t>(8 * words.size()), 64);
  Value list = at(launchWords(), 0, bytesType(Size::unknown()));
  Value given[] = {exec(), device, kernel, list, bytes, items, one, one};
  returnIfBad(entry, w.callLibrary("ingot_device_launch", given, i32));
  if (launch->hasAttr(plan::numberName)) { // the profile measures the kernel, and not how long enqueuing it takes
    awaitDevice(launch.getDevice());
  }
  callProfile(launch, /*hasEnded=*/true);
}

Value Entry::launchWords() {
  if (!wordList) {
    int64_t most = 0;
    function.walk([&](plan::LaunchOp launch) {
      size_t symbols = launch.getSymbols() ? launch.getSymbols()->getValues().size() : 0;
      most = std::max(most, static_cast<int64_t>(launch->getNumOperands() + symbols) + 3);
    });
    OpBuilder::InsertionGuard guard(w.b);
    w.b.setInsertionPointToStart(&entry.getBody().front());
    auto type = MemRefType::get({8 * most}, w.b.getI8Type());
    wordList = memref::AllocaOp::create(w.b, w.loc, type, w.b.getI64IntegerAttr(8));
  }
  return wordList;
}

void Entry::awaitDevice(uint64_t device) {
  returnIfBad(entry, w.callLibrary("ingot_device_wait", {exec(), deviceNumber(device)}, w.b.getI32Type()));
}

void Entry::build(plan::WaitOp wait) { awaitDevice(wait.getDevice()); }

/// Returns the bytes of a buffer that crosses: none of an input that the run leaves out.
static Size bytesAcross(Value buffer) {
  Size bytes = plan::physicalBytes(cast<plan::BufferType>(buffer.getType()).getTensor());
  while (auto inside = buffer.getDefiningOp<plan::BufferOp>()) {
    buffer = inside.getMemory();
  }
  std::optional<unsigned> input = onnx::optionalInput(buffer);
  return input ? bytes * support::Symbol::presence(*input) : bytes;
}

void Entry::copyAcross(plan::CopyOp copy) {
  int64_t to = copy.getTo().getType().getDevice();
  Type any = bytesType(Size::unknown());
  Value bytes = w.integer(bytesAcross(copy.getFrom()), w.b.getI64Type());
  Value device = deviceNumber(to ? to : copy.getFrom().getType().getDevice());
  Value arguments[] = {exec(), device, address(copy.getTo(), any), address(copy.getFrom(), any), bytes};
  returnIfBad(entry, w.callLibrary(to ? "ingot_device_upload" : "ingot_device_download", arguments, w.b.getI32Type()));
}

void Entry::beginDevices(func::FuncOp holder) {
  Value exec = holder.getArguments().back();
  Value bad = w.callLibrary("ingot_devices_begin", {exec, number(deviceCount, 32)}, w.b.getI32Type());
  returnIfBad(holder, bad, [&] {
    // The number says which argument is null, counted over inputs, outputs, workspace, weights, the functions that give
    // memory, and then the devices.
    return status(INGOT_ERROR_NULL, static_cast<int64_t>(info.inputs.size() + info.outputs.size()) + 3);
  });
}

} // namespace ingot::entry
