// Each load and store counts as often as the loops around it run. How often that is follows from the numbers that a
// kernel computes its bounds with, where each loop is in its middle iteration: there a tile is whole, and a window is
// inside of its image. Of a branch that depends on data both sides count, and a loop of unknown length counts as one of
// `someTrips` iterations.
#include "compiler/memory/Traffic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"
#include <optional>

using namespace mlir;

namespace ingot::memory {
namespace {

constexpr int64_t someTrips = 16;
constexpr double mostBytes = double(int64_t(1) << 50);

/// Returns the bytes of a scalar or a vector.
double bytesOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  auto vector = dyn_cast<VectorType>(type);
  bool isNumber = element.isIntOrFloat() && (vector || element == type);
  return isNumber ? double(vector ? vector.getNumElements() : 1) * element.getIntOrFloatBitWidth() / 8 : 0;
}

/// What is known of the values of one call of a function.
class Call {
public:
  Call(func::FuncOp function, MutableArrayRef<double> bytes) : function(function), bytes(bytes) {}

  /// Notes what an argument is: a number, or memory of an argument of the kernel.
  void setNumber(unsigned argument, std::optional<int64_t> number) {
    setNumber(function.getArgument(argument), number);
  }
  void setMemory(unsigned argument, unsigned ofKernel) { memories[function.getArgument(argument)] = ofKernel; }

  /// Counts all that the function does, which is called so many times.
  void count(double times) { count(function.getBody().front(), times); }

private:
  func::FuncOp function;
  MutableArrayRef<double> bytes; ///< by argument of the kernel
  llvm::DenseMap<Value, int64_t> numbers;
  llvm::DenseMap<Value, unsigned> memories; ///< memory of an argument of the kernel, or of a part of it

  void setNumber(Value v, std::optional<int64_t> number) {
    if (number) {
      numbers[v] = *number;
    }
  }
  std::optional<int64_t> numberOf(Value v) const {
    auto known = numbers.find(v);
    return known == numbers.end() ? std::nullopt : std::optional(known->second);
  }

  void count(Block &block, double times) {
    for (Operation &op : block) {
      llvm::TypeSwitch<Operation *>(&op)
          .Case([&](scf::ForOp loop) { countLoop(loop, times); })
          .Case([&](func::CallOp call) { countCall(call, times); })
          .Case([&](scf::IfOp branch) { countBranch(branch, times); })
          .Default([&](Operation *other) {
            for (Region &region : other->getRegions()) {
              for (Block &inner : region) {
                count(inner, isa<scf::WhileOp>(other) ? times * someTrips : times);
              }
            }
            countAccess(other, times);
            follow(other);
          });
    }
  }

  void countLoop(scf::ForOp loop, double times) {
    std::optional<int64_t> from = numberOf(loop.getLowerBound()), to = numberOf(loop.getUpperBound());
    std::optional<int64_t> step = numberOf(loop.getStep());
    int64_t trips = someTrips;
    std::optional<int64_t> length = from && to ? llvm::checkedSub(*to, *from) : std::nullopt;
    if (length && step && *step > 0) {
      trips = *length > 0 ? (*length - 1) / *step + 1 : 0;
      setNumber(loop.getInductionVar(), *from + *step * (std::max<int64_t>(trips - 1, 0) / 2));
    }
    for (auto [inner, initial] : llvm::zip_equal(loop.getRegionIterArgs(), loop.getInitArgs())) {
      if (auto memory = memories.find(initial); memory != memories.end()) {
        memories[inner] = memory->second;
      }
    }
    if (trips > 0) {
      count(*loop.getBody(), std::min(times * double(trips), mostBytes));
    }
  }

  void countBranch(scf::IfOp branch, double times) {
    std::optional<int64_t> condition = numberOf(branch.getCondition());
    if (!condition || *condition) {
      count(branch.getThenRegion().front(), times);
    }
    if ((!condition || !*condition) && !branch.getElseRegion().empty()) {
      count(branch.getElseRegion().front(), times);
    }
  }

  void countCall(func::CallOp call, double times) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    if (!callee || callee.isDeclaration()) {
      return;
    }
    Call inner(callee, bytes);
    for (auto [i, operand] : llvm::enumerate(call.getOperands())) {
      inner.setNumber(i, numberOf(operand));
      if (auto memory = memories.find(operand); memory != memories.end()) {
        inner.setMemory(i, memory->second);
      }
    }
    inner.count(times);
  }

  /// Counts the bytes that an op loads or stores.
  void countAccess(Operation *op, double times) {
    auto effects = dyn_cast<MemoryEffectOpInterface>(op);
    if (!effects) {
      return;
    }
    SmallVector<MemoryEffects::EffectInstance> all;
    effects.getEffects(all);
    for (const MemoryEffects::EffectInstance &effect : all) {
      auto memory = effect.getValue() ? memories.find(effect.getValue()) : memories.end();
      bool isRead = isa<MemoryEffects::Read>(effect.getEffect());
      if (memory == memories.end() || (!isRead && !isa<MemoryEffects::Write>(effect.getEffect()))) {
        continue;
      }
      double each = 0; // masks and indices are not larger than what is loaded or stored
      for (Type type : isRead ? TypeRange(op->getResultTypes()) : TypeRange(op->getOperandTypes())) {
        each = std::max(each, bytesOf(type));
      }
      double &sum = bytes[memory->second];
      sum = std::min(sum + each * times, mostBytes);
    }
  }

  /// Notes what is known of the results of an op.
  void follow(Operation *op) {
    if (op->getNumResults() != 1) {
      return;
    }
    for (Value operand :
         isa<MemRefType>(op->getResult(0).getType()) ? op->getOperands() : op->getOperands().take_front(0)) {
      if (auto memory = memories.find(operand); memory != memories.end()) {
        unsigned argument = memory->second;
        memories[op->getResult(0)] = argument;
        return;
      }
    }
    SmallVector<int64_t, 3> given;
    for (Value operand : op->getOperands()) {
      std::optional<int64_t> number = numberOf(operand);
      if (!number) {
        return;
      }
      given.push_back(*number);
    }
    setNumber(op->getResult(0), compute(op, given));
  }

  static std::optional<int64_t> compute(Operation *op, ArrayRef<int64_t> x) {
    using Result = std::optional<int64_t>;
    auto wrapped = [](uint64_t number) { return static_cast<int64_t>(number); };
    uint64_t a = x.empty() ? 0 : static_cast<uint64_t>(x.front()), b = x.empty() ? 0 : static_cast<uint64_t>(x.back());
    bool divides = !x.empty() && x.back() > 0; // kernels divide by sizes
    return llvm::TypeSwitch<Operation *, Result>(op)
        .Case([](arith::ConstantOp constant) {
          auto number = dyn_cast<IntegerAttr>(constant.getValue());
          return number ? Result(number.getValue().getSExtValue()) : std::nullopt;
        })
        .Case([&](arith::AddIOp) { return wrapped(a + b); })
        .Case([&](arith::SubIOp) { return wrapped(a - b); })
        .Case([&](arith::MulIOp) { return wrapped(a * b); })
        .Case<arith::MinSIOp, arith::MinUIOp>([&](auto) { return std::min(x[0], x[1]); })
        .Case<arith::MaxSIOp, arith::MaxUIOp>([&](auto) { return std::max(x[0], x[1]); })
        .Case<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>(
            [&](auto) { return divides ? Result(llvm::divideFloorSigned(x[0], x[1])) : std::nullopt; })
        .Case<arith::CeilDivSIOp, arith::CeilDivUIOp>(
            [&](auto) { return divides ? Result(llvm::divideCeilSigned(x[0], x[1])) : std::nullopt; })
        .Case<arith::RemSIOp, arith::RemUIOp>([&](auto) { return divides ? Result(x[0] % x[1]) : std::nullopt; })
        .Case<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(
            [&](auto) { return x[0]; })
        .Case([&](arith::SelectOp) { return x[0] ? x[1] : x[2]; })
        .Case([&](arith::CmpIOp compare) {
          return int64_t(arith::applyCmpPredicate(compare.getPredicate(), APInt(64, a), APInt(64, b)));
        })
        .Default([](Operation *) { return std::nullopt; });
  }
};

} // namespace

SmallVector<int64_t> trafficOf(func::FuncOp kernel, int64_t items) {
  unsigned count = kernel.getNumArguments();
  SmallVector<double> bytes(count, 0);
  Call call(kernel, bytes);
  for (unsigned i = 0; i < count; ++i) {
    if (isa<MemRefType>(kernel.getArgument(i).getType())) {
      call.setMemory(i, i);
    }
  }
  call.setNumber(count - 2, 0);
  call.setNumber(count - 1, items);
  call.count(1);
  return llvm::map_to_vector(bytes, [](double sum) { return static_cast<int64_t>(sum); });
}

} // namespace ingot::memory
