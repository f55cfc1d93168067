// Branches and loops: basic blocks around the calls.
#include "compiler/lower/Entry.h"
#include "compiler/lower/SizeChecks.h"
#include "compiler/onnx/Constants.h"
#include "compiler/onnx/Optional.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;
using ingot::support::Size;

namespace ingot::lower {

Value Entry::element(Value v) {
  Type type = valueType(getElementTypeOrSelf(v.getType()));
  if (auto constant = onnx::integersOf(v)) {
    return arith::ConstantIntOp::create(w.b, w.loc, constant->front() != 0 && type.isInteger(1) ? 1 : constant->front(),
                                        type.getIntOrFloatBitWidth());
  }
  Value memory = address(v, MemRefType::get({1}, memoryType(getElementTypeOrSelf(v.getType()))));
  return w.load({memory, type}, 0);
}

void Entry::branches(onnx::IfOp op) {
  w.loc = op.getLoc();
  Value condition = element(op.getCondition());
  Block *starts[] = {entry.addBlock(), entry.addBlock()}, *next = entry.addBlock();
  cf::CondBranchOp::create(w.b, w.loc, condition, starts[0], ValueRange{}, starts[1], ValueRange{});
  SmallVector<onnx::Choice> choices = onnx::choicesOf(op);
  for (auto [i, region] : llvm::enumerate(op->getRegions())) {
    w.b.setInsertionPointToStart(starts[i]);
    if (!region.front().empty() && isa<onnx::FailOp>(region.front().front())) {
      ret(status(sizeErrorKind, nodeNumber(onnx::nodeOf(op->getLoc()))));
      continue;
    }
    // What is found in a branch is not known behind it.
    auto outerSymbols = w.symbols;
    auto outerWaiting = waiting;
    for (const onnx::SizeCheck &check : onnx::checksOf(region.front().getTerminator())) {
      if (!check.isFound()) {
        returnIfViolated(check);
      }
    }
    await(onnx::checksOf(region.front().getTerminator()));
    all(region.front());
    w.loc = op.getLoc();
    SmallVector<Value> chosen;
    for (const onnx::Choice &choice : choices) {
      chosen.push_back(w.value(choice.sizes[i]));
    }
    cf::BranchOp::create(w.b, w.loc, next, chosen);
    w.symbols = std::move(outerSymbols), waiting = std::move(outerWaiting);
  }
  w.b.setInsertionPointToStart(next);
  for (const onnx::Choice &choice : choices) {
    w.symbols[choice.symbol] = next->addArgument(w.b.getIndexType(), w.loc);
  }
  checkFound();
  w.loc = function.getLoc();
}

void Entry::branch(Value condition, Block *to, ValueRange operands, Block *otherwise, ValueRange others) {
  if (condition) {
    cf::CondBranchOp::create(w.b, w.loc, condition, to, operands, otherwise, others);
  } else {
    cf::BranchOp::create(w.b, w.loc, to, operands);
  }
}

Value Entry::tripsOf(onnx::LoopOp loop, bool conditional) {
  if (!onnx::present(loop.getTrips())) {
    return {};
  }
  Value trips = arith::IndexCastOp::create(w.b, w.loc, w.b.getIndexType(), element(loop.getTrips()));
  if (!conditional) {
    Value most = w.value(mostUnbounded);
    returnIf(entry, w.compare(arith::CmpIPredicate::sgt, trips, most),
             [&] { return status(sizeErrorKind, nodeNumber(onnx::nodeOf(loop->getLoc()))); });
  }
  return trips;
}

void Entry::turns(onnx::LoopOp loop) {
  w.loc = loop.getLoc();
  bool conditional = onnx::splatOf(loop.continues().get()) != 1;
  Value go = onnx::present(loop.getCondition()) ? element(loop.getCondition()) : Value();
  Value trips = tripsOf(loop, conditional);
  ask(loop);
  for (unsigned i = 0; i < loop.carried(); ++i) {
    copy(loop.getInitial()[i], loop, i);
  }
  SmallVector<onnx::Growth> growths = onnx::growthsOf(loop);
  SmallVector<Value> sizes; // of what changes in the loop: of carried values those of the next iteration
  for (const onnx::Growth &g : growths) {
    sizes.push_back(w.value(g.start));
  }
  Block *head = entry.addBlock(), *body = entry.addBlock(), *next = entry.addBlock();
  Value number = head->addArgument(w.b.getIndexType(), w.loc);
  Value zero = w.value(0);
  std::optional<support::Symbol> found = onnx::foundBy(loop); // how often it turned
  auto following = [&](Value times) {
    SmallVector<Value> all = {times};
    llvm::append_range(all, sizes);
    return all;
  };
  auto turned = [&](Value times) {
    SmallVector<Value> all = following(times);
    return found ? all : SmallVector<Value>(sizes);
  };
  branch(go, head, following(zero), next, turned(zero));
  w.b.setInsertionPointToStart(head);
  for (Value &size : sizes) {
    size = head->addArgument(w.b.getIndexType(), w.loc);
  }
  Value more = trips ? w.compare(arith::CmpIPredicate::slt, number, trips) : Value();
  branch(more, body, {}, next, turned(number));
  w.b.setInsertionPointToStart(body);
  auto outerSymbols = w.symbols;
  turn(loop, number, growths, sizes);
  Value times = arith::AddIOp::create(w.b, w.loc, number, w.value(1));
  Value again = conditional ? element(loop.continues().get()) : Value();
  branch(again, head, following(times), next, turned(times));
  w.b.setInsertionPointToStart(next);
  w.symbols = std::move(outerSymbols);
  if (found) {
    find(*found, next->addArgument(w.b.getIndexType(), w.loc));
  }
  for (const onnx::Growth &g : growths) {
    find(g.behind, next->addArgument(w.b.getIndexType(), w.loc));
  }
  w.loc = function.getLoc();
}

void Entry::turn(onnx::LoopOp loop, Value number, ArrayRef<onnx::Growth> growths, SmallVectorImpl<Value> &sizes) {
  w.symbols[loop->getAttrOfType<onnx::SymbolAttr>("plan.number").getValue()] = number;
  for (auto [g, size] : llvm::zip_equal(growths, sizes)) {
    if (g.inside) {
      find(*g.inside, size);
    }
  }
  ask(loop, "turn");
  if (!loop.number().use_empty()) {
    Type i64 = w.b.getI64Type();
    w.store(w.integer(w.ix(number), i64), {place(loop, loop.getNumResults(), 0, MemRefType::get({1}, i64)), i64}, 0);
  }
  all(loop.block());
  w.loc = loop.getLoc();
  change(loop, number, growths, sizes);
  ask(loop, "end");
  for (unsigned i = 0; i < loop.carried(); ++i) {
    copy(loop.yielded(i).get(), loop, i);
  }
  Size at = loop->getAttrOfType<onnx::SymbolAttr>("plan.number").getValue();
  for (unsigned i = loop.carried(); i < loop.getNumResults(); ++i) {
    Size all = bytesOf(loop.getResult(i).getType());
    if (llvm::any_of(growths, [&](const onnx::Growth &g) { return all.mentions(g.behind); })) {
      copy(loop.yielded(i).get(), loop, i, at * bytesOf(loop.yielded(i).get().getType()));
    }
  }
}

void Entry::change(onnx::LoopOp loop, Value number, ArrayRef<onnx::Growth> growths, SmallVectorImpl<Value> &sizes) {
  for (auto [g, size] : llvm::zip_equal(growths, sizes)) {
    int64_t node = nodeNumber(onnx::nodeOf(loop->getLoc()));
    returnIf(entry, impossible(w, g.next), [&] { return status(sizeErrorKind, node); });
    Value next = w.value(g.next);
    if (!g.inside) {
      Value first = w.compare(arith::CmpIPredicate::eq, number, w.value(0));
      size = arith::SelectOp::create(w.b, w.loc, first, next, size);
      Value differs = w.compare(arith::CmpIPredicate::ne, next, size);
      returnIf(entry, differs, [&] { return status(sizeErrorKind, node); });
      w.symbols[g.behind] = size;
    } else {
      size = next;
    }
  }
}

} // namespace ingot::lower
