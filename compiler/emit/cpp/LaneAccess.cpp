// Two accesses may be made lane by lane alternately if no lane of the one meets another lane of the other:
//
//   store %a[%i + 0 .. 7]   load %a[%i + 0 .. 7]     lane L meets lane L alone: may be
//   store %a[%i + 0 .. 7]   load %a[%i + 8 .. 15]    eight elements apart: may be
//   store %a[%i + 0 .. 7]   load %a[%i + 1 .. 8]     lane 1 of the first would change what lane 0 of the second reads
//   store %a[%i + 0 .. 7]   load %a[%j + 0 .. 7]     the distance is not known
//
// Two memories are apart where one is an array of the function, or a parameter that has no alias.
#include "compiler/emit/cpp/LaneAccess.h"
#include "compiler/plan/KernelAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ingot::emit::cpp {

VectorType vectorOf(Value value) { return dyn_cast<VectorType>(value.getType()); }

bool hasVectors(Operation *op) {
  auto isVector = [](Type type) { return isa<VectorType>(type); };
  return llvm::any_of(op->getOperandTypes(), isVector) || llvm::any_of(op->getResultTypes(), isVector);
}

std::optional<LaneAccess> accessOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<LaneAccess>>(op)
      .Case([](vector::LoadOp op) { return LaneAccess{op.getBase(), op.getIndices()[0]}; })
      .Case([](vector::StoreOp op) { return LaneAccess{op.getBase(), op.getIndices()[0], true}; })
      .Case([](vector::MaskedLoadOp op) { return LaneAccess{op.getBase(), op.getIndices()[0]}; })
      .Case([](vector::MaskedStoreOp op) { return LaneAccess{op.getBase(), op.getIndices()[0], true}; })
      .Case([](vector::GatherOp op) { return LaneAccess{op.getBase(), op.getOffsets()[0], false, true}; })
      .Case([](vector::ScatterOp op) { return LaneAccess{op.getBase(), op.getOffsets()[0], true, true}; })
      .Default(std::nullopt);
}

/// Whether memory has nothing in common with memory of another name.
static bool isAlone(Value memory) {
  if (memory.getDefiningOp<memref::AllocaOp>()) {
    return true;
  }
  auto argument = dyn_cast<BlockArgument>(memory);
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  return function && function.getArgAttr(argument.getArgNumber(), plan::noAliasName);
}

/// Returns the array or the parameter that a memory is a view of.
static Value rootOf(Value memory) {
  while (auto view = memory.getDefiningOp<memref::ViewOp>()) {
    memory = view.getSource();
  }
  return memory;
}

/// Returns a value and a number whose sum the value is; a null value: the sum is the number.
static std::pair<Value, int64_t> sumOf(Value value) {
  if (std::optional<int64_t> number = getConstantIntValue(value)) {
    return {Value(), *number};
  }
  if (auto sum = value.getDefiningOp<arith::AddIOp>()) {
    if (std::optional<int64_t> number = getConstantIntValue(sum.getRhs())) {
      auto [inner, distance] = sumOf(sum.getLhs());
      return {inner, distance + *number};
    }
  }
  return {value, 0};
}

bool mayInterleave(const LaneAccess &a, const LaneAccess &b, int64_t lanes) {
  if (!a.writes && !b.writes) {
    return true;
  }
  if (a.memory != b.memory) {
    Value rootA = rootOf(a.memory), rootB = rootOf(b.memory);
    return rootA != rootB && (isAlone(rootA) || isAlone(rootB));
  }
  // Of the same memory: elements that differ by a number known now, none or at least a whole vector.
  auto [baseA, distanceA] = sumOf(a.first);
  auto [baseB, distanceB] = sumOf(b.first);
  int64_t apart = std::abs(distanceA - distanceB);
  return !a.scattered && !b.scattered && baseA == baseB && (apart == 0 || apart >= lanes);
}

} // namespace ingot::emit::cpp
