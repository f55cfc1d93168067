// Every op outside of loops counts once, in a loop as often as the loop turns when the kernel runs all its items.
#include "compiler/lower/Work.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ingot::lower {
namespace {

constexpr int64_t mathCost = 16;  ///< instructions that an exponential or its like becomes
constexpr int64_t someSize = 256; ///< of a symbol
constexpr int64_t someTurns = 4;  ///< of a loop whose bounds depend on an outer loop: the rest of a tile

struct Counter {
  func::FuncOp kernel;
  int64_t items, lanes;

  int64_t inBlock(Block &block) {
    int64_t sum = 0;
    for (Operation &op : block) {
      sum += ofOp(op);
    }
    return sum;
  }

  int64_t ofOp(Operation &op) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      return turnsOf(loop) * (inBlock(*loop.getBody()) + 2);
    }
    int64_t sum = matchPattern(&op, m_Constant()) || op.hasTrait<OpTrait::IsTerminator>() ? 0 : costOf(op);
    for (Region &region : op.getRegions()) {
      for (Block &block : region) {
        sum += inBlock(block);
      }
    }
    return sum;
  }

  int64_t costOf(Operation &op) {
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

  int64_t turnsOf(scf::ForOp loop) {
    auto from = numberOf(loop.getLowerBound()), to = numberOf(loop.getUpperBound()), step = numberOf(loop.getStep());
    if (!from || !to || !step || *step <= 0) {
      return someTurns;
    }
    return *to <= *from ? 0 : llvm::divideCeil(*to - *from, *step);
  }

  /// An index when the range is [0, items); empty when it depends on a loop or on data.
  std::optional<int64_t> numberOf(Value v) {
    llvm::APInt constant;
    if (matchPattern(v, m_ConstantInt(&constant))) {
      return constant.getSExtValue();
    }
    if (auto argument = dyn_cast<BlockArgument>(v)) {
      unsigned n = kernel.getNumArguments();
      if (argument.getOwner() != &kernel.front()) {
        return std::nullopt;
      }
      unsigned i = argument.getArgNumber();
      return i + 2 == n ? 0 : i + 1 == n ? items : someSize; // begin, end, a symbol
    }
    Operation *op = v.getDefiningOp();
    if (isa<arith::IndexCastOp>(op) || op->getName().getStringRef() == "llvm.intr.expect") { // see opaque()
      return numberOf(op->getOperand(0));
    }
    if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivUIOp, arith::RemUIOp, arith::MinSIOp,
             arith::MaxSIOp>(op)) {
      return std::nullopt;
    }
    auto a = numberOf(op->getOperand(0)), b = numberOf(op->getOperand(1));
    return a && b ? compute(op, *a, *b) : std::nullopt;
  }

  static std::optional<int64_t> compute(Operation *op, int64_t a, int64_t b) {
    if (isa<arith::DivUIOp, arith::RemUIOp>(op)) {
      return b == 0 ? std::nullopt : std::optional(isa<arith::DivUIOp>(op) ? a / b : a % b);
    }
    return isa<arith::AddIOp>(op)    ? a + b
           : isa<arith::SubIOp>(op)  ? a - b
           : isa<arith::MulIOp>(op)  ? a * b
           : isa<arith::MinSIOp>(op) ? std::min(a, b)
                                     : std::max(a, b);
  }
};

} // namespace

int64_t workOf(func::FuncOp kernel, const support::Size &items, int64_t lanes) {
  std::optional<int64_t> count = items.evaluate([](StringRef) { return std::optional(someSize); });
  return Counter{kernel, count.value_or(1), lanes}.inBlock(kernel.front());
}

} // namespace ingot::lower
