// Cuts a run of many launches into functions of some hundred each, which NAME_run calls:
//
//   if (bad = NAME_part0_run(what it reads..., exec)) return bad;
//
// LLVM takes longer than in proportion for a function as long as a large model. The run is written as a whole, with a
// block where each part begins and ends, so that whoever writes an operation need not know of parts. A kernel that
// consists of functions of its own is called in such parts, too, which compute the addresses of what they read. A
// number that a part computes for operations behind it (a data-dependent size, a condition) comes back in memory of
// the run.
#include "compiler/entry/Entry.h"
#include "compiler/lower/core/Outline.h"
#include "compiler/plan/KernelAttributes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace ingot::entry {

/// The fewest calls of a run that is cut, and those of a part.
static constexpr int64_t leastCalls = 1000, callsOfPart = 250;
/// The functions of a kernel, of 64 tensors or so each, that a part calls.
static constexpr size_t kernelParts = 4;

static bool isCall(Operation &op) { return isa<plan::LaunchOp, plan::CopyOp>(op); }

void Entry::buildAll(llvm::iterator_range<Block::iterator> ops) {
  if (llvm::count_if(ops, isCall) < leastCalls) {
    return buildRange(ops);
  }
  for (auto next = ops.begin(); next != ops.end();) {
    auto first = next;
    for (int64_t calls = 0; next != ops.end() && calls < callsOfPart; ++next) {
      calls += isCall(*next);
    }
    part([&] { buildRange({first, next}); });
  }
}

void Entry::part(llvm::function_ref<void()> body) {
  auto goOn = [&] {
    Block *block = entry.addBlock();
    cf::BranchOp::create(w.b, function.getLoc(), block);
    w.b.setInsertionPointToStart(block);
    return block;
  };
  Part part = {goOn(), nullptr};
  body();
  part.behind = goOn();
  parts.push_back(part);
}

void Entry::callParts(plan::LaunchOp launch, func::FuncOp kernel) {
  SmallVector<Value> last = argumentsBehindBuffers(launch);
  auto calls = llvm::to_vector(kernel.front().getOps<func::CallOp>());
  auto argument = [&](Value v) {
    unsigned number = cast<BlockArgument>(v).getArgNumber();
    size_t buffers = launch->getNumOperands();
    return number < buffers ? address(launch->getOperand(number), v.getType()) : last[number - buffers];
  };
  callProfile(launch, /*hasEnded=*/false);
  for (ArrayRef<func::CallOp> left = calls; !left.empty(); left = left.drop_front(std::min(left.size(), kernelParts))) {
    part([&] {
      for (func::CallOp call : left.take_front(kernelParts)) {
        auto arguments = llvm::map_to_vector(call.getOperands().drop_back(2), argument); // the range comes last
        if (Value status = this->call(launch, kernels.lookup<func::FuncOp>(call.getCallee()), arguments)) {
          returnIfBad(entry, status);
        }
      }
    });
  }
  callProfile(launch, /*hasEnded=*/true);
  inParts.insert(kernel);
}

void Entry::cutParts() {
  OpBuilder::InsertionGuard guard(w.b);
  w.loc = function.getLoc();
  for (auto [number, part] : llvm::enumerate(parts)) {
    handOn(part);
    cut(part, (info.name + suffix + "_part" + Twine(number) + "_run").str());
  }
}

void Entry::cut(Part part, StringRef name) {
  Block *before = part.first->getSinglePredecessor(), *last = part.behind->getSinglePredecessor();
  before->getTerminator()->erase();
  last->getTerminator()->erase();
  w.b.setInsertionPointToEnd(last);
  ret(status(0, -1));
  auto [made, arguments] = lower::outline(entry, name, {part.first->getIterator(), part.behind->getIterator()}, exec());
  made.setType(w.b.getFunctionType(made.getArgumentTypes(), w.b.getI32Type()));
  w.b.setInsertionPointToEnd(before);
  Value result = func::CallOp::create(w.b, w.loc, made, arguments).getResult(0);
  Value isBad = w.compare(arith::CmpIPredicate::ne, result, number(0, 32));
  Block *fail = w.b.createBlock(part.behind);
  ret(result);
  w.b.setInsertionPointToEnd(before);
  cf::CondBranchOp::create(w.b, w.loc, isBad, fail, part.behind);
}

void Entry::handOn(Part part) {
  llvm::DenseSet<Block *> inside;
  SmallVector<Value> computed;
  for (Block &block : llvm::make_range(part.first->getIterator(), part.behind->getIterator())) {
    inside.insert(&block);
    llvm::append_range(computed, block.getArguments());
    for (Operation &op : block) {
      llvm::append_range(computed, op.getResults());
    }
  }
  auto isBehind = [&](Operation *user) {
    return !inside.contains(entry.getBody().findAncestorBlockInRegion(*user->getBlock()));
  };
  llvm::erase_if(computed, [&](Value v) { return llvm::none_of(v.getUsers(), isBehind); });
  if (computed.empty()) {
    return;
  }
  Type i64 = w.b.getI64Type();
  w.b.setInsertionPointToStart(&entry.front());
  Buffer memory = w.local(i64, static_cast<int64_t>(computed.size()));
  for (auto [i, v] : llvm::enumerate(computed)) {
    Type type = v.getType();
    w.b.setInsertionPoint(part.behind->getSinglePredecessor()->getTerminator());
    w.store(type == i64 ? v : w.integer(w.ix(v), i64), memory, static_cast<int64_t>(i));
    w.b.setInsertionPointToStart(part.behind);
    Value word = w.load(memory, static_cast<int64_t>(i));
    Value read = type == i64 ? word : type.isIndex() ? w.value(w.ix(word)) : w.integer(w.ix(word), type);
    v.replaceUsesWithIf(read, [&](OpOperand &use) { return isBehind(use.getOwner()); });
  }
}

} // namespace ingot::entry
