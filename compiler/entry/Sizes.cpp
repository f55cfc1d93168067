// Writes what depends on sizes: which runs are let in, NAME_plan, and where buffers of open sizes begin.
#include "compiler/entry/Entry.h"
#include "compiler/entry/SizeChecks.h"
#include "compiler/lower/core/LlvmAttributes.h"
#include "compiler/onnx/Optional.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;
using ingot::support::Size;

namespace ingot::entry {

void Entry::setSymbols(ArrayRef<std::string> names, ValueRange values) {
  for (auto [name, value] : llvm::zip_equal(names, values)) {
    w.symbols[support::Symbol::chosen(name)] = value;
  }
}

void Entry::build(plan::CheckOp check) {
  onnx::SizeCheck made{onnx::Sizes(check.getSizes().getValues()), check.getNode().str()};
  int64_t kind = made.isPresence() ? INGOT_ERROR_ABSENT : INGOT_ERROR_SIZE;
  returnIf(entry, violated(w, made.sizes), [&] { return status(kind, nodeNumber(made.node)); });
}

std::vector<Size> Entry::boundedBytes() {
  llvm::SetVector<Size, std::vector<Size>> all;
  auto add = [&](const Size &bytes) {
    if (!bytes.isUnknown() && !bytes.isNumber()) {
      all.insert(bytes);
    }
  };
  for (plan::SlotOp slot : openSlots) {
    add(slot.getBytes().getValue());
  }
  for (Type type : llvm::concat<const Type>(inputTypes, outputTypes)) {
    add(bytesOf(type).bounded(bounds));
  }
  return all.takeVector();
}

void Entry::buildAdmits() {
  admits = begin("_admits", SmallVector<Type>(open.size(), w.b.getIndexType()));
  admits.setPrivate();
  setSymbols(open, admits.getArguments());
  Value result = status(0, -1);
  auto refuse = [&](Value bad, int64_t node) {
    result = arith::SelectOp::create(w.b, w.loc, bad, status(INGOT_ERROR_SIZE, node), result);
  };
  // The last check that fails gives the status, so the checks that say least come first.
  for (const Size &bytes : boundedBytes()) {
    refuse(impossible(w, bytes), -1);
  }
  std::vector<onnx::SizeCheck> checks = onnx::checksOf(function);
  for (const onnx::SizeCheck &check : llvm::reverse(checks)) {
    refuse(violated(w, check.sizes), check.node.empty() ? -1 : nodeNumber(check.node));
  }
  for (const std::string &name : open) {
    Size symbol(support::Symbol::chosen(name));
    refuse(violated(w, symbol), -1);
    if (isNarrow()) {
      refuse(impossible(w, symbol), -1);
    }
  }
  if (isNarrow() && !openSlots.empty()) {
    refuse(arenasTooLarge(), -1);
  }
  ret(result);
}

void Entry::buildPlan() {
  Type i64 = w.b.getI64Type();
  int64_t dims = 0;
  for (Type type : outputTypes) {
    dims += cast<RankedTensorType>(type).getRank();
  }
  Type types[] = {MemRefType::get({static_cast<int64_t>(symbols.size())}, i64), MemRefType::get({dims}, i64),
                  MemRefType::get({1 + static_cast<int64_t>(info.devices.size())}, i64)};
  func::FuncOp f = begin("_plan", types);
  SmallVector<Value> values;
  for (size_t i = 0; i < symbols.size(); ++i) {
    values.push_back(w.value(w.ix(w.load({f.getArgument(0), i64}, static_cast<int64_t>(i)))));
  }
  setSymbols(symbols, values);
  if (admits) {
    returnIfRefused(f);
  }
  int64_t at = 0;
  for (Type type : outputTypes) {
    for (const Size &size : onnx::sizesOf(cast<RankedTensorType>(type))) {
      Size most = size.bounded(bounds);
      w.store(w.integer(most.isUnknown() ? Size(-1) : most, i64), {f.getArgument(1), i64}, at++);
    }
  }
  SmallVector<Value> ends = openSlots.empty() ? SmallVector<Value>() : arenas();
  for (int64_t device = 0; device <= deviceCount; ++device) {
    int64_t known = device ? info.devices[device - 1].workspaceBytes : workspaceBytes;
    Value bytes = ends.empty() ? w.value(known) : w.value(w.ix(ends[device]) + Ix(slackBytes));
    w.store(w.integer(w.ix(bytes), i64), {f.getArgument(2), i64}, device);
  }
  ret(status(0, -1));
}

void Entry::returnIfRefused(func::FuncOp f) {
  SmallVector<Value> values;
  for (const std::string &name : open) {
    values.push_back(w.symbols.at(support::Symbol::chosen(name)));
  }
  Value refused = func::CallOp::create(w.b, w.loc, admits, values).getResult(0);
  returnIfBad(f, refused);
}

void Entry::returnIfRefusedOrUnusual() {
  std::vector<onnx::Sizes> checks;
  for (const onnx::SizeCheck &check : onnx::checksOf(function)) {
    checks.push_back(check.sizes);
  }
  std::optional<UsualRun> usual = isNarrow() ? std::nullopt : usualRun(open, boundedBytes(), checks);
  if (!usual) {
    return returnIfRefused(entry);
  }
  Block *unusual = entry.addBlock(), *next = entry.addBlock();
  cf::CondBranchOp::create(w.b, w.loc, isUsual(w, *usual), next, ValueRange{}, unusual, ValueRange{});
  w.b.setInsertionPointToStart(unusual);
  returnIfRefused(entry);
  cf::BranchOp::create(w.b, w.loc, next);
  w.b.setInsertionPointToStart(next);
}

Value Entry::arenasTooLarge() {
  Type i64 = w.b.getI64Type();
  llvm::DenseMap<Value, Value> ends;
  Value highest = number(0, 64);
  for (plan::SlotOp slot : openSlots) {
    Value end = number(0, 64);
    for (Value below : slot.getAbove()) {
      end = arith::MaxSIOp::create(w.b, w.loc, end, ends.at(below));
    }
    // A size that does not fit an index by itself is refused for that, so the sum need not be right then.
    end = arith::AddIOp::create(w.b, w.loc, end, w.integer(slot.getBytes().getValue(), i64));
    ends[slot] = arith::AddIOp::create(w.b, w.loc, end, number(info.workspaceAlign - 1, 64));
    highest = arith::MaxSIOp::create(w.b, w.loc, highest, ends[slot]);
  }
  int64_t most = plan::mostIndex(plan::indexBits(function)) - slackBytes - 2 * info.workspaceAlign;
  return w.compare(arith::CmpIPredicate::sgt, highest, number(most, 64));
}

SmallVector<Value> Entry::arenas() {
  starts.clear();
  llvm::DenseMap<Value, Ix> ends;
  SmallVector<Ix> peaks(static_cast<size_t>(1 + deviceCount), Ix(0));
  for (plan::SlotOp slot : openSlots) {
    Ix start = 0;
    for (Value other : slot.getAbove()) {
      start = start.is(0) ? ends[other] : max(start, ends[other]);
    }
    starts[slot] = w.value(start);
    const Size &bytes = slot.getBytes().getValue();
    Ix rounded = bytes.isNumber()
                     ? Ix(static_cast<int64_t>(llvm::alignTo(bytes.number(), info.workspaceAlign)))
                     : w.ix(arith::AndIOp::create(w.b, w.loc, w.value(Ix(bytes) + Ix(info.workspaceAlign - 1)),
                                                  w.value(-info.workspaceAlign)));
    Ix end = w.ix(w.value(start + rounded));
    ends[slot] = end;
    Ix &peak = peaks[slot.getDevice()];
    peak = peak.is(0) ? end : max(peak, end);
  }
  return llvm::map_to_vector(peaks, [&](const Ix &peak) { return w.value(peak); });
}

} // namespace ingot::entry
