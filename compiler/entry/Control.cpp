// Writes branches and loops, as basic blocks around the calls.
//
// A loop is three blocks. `head` has the number of the iteration and the sizes that iterations change as arguments, and
// compares with the trip count. `body` is one iteration. `next` is behind the loop and gets the sizes, and how often
// the loop ran where that is a data-dependent size.
#include "compiler/entry/Entry.h"
#include "compiler/entry/SizeChecks.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;
using ingot::support::Size;

namespace ingot::entry {

void Entry::build(plan::IfOp op) {
  w.loc = op.getLoc();
  Value condition = values.at(op.getCondition());
  Block *starts[] = {entry.addBlock(), entry.addBlock()}, *next = entry.addBlock();
  cf::CondBranchOp::create(w.b, w.loc, condition, starts[0], ValueRange{}, starts[1], ValueRange{});
  SmallVector<onnx::BranchSizes> choices = onnx::choicesOf(op);
  for (auto [i, region] : llvm::enumerate(op->getRegions())) {
    w.b.setInsertionPointToStart(starts[i]);
    if (auto fail = dyn_cast<plan::FailOp>(region.front().getTerminator())) {
      ret(status(INGOT_ERROR_SIZE, nodeNumber(fail.getNode().str())));
      continue;
    }
    auto outerSymbols = w.symbols; // what is found in a branch is not known behind it
    buildAll(region.front().without_terminator());
    w.loc = op.getLoc();
    SmallVector<Value> chosen;
    for (const onnx::BranchSizes &choice : choices) {
      chosen.push_back(w.value(choice.sizes[i]));
    }
    cf::BranchOp::create(w.b, w.loc, next, chosen);
    w.symbols = std::move(outerSymbols);
  }
  w.b.setInsertionPointToStart(next);
  for (const onnx::BranchSizes &choice : choices) {
    w.symbols[choice.symbol] = next->addArgument(w.b.getIndexType(), w.loc);
  }
}

void Entry::branch(Value condition, Block *to, ValueRange operands, Block *otherwise, ValueRange others) {
  if (condition) {
    cf::CondBranchOp::create(w.b, w.loc, condition, to, operands, otherwise, others);
  } else {
    cf::BranchOp::create(w.b, w.loc, to, operands);
  }
}

Value Entry::tripsOf(plan::LoopOp loop, bool conditional) {
  if (!loop.getTrips()) {
    return {};
  }
  Value trips = w.value(w.ix(values.at(loop.getTrips())));
  if (!conditional) {
    Value most = w.value(std::min(onnx::mostUnbounded, plan::mostIndex(plan::indexBits(w.b)) - 1));
    returnIf(entry, w.compare(arith::CmpIPredicate::sgt, trips, most),
             [&] { return status(INGOT_ERROR_SIZE, nodeNumber(onnx::nodeOf(loop->getLoc()))); });
  }
  return trips;
}

void Entry::build(plan::LoopOp loop) {
  w.loc = loop.getLoc();
  auto end = cast<plan::NextOp>(loop.getBody().front().getTerminator());
  Value go = loop.getCondition() ? values.at(loop.getCondition()) : Value();
  Value trips = tripsOf(loop, end.getCondition() != nullptr);
  SmallVector<onnx::Growth> growths = onnx::growthsOf(loop);
  SmallVector<Value> sizes; // sizes that the loop changes; those of carried values are the next iteration's
  for (const onnx::Growth &g : growths) {
    sizes.push_back(w.value(g.start));
  }
  Block *head = entry.addBlock(), *body = entry.addBlock(), *next = entry.addBlock();
  Value number = head->addArgument(w.b.getIndexType(), w.loc);
  Value zero = w.value(0);
  std::optional<support::Symbol> found = onnx::dataDependentSizeOf(loop); // the symbol for the number of iterations
  auto following = [&](Value times) {
    SmallVector<Value> all = {times};
    llvm::append_range(all, sizes);
    return all;
  };
  auto passedOn = [&](Value times) {
    SmallVector<Value> all = following(times);
    return found ? all : SmallVector<Value>(sizes);
  };
  branch(go, head, following(zero), next, passedOn(zero));
  w.b.setInsertionPointToStart(head);
  for (Value &size : sizes) {
    size = head->addArgument(w.b.getIndexType(), w.loc);
  }
  Value more = trips ? w.compare(arith::CmpIPredicate::slt, number, trips) : Value();
  branch(more, body, {}, next, passedOn(number));
  w.b.setInsertionPointToStart(body);
  auto outerSymbols = w.symbols;
  beginIteration(loop, number, growths, sizes);
  Value times = arith::AddIOp::create(w.b, w.loc, number, w.value(1));
  Value again = end.getCondition() ? values.at(end.getCondition()) : Value();
  branch(again, head, following(times), next, passedOn(times));
  w.b.setInsertionPointToStart(next);
  w.symbols = std::move(outerSymbols);
  if (found) {
    find(*found, next->addArgument(w.b.getIndexType(), w.loc));
  }
  for (const onnx::Growth &g : growths) {
    find(g.after, next->addArgument(w.b.getIndexType(), w.loc));
  }
}

void Entry::beginIteration(plan::LoopOp loop, Value number, ArrayRef<onnx::Growth> growths,
                           SmallVectorImpl<Value> &sizes) {
  w.symbols[loop.getNumber().getValue()] = number;
  for (auto [g, size] : llvm::zip_equal(growths, sizes)) {
    if (g.inside) {
      find(*g.inside, size);
    }
  }
  auto ops = loop.getBody().front().without_terminator();
  auto grows = llvm::find_if(ops, [](Operation &op) { return isa<plan::GrowOp>(op); });
  buildAll({ops.begin(), grows});
  if (grows != ops.end()) {
    w.loc = loop.getLoc();
    grow(loop, number, growths, sizes);
  }
  buildAll({grows, ops.end()});
  w.loc = loop.getLoc();
}

void Entry::grow(plan::LoopOp loop, Value number, ArrayRef<onnx::Growth> growths, SmallVectorImpl<Value> &sizes) {
  for (auto [g, size] : llvm::zip_equal(growths, sizes)) {
    int64_t node = nodeNumber(onnx::nodeOf(loop->getLoc()));
    returnIf(entry, impossible(w, g.next), [&] { return status(INGOT_ERROR_SIZE, node); });
    Value next = w.value(g.next);
    if (!g.inside) {
      Value first = w.compare(arith::CmpIPredicate::eq, number, w.value(0));
      size = arith::SelectOp::create(w.b, w.loc, first, next, size);
      Value differs = w.compare(arith::CmpIPredicate::ne, next, size);
      returnIf(entry, differs, [&] { return status(INGOT_ERROR_SIZE, node); });
      w.symbols[g.after] = size;
    } else {
      size = next;
    }
  }
}

} // namespace ingot::entry
