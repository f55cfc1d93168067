// Writes loops, branches and basic blocks, as a part of FunctionWriter. Values that a loop carries, and that blocks
// hand to each other, are variables that are assigned to all at once:
//
//   %r = scf.for %i = %a to %b step %c iter_args(%s = %t) { ... scf.yield %n }
//   =>   float x0 = t;
//        for (int64_t i0 = a; i0 < b; i0 += c) { ...  x0 = n; }
//
// In the loop the variable x0 stands for the argument %s, and after the loop for the result %r. A loop whose initial
// value is the result of another loop, with no other reader, assigns to that loop's variable.
//
// Blocks that are reached in one way only follow each other without labels (chains), and short ways out of the function
// stand where they are taken. Invariant: a chain is entered at its head alone, so that only heads need labels and only
// their arguments need variables.
#include "compiler/emit/cpp/Cpp.h"
#include "compiler/emit/cpp/FunctionWriter.h"

using namespace mlir;

namespace ingot::emit::cpp {

void FunctionWriter::assign(ArrayRef<std::string> variables, ValueRange values) {
  SmallVector<std::string> texts = llvm::map_to_vector(values, [&](Value value) { return argument(value); });
  for (size_t i = 0; i < texts.size(); ++i) {
    bool isOverwritten =
        llvm::any_of(variables.take_front(i), [&](const std::string &name) { return mentions(texts[i], name); });
    if (isOverwritten) { // the value is kept while all old values are there
      std::string name = newName(values[i].getType()), type = typeName(values[i].getType());
      line((StringRef(type).ends_with("*") ? type + "const " : "const " + type + " ") + name + " = " + texts[i] + ";");
      texts[i] = name;
    }
  }
  flushReads();
  for (auto [name, text] : llvm::zip_equal(variables, texts)) {
    if (name != text) {
      line(name + " = " + text + ";");
    }
  }
}

/// Whether a value with which a carried value starts is a variable that nobody else reads: the loop goes on with it.
static bool isHandedOn(Value start, scf::ForOp loop) {
  if (!start.hasOneUse()) {
    return false;
  }
  if (auto carried = dyn_cast<BlockArgument>(start)) {
    auto around = dyn_cast<scf::ForOp>(carried.getOwner()->getParentOp());
    return around && carried.getOwner() == loop->getBlock() && carried != around.getInductionVar();
  }
  return start.getDefiningOp<scf::ForOp>() && start.getDefiningOp()->getBlock() == loop->getBlock();
}

// Bounds that are long or read memory become constants, since C++ computes them in each iteration.
void FunctionWriter::visit(scf::ForOp loop) {
  SmallVector<std::string> variables, starts;
  for (Value start : loop.getInitArgs()) {
    starts.push_back(argument(start));
  }
  Type type = loop.getInductionVar().getType();
  auto bound = [&](Value value) {
    Expression e = take(value);
    if (e.reads || e.rank > Rank::Sum) {
      known.erase(value);
      declareConstant(value, e);
      e = known.lookup(value);
    }
    return asSigned(e, type);
  };
  std::string from = bound(loop.getLowerBound()), to = bound(loop.getUpperBound()), step = bound(loop.getStep());
  flushReads();
  for (auto [result, argument, init, start] :
       llvm::zip_equal(loop.getResults(), loop.getRegionIterArgs(), loop.getInitArgs(), starts)) {
    bool isOld = isHandedOn(init, loop) && !shared.contains(result);
    variables.push_back(isOld ? start : declareVariable(result, start));
    known[result] = {variables.back()};
    known[argument] = {variables.back()};
  }
  std::string counter = "i" + std::to_string(numbers['i']++);
  known[loop.getInductionVar()] = {counter, Rank::Name, Sign::Signed};
  std::string next = step == "1" ? "++" + counter : counter + " += " + step;
  auto lanes = loop->getAttrOfType<StringAttr>(lanesName);
  open((lanes ? helpers.use(lanes.getValue()) + " for (" : "for (") + integerName(bitsOf(type), /*isSigned=*/true) +
       " " + counter + " = " + from + "; " + counter + " < " + to + "; " + next + ")");
  visitAll(*loop.getBody());
  assign(variables, loop.getYieldedValues());
  close();
}

void FunctionWriter::visit(scf::IfOp branch) {
  std::string condition = argument(branch.getCondition());
  flushReads();
  SmallVector<std::string> variables;
  for (Value result : branch.getResults()) {
    variables.push_back(declareVariable(result, ""));
  }
  open("if (" + condition + ")");
  visitAll(*branch.thenBlock());
  assign(variables, branch.thenYield().getOperands());
  if (Block *otherwise = branch.elseBlock();
      otherwise && (!variables.empty() || otherwise->getOperations().size() > 1)) {
    indent -= 2;
    open("} else");
    visitAll(*otherwise);
    assign(variables, branch.elseYield().getOperands());
  }
  close();
}

// The part in front of the condition runs once more than the body, so that the loop is left in the middle:
//
//   while (true) { before; if (!condition) { results = ...; break; } body; carried = ...; }
void FunctionWriter::visit(scf::WhileOp loop) {
  SmallVector<std::string> starts, carried, results;
  for (Value start : loop.getInits()) {
    starts.push_back(argument(start));
  }
  flushReads();
  for (auto [argument, start] : llvm::zip_equal(loop.getBeforeArguments(), starts)) {
    carried.push_back(declareVariable(argument, start));
  }
  for (Value result : loop.getResults()) {
    results.push_back(result.use_empty() ? "" : declareVariable(result, ""));
  }
  open("while (true)");
  visitAll(*loop.getBeforeBody());
  scf::ConditionOp condition = loop.getConditionOp();
  std::string again = asOperand(take(condition.getCondition()), Rank::Name);
  SmallVector<Value> used;
  SmallVector<std::string> variables;
  for (auto [argument, passed, result] : llvm::zip_equal(loop.getAfterArguments(), condition.getArgs(), results)) {
    known[argument] = named(passed);
    if (!result.empty()) {
      variables.push_back(result), used.push_back(passed);
    }
  }
  open("if (!" + again + ")");
  assign(variables, used);
  line("break;");
  close();
  visitAll(*loop.getAfterBody());
  assign(carried, loop.getYieldOp().getOperands());
  close();
}

// These write basic blocks.

/// Whether a block is a way out of the function that needs no label, since it is reached from one place and has little
/// to do.
bool FunctionWriter::endsAtOnce(Block *block) const {
  constexpr size_t few = 8;
  return !block->isEntryBlock() && isa<func::ReturnOp>(block->getTerminator()) && block->getNumArguments() == 0 &&
         block->hasOneUse() && block->getOperations().size() <= few;
}

/// Returns the block that is written behind this one without a label.
Block *FunctionWriter::following(Block *block) const {
  Operation *end = block->getTerminator();
  Block *next = nullptr;
  if (auto jump = dyn_cast<cf::BranchOp>(end)) {
    next = jump.getDest();
  } else if (auto branch = dyn_cast<cf::CondBranchOp>(end)) {
    bool first = endsAtOnce(branch.getTrueDest()), second = endsAtOnce(branch.getFalseDest());
    next = first ? branch.getFalseDest() : second ? branch.getTrueDest() : nullptr;
  }
  return next && next->hasOneUse() && !next->isEntryBlock() ? next : nullptr;
}

// Every block that does not follow its only predecessor in the text is the head of a chain.
void FunctionWriter::formChains() {
  llvm::SmallDenseSet<Block *> inside; // blocks that are inside of a chain, or ways out
  for (Block &block : function.getBody()) {
    if (Block *next = following(&block)) {
      inside.insert(next);
    }
    if (auto branch = dyn_cast<cf::CondBranchOp>(block.getTerminator())) {
      for (Block *way : {branch.getTrueDest(), branch.getFalseDest()}) {
        if (endsAtOnce(way) && way != following(&block)) {
          inside.insert(way);
        }
      }
    }
  }
  for (Block &block : function.getBody()) {
    if (inside.contains(&block)) {
      continue;
    }
    chains.push_back({&block, {}, ""});
    for (Block *at = &block; at; at = following(at)) {
      chains.back().blocks.push_back(at);
      chainOf[at] = chains.size() - 1;
      if (auto branch = dyn_cast<cf::CondBranchOp>(at->getTerminator())) {
        for (Block *way : {branch.getTrueDest(), branch.getFalseDest()}) {
          if (inside.contains(way) && endsAtOnce(way)) {
            chainOf[way] = chains.size() - 1;
          }
        }
      }
    }
  }
}

/// Declares variables for values that more than one chain knows: arguments of their first blocks, and values that
/// others use.
void FunctionWriter::shareValues() {
  auto share = [&](Value value) {
    std::string type = typeName(value.getType()), name = newName(value.getType());
    shared[value] = name;
    known[value] = {name};
    bool isPointer = StringRef(type).ends_with("*");
    line(type + (isPointer ? "" : " ") + name + " = {};");
  };
  for (Block &block : function.getBody()) {
    bool isHead = !block.isEntryBlock() && chains[chainOf.lookup(&block)].head == &block;
    for (BlockArgument argument : block.getArguments()) {
      if (isHead) {
        share(argument);
      }
    }
    for (Operation &op : block) {
      for (Value result : op.getResults()) {
        bool isElsewhere = llvm::any_of(result.getUsers(), [&](Operation *user) {
          return chainOf.lookup(function.getBody().findAncestorBlockInRegion(*user->getBlock())) !=
                 chainOf.lookup(&block);
        });
        if (isElsewhere && !isa<arith::ConstantOp, memref::AllocaOp, memref::GetGlobalOp>(op)) {
          share(result);
        }
      }
    }
  }
}

void FunctionWriter::endAtOnce(Block *block) {
  visitAll(*block);
  auto end = cast<func::ReturnOp>(block->getTerminator());
  line(end.getNumOperands() ? "return " + argument(end.getOperand(0)) + ";" : "return;");
}

/// Goes on to block `to`; `inside` follows without a label, and `next` with one.
void FunctionWriter::jump(Block *from, Block *to, ValueRange operands, Block *inside, Block *next) {
  if (to == inside) {
    for (auto [argument, operand] : llvm::zip_equal(to->getArguments(), operands)) {
      known[argument] = named(operand);
    }
    return;
  }
  SmallVector<std::string> variables =
      llvm::map_to_vector(to->getArguments(), [&](BlockArgument argument) { return shared.lookup(argument); });
  assign(variables, operands);
  if (to != next) {
    targets.insert(to);
    line("goto block" + std::to_string(chainOf.lookup(to)) + ";");
  }
}

void FunctionWriter::end(Block &block, Block *inside, Block *next) {
  Operation *terminator = block.getTerminator();
  if (auto branch = dyn_cast<cf::BranchOp>(terminator)) {
    return jump(&block, branch.getDest(), branch.getDestOperands(), inside, next);
  }
  auto branch = dyn_cast<cf::CondBranchOp>(terminator);
  if (!branch) {
    return refuse(*terminator);
  }
  Expression condition = take(branch.getCondition());
  for (Value operand : terminator->getOperands()) {
    named(operand);
  }
  flushReads();
  bool first = branch.getTrueDest() != inside && chainOf.lookup(branch.getTrueDest()) == chainOf.lookup(&block) &&
               endsAtOnce(branch.getTrueDest());
  bool second = !first && branch.getFalseDest() != inside &&
                chainOf.lookup(branch.getFalseDest()) == chainOf.lookup(&block) && endsAtOnce(branch.getFalseDest());
  open("if (" + (second ? "!" + asOperand(condition, Rank::Name) : condition.text) + ")");
  if (first || second) {
    endAtOnce(first ? branch.getTrueDest() : branch.getFalseDest());
  } else {
    jump(&block, branch.getTrueDest(), branch.getTrueDestOperands(), nullptr, nullptr);
  }
  close();
  second ? jump(&block, branch.getTrueDest(), branch.getTrueDestOperands(), inside, next)
         : jump(&block, branch.getFalseDest(), branch.getFalseDestOperands(), inside, next);
}

void FunctionWriter::writeChain(BlockChain &chain, Block *next) {
  for (size_t i = 0; i < chain.blocks.size(); ++i) {
    Block *block = chain.blocks[i], *inside = i + 1 < chain.blocks.size() ? chain.blocks[i + 1] : nullptr;
    visitAll(*block);
    if (auto end = dyn_cast<func::ReturnOp>(block->getTerminator())) {
      if (end.getNumOperands()) {
        line("return " + argument(end.getOperand(0)) + ";");
      } else if (chains.size() > 1) {
        line("return;");
      }
    } else {
      this->end(*block, inside, inside ? nullptr : next);
    }
  }
}

} // namespace ingot::emit::cpp
