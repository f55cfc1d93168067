// Where values lie, and memory that the run asks for.
#include "compiler/lower/Entry.h"
#include "compiler/lower/LlvmAttributes.h"
#include "compiler/lower/SizeChecks.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using ingot::support::Size;

namespace ingot::lower {

MemRefType Entry::heldType() {
  return MemRefType::get({static_cast<int64_t>(asked.size()) * heldWords}, w.b.getI64Type());
}

Value Entry::library(StringRef name, ValueRange arguments, TypeRange results) {
  auto module = function->getParentOfType<ModuleOp>();
  auto callee = module.lookupSymbol<func::FuncOp>(name);
  if (!callee) {
    OpBuilder::InsertionGuard guard(w.b);
    w.b.setInsertionPoint(function);
    callee = func::FuncOp::create(w.b, w.loc, name, w.b.getFunctionType(arguments.getTypes(), results));
    callee.setPrivate();
  }
  auto call = func::CallOp::create(w.b, w.loc, callee, arguments);
  return results.empty() ? Value() : call.getResult(0);
}

void Entry::buildHolder() {
  func::FuncOp inner = entry;
  SmallVector<Type> types(inner.getArgumentTypes());
  types.erase(types.end() - 2);
  func::FuncOp outer = begin("_run", types);
  Type i64 = w.b.getI64Type();
  Value list = memref::AllocaOp::create(w.b, w.loc, heldType());
  unsigned first = function.getNumArguments();
  for (auto [i, output] : llvm::enumerate(asked)) {
    Value place = number(0, 64);
    if (output >= 0) {
      Value address = memref::ExtractAlignedPointerAsIndexOp::create(w.b, w.loc, outer.getArgument(first + output));
      place = w.integer(w.ix(address), i64);
    }
    w.store(place, {list, i64}, static_cast<int64_t>(i) * heldWords + 2);
    w.store(number(output, 64), {list, i64}, static_cast<int64_t>(i) * heldWords + 3);
  }
  Value exec = outer.getArguments().back(), count = number(static_cast<int64_t>(asked.size()), 32);
  Type i32 = w.b.getI32Type();
  Value bad = library("ingot_memory_begin", {exec, list, count}, i32);
  returnIf(outer, w.compare(arith::CmpIPredicate::ne, bad, number(0, 32)), [&] {
    // inputs, outputs, workspace, weights, then this
    return status(nullErrorKind, static_cast<int64_t>(info.inputs.size() + info.outputs.size()) + 2);
  });
  SmallVector<Value> arguments(outer.getArguments().drop_back());
  arguments.append({list, exec});
  Value result = func::CallOp::create(w.b, w.loc, inner, arguments).getResult(0);
  ret(library("ingot_memory_end", {exec, list, count, result}, i32));
}

void Entry::ask(Operation *op, StringRef when) {
  auto asks = op->getAttrOfType<ArrayAttr>("plan.asks");
  for (Attribute each : asks ? asks.getValue() : ArrayRef<Attribute>()) {
    auto one = cast<plan::AskAttr>(each);
    if (one.getWhen() != when) {
      continue;
    }
    Size needed = one.getNeeded().getValue(), used = one.getUsed().getValue();
    int64_t node = nodeNumber(onnx::nodeOf(op->getLoc()));
    returnIf(entry, impossible(w, needed), [&] { return status(sizeErrorKind, node); });
    Type i64 = w.b.getI64Type();
    Value arguments[] = {exec(), held, number(one.getNumber(), 32), w.integer(used, i64), w.integer(needed, i64)};
    Value bad = library("ingot_memory_need", arguments, w.b.getI32Type());
    returnIf(entry, w.compare(arith::CmpIPredicate::ne, bad, number(0, 32)),
             [&] { return status(memoryErrorKind, node); });
  }
}

void Entry::release(Operation &op) {
  auto numbers = op.getAttrOfType<DenseI64ArrayAttr>("plan.releases");
  for (int64_t n : numbers ? numbers.asArrayRef() : ArrayRef<int64_t>()) {
    library("ingot_memory_release", {exec(), held, number(n, 32)}, {});
  }
}

Value Entry::at(Value bytes, Ix offset, Type type) {
  return memref::ViewOp::create(w.b, w.loc, cast<MemRefType>(type), bytes, w.value(offset), ValueRange{});
}

plan::PlaceAttr Entry::placeAttr(Operation *op, unsigned i) {
  return cast<plan::PlaceAttr>(op->getAttrOfType<ArrayAttr>("plan.places")[i]);
}

Value Entry::place(Operation *op, unsigned i, const Size &extra, Type type) {
  plan::PlaceAttr place = placeAttr(op, i);
  Ix offset = place.getOffset().getValue() + extra;
  if (place.getBuffer() >= 0) {
    offset = w.ix(bufferOffsets[place.getBuffer()]) + offset;
  }
  if (place.getAsked() >= 0) {
    Value memory = library("ingot_memory_at", {held, number(place.getAsked(), 32)}, bytesType(Size::unknown()));
    return at(memory, offset, type);
  }
  return at(place.getOutput() < 0 ? workspace : outputs[place.getOutput()], offset, type);
}

Value Entry::address(Value v, Type type) {
  Size offset = 0;
  while (auto view = v.getDefiningOp<plan::ViewOp>()) {
    v = view.getX(), offset = offset + view.getOffset().getValue();
  }
  if (auto weight = v.getDefiningOp<plan::WeightOp>()) {
    // No weights: tensors without elements.
    return at(weights ? weights : workspace, Size(static_cast<int64_t>(weight.getOffset())) + offset, type);
  }
  while (auto join = v.getDefiningOp<plan::JoinOp>()) {
    v = join.getXs().front(); // lies where its first piece does
  }
  if (Value input = inputs.lookup(v)) {
    return at(input, offset, type);
  }
  auto [op, i] = placed(v);
  return place(op, i, offset, type);
}

std::pair<Operation *, unsigned> Entry::placed(Value v) {
  if (auto result = dyn_cast<OpResult>(v)) {
    return {result.getOwner(), result.getResultNumber()};
  }
  auto loop = cast<onnx::LoopOp>(v.getParentBlock()->getParentOp());
  unsigned n = cast<BlockArgument>(v).getArgNumber();
  return {loop, n == 0 ? loop.getNumResults() : n - 2};
}

void Entry::copy(Value from, Operation *op, unsigned i, const Size &offset) {
  Size bytes = bytesOf(from.getType());
  if (bytes.is(0) || samePlace(from, op, i)) {
    return;
  }
  MemRefType type = MemRefType::get({memoryExtent(bytes)}, w.b.getI8Type());
  Buffer source = {address(from, type), w.b.getI8Type()}, target = {place(op, i, offset, type), w.b.getI8Type()};
  constexpr int64_t piece = 16; // bytes of a register that every host has
  Ix whole = bytes.isNumber() ? Ix(bytes.number() / piece * piece) : Ix(floorDiv(bytes, piece)) * piece;
  w.loop(0, whole, piece, [&](Ix at) { w.store(w.load(source, at, piece), target, at); });
  w.loop(whole, bytes, 1, [&](Ix at) { w.store(w.load(source, at), target, at); });
}

bool Entry::samePlace(Value v, Operation *op, unsigned i) {
  if (v.getDefiningOp<plan::ViewOp>() || v.getDefiningOp<plan::WeightOp>()) {
    return false;
  }
  while (auto join = v.getDefiningOp<plan::JoinOp>()) {
    v = join.getXs().front();
  }
  if (isa<BlockArgument>(v) && !isa<onnx::LoopOp>(v.getParentBlock()->getParentOp())) {
    return false;
  }
  auto [owner, number] = placed(v);
  return placeAttr(owner, number) == placeAttr(op, i);
}

} // namespace ingot::lower
