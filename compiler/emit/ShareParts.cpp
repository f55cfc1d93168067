// Makes functions of parts of functions that are alike, and one of those that differ in numbers alone: kernels of
// layers whose sizes differ have the same loops within, and the same long blocks (the transforms of a convolution by
// Winograd's method, what integers of a tile become). shareFunctions says what is one; a part that shares with nobody
// goes back to where it was.
//
// A part is a loop with what it contains, or the middle of a block, from behind its phis to its last store. It has one
// way in and one out, and no code behind it uses its values: all that it computes is in memory. Of parts within each
// other the outermost one is taken that occurs twice.
#include "compiler/emit/Analyses.h"
#include "compiler/emit/CodeGen.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/CodeExtractor.h"

using namespace llvm;

namespace {

/// The fewest instructions of a part that are worth a call: a run goes through some parts often.
constexpr size_t leastInstructions = 100;

/// Instructions from `begin` to `end` of a block; or of a loop's blocks, where `begin` is null.
struct Part {
  SmallVector<BasicBlock *> blocks;
  Instruction *begin = nullptr, *end = nullptr;

  template <typename F> void forEach(F visit) const {
    if (begin) {
      for (Instruction &instruction : make_range(begin->getIterator(), end->getIterator())) {
        visit(instruction);
      }
      return;
    }
    for (BasicBlock *block : blocks) {
      for (Instruction &instruction : *block) {
        visit(instruction);
      }
    }
  }

  size_t size() const {
    size_t count = 0;
    forEach([&](Instruction &) { ++count; });
    return count;
  }

  /// A number that parts which are alike have in common.
  size_t key() const {
    hash_code key = hash_value(blocks.size());
    forEach([&](Instruction &instruction) { key = hash_combine(key, instruction.getOpcode(), instruction.getType()); });
    return key;
  }

  /// Returns whether no code behind the part uses a value that the part computes.
  bool isClosed() const {
    DenseSet<const Instruction *> within;
    forEach([&](Instruction &instruction) { within.insert(&instruction); });
    bool closed = true;
    forEach([&](Instruction &instruction) {
      closed &= !isa<AllocaInst>(instruction) &&
                all_of(instruction.users(), [&](const User *user) { return within.contains(cast<Instruction>(user)); });
    });
    return closed;
  }
};

class Parts {
public:
  void count(Function &function) {
    visit(function, [&](const Part &part) {
      ++occurrences[part.key()];
      return false;
    });
  }

  /// Makes functions of the parts that occur several times.
  void extract(Function &function, std::vector<Function *> &made) {
    std::vector<Part> chosen;
    visit(function, [&](const Part &part) {
      bool isChosen = occurrences[part.key()] > 1;
      if (isChosen) {
        chosen.push_back(part);
      }
      return isChosen;
    });
    for (Part &part : chosen) {
      if (part.begin) {
        part.begin->getParent()->splitBasicBlock(part.end);
        part.blocks = {part.begin->getParent()->splitBasicBlock(part.begin)};
      }
    }
    for (const Part &part : chosen) {
      CodeExtractorAnalysisCache cache(function);
      CodeExtractor extractor(part.blocks, /*DT=*/nullptr, /*AggregateArgs=*/false, /*BFI=*/nullptr, /*BPI=*/nullptr,
                              /*AC=*/nullptr, /*AllowVarArgs=*/false, /*AllowAlloca=*/false,
                              /*AllocationBlock=*/nullptr, "part");
      if (extractor.isEligible()) {
        if (Function *outlined = extractor.extractCodeRegion(cache)) {
          made.push_back(outlined);
        }
      }
    }
  }

private:
  using Visitor = function_ref<bool(const Part &)>;

  /// Calls `visit` for parts, outer ones first, and for those within while it is false.
  static void visit(Function &function, Visitor visit) {
    DominatorTree dominators(function);
    LoopInfo loops(dominators);
    for (Loop *loop : loops) {
      visitLoop(*loop, loops, visit);
    }
    for (BasicBlock &block : function) {
      if (!loops.getLoopFor(&block)) {
        visitBlock(block, visit);
      }
    }
  }

  static void visitLoop(Loop &loop, LoopInfo &loops, Visitor visit) {
    Part part;
    llvm::append_range(part.blocks, loop.blocks());
    bool mayBePart = loop.getLoopPreheader() && loop.getExitingBlock() && loop.getExitBlock();
    if (part.size() < leastInstructions || (mayBePart && part.isClosed() && visit(part))) {
      return;
    }
    for (Loop *inner : loop) {
      visitLoop(*inner, loops, visit);
    }
    for (BasicBlock *block : loop.blocks()) {
      if (loops.getLoopFor(block) == &loop) {
        visitBlock(*block, visit);
      }
    }
  }

  static void visitBlock(BasicBlock &block, Visitor visit) {
    auto last = find_if(reverse(block), [](const Instruction &instruction) { return isa<StoreInst>(instruction); });
    if (last == block.rend() || block.size() < leastInstructions) {
      return;
    }
    Part part{{}, &*block.getFirstInsertionPt(), last->getNextNode()};
    if (part.size() >= leastInstructions && part.isClosed()) {
      visit(part);
    }
  }

  DenseMap<size_t, unsigned> occurrences;
};

} // namespace

void ingot::emit::shareParts(Module &ir, TargetMachine &target) {
  Parts parts;
  std::vector<Function *> functions, made;
  for (Function &function : ir) {
    if (!function.isDeclaration() && function.hasLocalLinkage()) {
      functions.push_back(&function);
      parts.count(function);
    }
  }
  for (Function *function : functions) {
    parts.extract(*function, made);
  }
  shareFunctions(ir);
  for (Function *part : made) { // what calls a body, or is one of its own
    part->addFnAttr(Attribute::AlwaysInline);
  }
  PassBuilder builder(&target);
  Analyses analyses(builder);
  ModulePassManager passes;
  cantFail(builder.parsePassPipeline(passes, "always-inline,function(simplifycfg),globaldce"));
  passes.run(ir, analyses.modules);
}
