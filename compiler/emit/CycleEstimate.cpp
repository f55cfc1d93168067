#include "compiler/emit/CycleEstimate.h"
#include "compiler/emit/Analyses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include <cmath>

using namespace llvm;

namespace ingot::emit {
namespace {

using Cycles = target::MachineModel::InstructionCycles;

/// The cycles of a call of the support library or of the C compiler's library, whose code the estimate does not see.
constexpr double libraryCall = 100;

double cyclesOfIntrinsic(const IntrinsicInst &call, const Cycles &cycles) {
  if (call.isAssumeLikeIntrinsic()) {
    return 0;
  }
  switch (call.getIntrinsicID()) {
  case Intrinsic::sqrt:
    return cycles.floatDivide;
  case Intrinsic::vector_reduce_add: // it is one instruction with the products in front of it
    return 0;
  case Intrinsic::smax:
  case Intrinsic::smin:
  case Intrinsic::umax:
  case Intrinsic::umin:
  case Intrinsic::abs:
    return 2 * cycles.others;
  default:
    return call.getType()->isFPOrFPVectorTy() ? cycles.floats : cycles.others;
  }
}

/// Additions, products and conversions of 64-bit integers are a few instructions.
double cyclesOf(const Instruction &op, const Cycles &cycles) {
  switch (op.getOpcode()) {
  case Instruction::Load:
    return cycles.load;
  case Instruction::Store:
    return cycles.store;
  case Instruction::Mul:
    return cycles.multiply;
  case Instruction::UDiv:
  case Instruction::SDiv:
  case Instruction::URem:
  case Instruction::SRem:
    return cycles.divide;
  case Instruction::FDiv:
    return cycles.floatDivide;
  case Instruction::FAdd:
  case Instruction::FSub:
  case Instruction::FMul:
  case Instruction::FNeg:
  case Instruction::FCmp:
  case Instruction::SIToFP:
  case Instruction::UIToFP:
  case Instruction::FPToSI:
  case Instruction::FPToUI:
    return cycles.floats;
  case Instruction::Br:
    return cast<BranchInst>(op).isConditional() ? cycles.branch : 0;
  case Instruction::Select:
    return 2 * cycles.others;
  // These are parts of others, or become none: addresses are those of loads and stores, extensions are loads'.
  case Instruction::PHI:
  case Instruction::GetElementPtr:
  case Instruction::Trunc:
  case Instruction::ZExt:
  case Instruction::SExt:
  case Instruction::BitCast:
  case Instruction::IntToPtr:
  case Instruction::PtrToInt:
  case Instruction::ExtractElement:
  case Instruction::Unreachable:
    return 0;
  default:
    return cycles.others;
  }
}

/// How long reads of the flash wait.
class FlashWaits {
public:
  FlashWaits(const Cycles &cycles, int64_t waitStates) : cycles(cycles), waitStates(static_cast<double>(waitStates)) {}

  /// Returns what the code of an instruction waits that takes so many cycles without that.
  double ofCode(const Instruction &op, double own) const {
    if (cycles.cachesCode || own <= 0) {
      return 0;
    }
    bool leaves = isa<BranchInst>(op) || (isa<CallBase>(op) && !isa<IntrinsicInst>(op));
    double instructions = own < callOfLibrary ? 1 : own;
    return waitStates * ((leaves ? 1 : 0) + instructions * codeBytes / static_cast<double>(cycles.flashLine));
  }

  /// Returns what the operands of an instruction wait that it reads of constants.
  double ofData(const Instruction &op, const DataLayout &layout) const {
    bool isRead = isa<LoadInst>(op) || (isa<IntrinsicInst>(op) && op.mayReadFromMemory() && op.getType()->isSized());
    bool isOfFlash = isRead && llvm::any_of(op.operands(), [&](const Use &operand) {
                       return operand->getType()->isPointerTy() && isInFlash(operand);
                     });
    auto bytes = isOfFlash ? static_cast<double>(layout.getTypeStoreSize(op.getType()).getKnownMinValue()) : 0;
    return waitStates * bytes / static_cast<double>(cycles.flashLine);
  }

  /// Notes which arguments of a function are addresses of constants where it is called.
  void enter(const CallBase &call, Function &callee) {
    for (auto [operand, argument] : llvm::zip(call.args(), callee.args())) {
      if (operand->getType()->isPointerTy() && isInFlash(operand)) {
        constants.insert(&argument);
      }
    }
  }

private:
  /// The mean size of an instruction in bytes: instructions have two or four.
  static constexpr double codeBytes = 3;
  /// An operation of at least so many cycles is a call of a library function, which has about as many instructions.
  static constexpr double callOfLibrary = 20;

  const Cycles &cycles;
  double waitStates;
  SmallPtrSet<const Value *, 32> constants; ///< arguments that are addresses of them

  bool isInFlash(const Value *pointer) const {
    SmallVector<const Value *> objects;
    getUnderlyingObjects(pointer, objects);
    return llvm::all_of(objects, [&](const Value *object) {
      auto *global = dyn_cast<GlobalVariable>(object);
      return global ? global->isConstant() : constants.contains(object);
    });
  }
};

class Estimator {
public:
  Estimator(TargetMachine &target, const Cycles &cycles, int64_t flashWaitStates)
      : cycles(cycles), flash(cycles, flashWaitStates), builder(&target), analyses(builder) {}

  CycleEstimate of(Function &function) {
    add(function, 1);
    CycleEstimate estimate;
    if (!why.empty()) {
      estimate.why = why;
      return estimate;
    }
    double sum = 0;
    for (const auto &[each, own] : all) {
      sum += own;
      estimate.functions.push_back({each->getName().str(), std::llround(own)});
    }
    estimate.cycles = std::llround(sum), estimate.why = "";
    llvm::sort(estimate.functions, [](const auto &a, const auto &b) {
      return std::tuple(-a.cycles, a.name) < std::tuple(-b.cycles, b.name);
    });
    return estimate;
  }

private:
  const Cycles &cycles;
  FlashWaits flash;
  PassBuilder builder;
  Analyses analyses;
  MapVector<Function *, double> all; ///< by function, without what it calls
  std::string why;

  /// Returns how often a loop's body runs each time; nothing: only a run knows. A bound that is not far from what the
  /// type of the loop's index holds is none.
  static std::optional<double> tripsOf(Loop *loop, ScalarEvolution &evolution) {
    constexpr unsigned mostTrips = 1 << 24;
    unsigned trips = evolution.getSmallConstantTripCount(loop);
    trips = trips ? trips : evolution.getSmallConstantMaxTripCount(loop);
    return trips && trips < mostTrips ? std::optional(double(trips)) : std::nullopt;
  }

  void add(Function &function, double times) {
    auto &info = analyses.functions.getResult<LoopAnalysis>(function);
    auto &evolution = analyses.functions.getResult<ScalarEvolutionAnalysis>(function);
    double own = 0;
    for (BasicBlock &block : function) {
      double runs = times;
      for (Loop *loop = info.getLoopFor(&block); loop; loop = loop->getParentLoop()) {
        std::optional<double> trips = tripsOf(loop, evolution);
        if (!trips) {
          why = "function '" + function.getName().str() + "' has a loop whose length only a run knows";
          return;
        }
        runs *= *trips;
      }
      for (Instruction &op : block) {
        double taken = addCalls(op, runs);
        own += runs * (taken + flash.ofCode(op, taken) + flash.ofData(op, function.getDataLayout()));
      }
    }
    all[&function] += own;
  }

  /// Returns the cycles of an instruction, of a call without those of the function, which are added by themselves.
  double addCalls(Instruction &op, double runs) {
    auto *call = dyn_cast<CallBase>(&op);
    if (!call) {
      return cyclesOf(op, cycles);
    }
    if (auto *intrinsic = dyn_cast<IntrinsicInst>(call)) {
      return cyclesOfIntrinsic(*intrinsic, cycles);
    }
    Function *callee = call->getCalledFunction();
    if (!callee || callee->isDeclaration()) {
      return cycles.call + (callee ? libraryCall : 0);
    }
    flash.enter(*call, *callee);
    add(*callee, runs);
    return cycles.call;
  }
};

} // namespace

CycleEstimate estimateCycles(Module &ir, TargetMachine &target, StringRef function, const Cycles &cycles,
                             int64_t flashWaitStates) {
  Function *entry = ir.getFunction(function);
  CycleEstimate estimate;
  if (entry && !entry->isDeclaration()) {
    estimate = Estimator(target, cycles, flashWaitStates).of(*entry);
    estimate.flashWaitStates = flashWaitStates;
  }
  return estimate;
}

} // namespace ingot::emit
