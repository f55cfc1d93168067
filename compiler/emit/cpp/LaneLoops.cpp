// Makes vectors loops over their lanes, which compilers make vectors of again, of the length that their processor has.
//
// Operations that work lane by lane are gathered, block by block, and become one loop, in which one lane of a result is
// a scalar that the next operation reads. Operations in front of which all lanes have to be known (a shuffle, a sum
// over lanes, a loop around others) end the gathering, and so do those on memory whose order a loop over lanes would
// change. A vector that outlives a loop is an array. A value that a loop carries is one array for all iterations, in
// which it is changed: the array of the loop around it, if that carries it only for this one. Compilers keep such
// arrays in registers.
//
// A vector whose lanes are equal is a scalar.
#include "compiler/emit/cpp/Cpp.h"
#include "compiler/emit/cpp/LaneGathering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ingot::emit::cpp {
namespace {

class LaneLoops : LaneGathering {
public:
  explicit LaneLoops(func::FuncOp function) : LaneGathering(function) {}

  LogicalResult run() {
    for (Block &block : function.getBody()) {
      for (BlockArgument argument : block.getArguments()) {
        if (vectorOf(argument)) {
          return function.emitOpError("has vectors that basic blocks hand on");
        }
      }
      visit(block);
    }
    for (Operation *op : dead) {
      op->dropAllReferences();
    }
    for (Operation *op : dead) {
      op->erase();
    }
    return success(!failed);
  }

private:
  // These visit all operations of a block.

  void visit(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      visit(&op);
    }
  }

  void visit(Operation *op) {
    if (op->hasTrait<OpTrait::IsTerminator>()) {
      if (!isa<scf::YieldOp, scf::ConditionOp>(op)) { // the operation around it ends the loop itself
        flush(op);
      }
      return;
    }
    if (op->getNumRegions()) {
      return visitRegions(op);
    }
    if (!hasVectors(op)) {
      bool isPure = isMemoryEffectFree(op) || isa<memref::AllocaOp>(op);
      bool onlyReads = isa<memref::LoadOp>(op) && !writesMemory();
      return isPure || onlyReads ? void() : flush(op);
    }
    bool isLaneWise = OpTrait::hasElementwiseMappableTraits(op) || isa<vector::FMAOp>(op) || accessOf(op);
    if (isLaneWise && !isa<arith::ConstantOp>(op)) {
      return gather(op);
    }
    b.setInsertionPoint(op);
    bool isKnown = llvm::TypeSwitch<Operation *, bool>(op)
                       .Case<arith::ConstantOp, vector::BroadcastOp, vector::ShuffleOp, vector::ExtractOp,
                             vector::InsertOp, vector::ReductionOp, vector::FromElementsOp, vector::ToElementsOp>(
                           [&](auto each) { return expand(each); })
                       .Default(op->getName().getStringRef() == "ub.poison" && expandPoison(op));
    if (!isKnown) {
      refuse(op);
    }
    dead.push_back(op);
  }

  /// Reports an operation, and goes on with any value in place of its vectors.
  void refuse(Operation *op) {
    op->emitOpError("has no form in C++ source");
    failed = true;
    b.setInsertionPoint(op);
    for (Value result : op->getResults()) {
      if (vectorOf(result)) {
        arrays[result] = newArray(vectorOf(result));
      }
    }
  }

  // These expand operations that are not lane by lane.

  bool expand(arith::ConstantOp constant) {
    auto values = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!values) {
      return false;
    }
    if (values.isSplat()) {
      splats[constant] = arith::ConstantOp::create(b, loc(), values.getSplatValue<TypedAttr>());
      return true;
    }
    arrays[constant] = newArray(vectorOf(constant));
    for (auto [i, value] : llvm::enumerate(values.getValues<TypedAttr>())) {
      setElement(arith::ConstantOp::create(b, loc(), value), arrays[constant], index(int64_t(i)));
    }
    return true;
  }

  bool expandPoison(Operation *op) { // any value will do
    Type element = vectorOf(op->getResult(0)).getElementType();
    splats[op->getResult(0)] = arith::ConstantOp::create(b, loc(), element, b.getZeroAttr(element));
    return true;
  }

  bool expand(vector::BroadcastOp op) {
    if (vectorOf(op.getSource())) {
      return false;
    }
    splats[op] = op.getSource();
    return true;
  }

  /// Makes sure that all lanes of the operands are known behind this.
  void flushBefore(Operation *op) {
    flush(op);
    b.setInsertionPoint(op);
  }

  bool expand(vector::ShuffleOp op) {
    flushBefore(op);
    ArrayRef<int64_t> mask = op.getMask();
    bool isPart = mask[0] >= 0 && mask.back() < vectorOf(op.getV1()).getNumElements();
    for (size_t i = 1; i < mask.size(); ++i) {
      isPart &= mask[i] == mask[0] + int64_t(i);
    }
    if (isPart) {
      parts[op] = {op.getV1(), mask[0]};
      return true;
    }
    int64_t first = vectorOf(op.getV1()).getNumElements();
    arrays[op] = newArray(vectorOf(op.getResult()));
    for (auto [i, from] : llvm::enumerate(mask)) {
      if (from >= 0) {
        setElement(from < first ? lane(op.getV1(), from) : lane(op.getV2(), from - first), arrays[op],
                   index(int64_t(i)));
      }
    }
    return true;
  }

  Value numberOf(OpFoldResult position) {
    auto fixed = dyn_cast<Attribute>(position);
    return fixed ? index(cast<IntegerAttr>(fixed).getInt()) : cast<Value>(position);
  }

  bool expand(vector::ExtractOp op) {
    SmallVector<OpFoldResult> positions = op.getMixedPosition();
    if (positions.size() != 1) {
      return false;
    }
    flushBefore(op);
    op.getResult().replaceAllUsesWith(lane(op.getSource(), numberOf(positions[0])));
    return true;
  }

  bool expand(vector::InsertOp op) {
    SmallVector<OpFoldResult> positions = op.getMixedPosition();
    if (positions.size() != 1 || vectorOf(op.getValueToStore())) {
      return false;
    }
    flushBefore(op);
    arrays[op] = newArray(vectorOf(op.getResult()));
    copy(op.getDest(), arrays[op], op);
    flush(op);
    b.setInsertionPoint(op);
    setElement(op.getValueToStore(), arrays[op], numberOf(positions[0]));
    return true;
  }

  /// Reduces from the first lane to the last.
  bool expand(vector::ReductionOp op) {
    constexpr size_t mostUnrolled = 32; // operations; clang++ leaves longer loops as they are
    bool isCondition = vectorOf(op.getVector()).getElementType().isInteger(1);
    flush(op, isCondition && gatheredCount() < mostUnrolled ? "INGOT_WHOLE" : "INGOT_LANES");
    flushBefore(op);
    int64_t length = vectorOf(op.getVector()).getNumElements();
    Value start = op.getAcc() ? op.getAcc() : lane(op.getVector(), 0);
    auto loop = scf::ForOp::create(b, loc(), index(op.getAcc() ? 0 : 1), index(length), index(1), start);
    b.setInsertionPointToStart(loop.getBody());
    Value next = vector::makeArithReduction(b, loc(), op.getKind(), loop.getRegionIterArg(0),
                                            lane(op.getVector(), loop.getInductionVar()));
    scf::YieldOp::create(b, loc(), next);
    op.getResult().replaceAllUsesWith(loop.getResult(0));
    return true;
  }

  bool expand(vector::FromElementsOp op) {
    arrays[op] = newArray(vectorOf(op.getResult()));
    for (auto [i, value] : llvm::enumerate(op.getElements())) {
      setElement(value, arrays[op], index(int64_t(i)));
    }
    return true;
  }

  bool expand(vector::ToElementsOp op) {
    flushBefore(op);
    for (auto [i, result] : llvm::enumerate(op.getElements())) {
      result.replaceAllUsesWith(lane(op.getSource(), int64_t(i)));
    }
    return true;
  }

  // These visit operations with regions, whose vectors are arrays that are changed in place.

  void visitRegions(Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case<scf::ForOp, scf::IfOp, scf::WhileOp>([&](auto each) { visit(each); })
        .Default([&](Operation *) {
          flush(op);
          for (Region &region : op->getRegions()) {
            for (Block &block : region) {
              visit(block);
              flush(block.getTerminator());
            }
          }
        });
  }

  /// Returns the array of a carried vector that starts as `start`: that of the value if nobody else needs it.
  Value carrier(Value start, Operation *loop) {
    Value array = arrays.lookup(start);
    Operation *from = start.getDefiningOp();
    bool isCarried = from ? isa<scf::ForOp, scf::WhileOp>(from) && from->getBlock() == loop->getBlock()
                          : bodyOf.lookup(start) == loop->getBlock();
    if (array && isCarried && start.hasOneUse()) {
      return array;
    }
    b.setInsertionPoint(loop);
    Value own = newArray(vectorOf(start));
    copy(start, own, loop);
    return own;
  }

  /// Copies the values of a region's end to where they are wanted; its terminator hands on the others.
  template <typename Yield> void end(Yield yield, ValueRange values, ArrayRef<Value> wanted) {
    for (auto [value, array] : llvm::zip_equal(values, wanted)) {
      if (array) {
        copy(value, array, yield);
      }
    }
    flush(yield);
  }

  static SmallVector<Value> withoutVectors(ValueRange values) {
    return llvm::filter_to_vector(values, [](Value value) { return !vectorOf(value); });
  }

  /// Moves the operations of `block` to the end of `other`, and makes its arguments those of `other`.
  void moveBody(Block *block, Block *other, ArrayRef<Value> carriers) {
    unsigned next = 0;
    for (auto [argument, array] : llvm::zip_equal(block->getArguments(), carriers)) {
      if (array) {
        arrays[argument] = array;
        bodyOf[argument] = other;
      } else {
        argument.replaceAllUsesWith(other->getArgument(next++));
      }
    }
    other->getOperations().splice(other->end(), block->getOperations());
  }

  void replaceResults(Operation *op, Operation *by, ArrayRef<Value> carriers) {
    unsigned next = 0;
    for (auto [result, array] : llvm::zip_equal(op->getResults(), carriers)) {
      if (array) {
        arrays[result] = array;
      } else {
        result.replaceAllUsesWith(by->getResult(next++));
      }
    }
    dead.push_back(op);
  }

  void visit(scf::ForOp loop) {
    SmallVector<Value> carriers;
    for (Value start : loop.getInitArgs()) {
      carriers.push_back(vectorOf(start) ? carrier(start, loop) : Value());
    }
    flush(loop);
    b.setInsertionPoint(loop);
    auto plain = scf::ForOp::create(b, loc(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep(),
                                    withoutVectors(loop.getInitArgs()));
    plain->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    plain.getBody()->clear();
    SmallVector<Value> ofArguments = {Value()};
    ofArguments.append(carriers);
    moveBody(loop.getBody(), plain.getBody(), ofArguments);
    visit(*plain.getBody());
    auto yield = cast<scf::YieldOp>(plain.getBody()->getTerminator());
    end(yield, yield.getOperands(), carriers);
    yield->setOperands(withoutVectors(yield.getOperands()));
    replaceResults(loop, plain, carriers);
  }

  void visit(scf::IfOp branch) {
    flush(branch);
    b.setInsertionPoint(branch);
    SmallVector<Value> carriers = llvm::map_to_vector(
        branch.getResults(), [&](Value result) { return vectorOf(result) ? newArray(vectorOf(result)) : Value(); });
    SmallVector<Type> types =
        llvm::map_to_vector(withoutVectors(branch.getResults()), [](Value value) { return value.getType(); });
    auto plain = scf::IfOp::create(b, loc(), types, branch.getCondition(), /*addThenBlock=*/false,
                                   /*addElseBlock=*/false);
    for (auto [from, to] : llvm::zip_equal(branch->getRegions(), plain->getRegions())) {
      to.takeBody(from);
      for (Block &block : to) {
        visit(block);
        auto yield = cast<scf::YieldOp>(block.getTerminator());
        end(yield, yield.getOperands(), carriers);
        yield->setOperands(withoutVectors(yield.getOperands()));
      }
    }
    replaceResults(branch, plain, carriers);
  }

  void visit(scf::WhileOp loop) {
    flush(loop);
    if (!hasVectors(loop) && !hasVectors(loop.getConditionOp())) {
      for (Region &region : loop->getRegions()) {
        visit(region.front());
        flush(region.front().getTerminator());
      }
      return;
    }
    for (Region &region : loop->getRegions()) {
      for (BlockArgument argument : region.getArguments()) {
        if (vectorOf(argument)) {
          arrays[argument] = newArray(vectorOf(argument));
        }
      }
    }
    refuse(loop);
  }

  bool failed = false;
  llvm::DenseMap<Value, Block *> bodyOf; ///< the body of the loop that carries an argument
};

} // namespace

LogicalResult lanesToLoops(func::FuncOp function) {
  function.getContext()->loadDialect<arith::ArithDialect, memref::MemRefDialect, scf::SCFDialect>();
  return LaneLoops(function).run();
}

} // namespace ingot::emit::cpp
