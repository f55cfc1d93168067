// Counts instructions. An op outside of loops counts once, and an op in a loop as often as the loop iterates when the
// kernel runs all its items.
#include "compiler/lower/core/KernelWork.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ingot::lower {
namespace {

using support::Size;

constexpr int64_t mathCost = 16;  ///< instructions that an exponential or its like is expanded to
constexpr int64_t tileCost = 8;   ///< instructions that take as long as one on a matrix register
constexpr int64_t someSize = 256; ///< the value of a symbol in typicalWork()
/// How often a loop is taken to iterate whose bounds depend on an outer loop or on data, such as one over the rest of a
/// tile.
constexpr int64_t someIterations = 4;

/// Counts the instructions of one kernel.
struct InstructionCount {
  func::FuncOp kernel;
  ArrayRef<support::Symbol> symbols;
  Size items;
  int64_t lanes;
  bool dividesBySizes = false;

  Size inBlock(Block &block) {
    Size sum = 0;
    for (Operation &op : block) {
      sum = sum + ofOp(op);
    }
    return sum;
  }

  Size ofOp(Operation &op) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      return iterationsOf(loop) * (inBlock(*loop.getBody()) + 2);
    }
    Size sum = matchPattern(&op, m_Constant()) || op.hasTrait<OpTrait::IsTerminator>() ? 0 : costOf(op);
    for (Region &region : op.getRegions()) {
      for (Block &block : region) {
        sum = sum + inBlock(block);
      }
    }
    return sum;
  }

  /// Returns the instructions of one op, without its regions. An op on long vectors takes one for each register.
  int64_t costOf(Operation &op) {
    if (op.getName().getStringRef() == "llvm.call_intrinsic" && op.getNumResults() == 0) {
      return tileCost;
    }
    int64_t longest = 1;
    for (Type type : llvm::concat<const Type>(op.getOperandTypes(), op.getResultTypes())) {
      if (auto vector = dyn_cast<VectorType>(type)) {
        longest = std::max(longest, vector.getNumElements());
      }
    }
    int64_t vectors = llvm::divideCeil(longest, std::max<int64_t>(1, lanes));
    bool function = isa_and_nonnull<math::MathDialect>(op.getDialect()) && !isa<math::FmaOp>(op);
    return vectors * (function ? mathCost : 1);
  }

  /// Returns how often a loop iterates.
  Size iterationsOf(scf::ForOp loop) {
    auto from = sizeOf(loop.getLowerBound()), to = sizeOf(loop.getUpperBound()), step = sizeOf(loop.getStep());
    bool isCounted = from && to && step && step->isNumber() && step->number() > 0;
    return isCounted ? max(0, ceilDiv(*to - *from, *step)) : Size(someIterations);
  }

  /// Returns the value of an index, when the range of work items is [0, items); nothing when it depends on a loop or on
  /// data.
  std::optional<Size> sizeOf(Value v) {
    llvm::APInt constant;
    if (matchPattern(v, m_ConstantInt(&constant))) {
      return constant.getSExtValue();
    }
    if (auto argument = dyn_cast<BlockArgument>(v)) {
      if (argument.getOwner() != &kernel.front()) {
        return std::nullopt;
      }
      // The last arguments are the symbols, begin and end.
      size_t behind = kernel.getNumArguments() - argument.getArgNumber();
      return behind == 2 ? Size(0) : behind == 1 ? items : Size(symbols[symbols.size() + 2 - behind]);
    }
    Operation *op = v.getDefiningOp();
    if (isa<arith::IndexCastOp>(op) ||
        op->getName().getStringRef() == "llvm.intr.expect") { // see optimizationBarrier()
      return sizeOf(op->getOperand(0));
    }
    if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivUIOp, arith::RemUIOp, arith::MinSIOp,
             arith::MaxSIOp>(op)) {
      return std::nullopt;
    }
    auto a = sizeOf(op->getOperand(0)), b = sizeOf(op->getOperand(1));
    Size size = a && b ? compute(op, *a, *b) : Size::unknown();
    return size.isUnknown() ? std::nullopt : std::optional(size);
  }

  Size compute(Operation *op, const Size &a, const Size &b) {
    if (isa<arith::DivUIOp, arith::RemUIOp>(op)) {
      Size quotient = floorDiv(a, b);
      dividesBySizes |= !b.isNumber() && !quotient.isNumber();
      return isa<arith::DivUIOp>(op) ? quotient : a - b * quotient;
    }
    return isa<arith::AddIOp>(op)    ? a + b
           : isa<arith::SubIOp>(op)  ? a - b
           : isa<arith::MulIOp>(op)  ? a * b
           : isa<arith::MinSIOp>(op) ? min(a, b)
                                     : max(a, b);
  }
};

} // namespace

KernelWork workOf(func::FuncOp kernel, ArrayRef<support::Symbol> symbols, const Size &items, int64_t lanes) {
  InstructionCount counter{kernel, symbols, items, lanes};
  Size instructions = counter.inBlock(kernel.front());
  return {instructions, counter.dividesBySizes};
}

int64_t typicalWork(const Size &work) {
  return work.evaluate([](StringRef) { return std::optional(someSize); }).value_or(std::numeric_limits<int64_t>::max());
}

} // namespace ingot::lower
