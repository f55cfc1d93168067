// How the loop of gathered operations is written (flush):
//
//  1. A vector that something outside of the loop reads gets an array. So does one of which a copy was requested.
//  2. The body computes, operation by operation, one lane of each result; ofLane maps a vector to the scalar that is
//     its lane in the body.
//  3. A lane is stored to its array as soon as no operation after it reads what the array had before. The others are
//     stored at the end of the body, when all of them have been computed, so that arrays may be exchanged:
//
//       copy %a to array B, %b to array A     =>     x = a[i]; y = b[i]; B[i] = x; A[i] = y
//
// An access to memory that cannot join (gather) takes along gathered operations whose results only it needs, such as
// the sum that a store stores: they are computed in its loop, and need no array between the two.
#include "compiler/emit/cpp/LaneGathering.h"
#include "compiler/emit/cpp/Cpp.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ingot::emit::cpp {

Value LaneGathering::index(int64_t number) { return arith::ConstantIndexOp::create(b, loc(), number); }

Value LaneGathering::newArray(VectorType type) {
  auto array = memref::AllocaOp::create(b, loc(), MemRefType::get(type.getShape(), type.getElementType()));
  array->setAttr(lanesName, b.getUnitAttr());
  return array;
}

Value LaneGathering::element(Value array, Value lane) { return memref::LoadOp::create(b, loc(), array, lane); }

void LaneGathering::setElement(Value value, Value array, Value lane) {
  memref::StoreOp::create(b, loc(), value, array, lane);
}

// A vector that is a part of another one (`parts`) has no array of its own: its lane i is lane first + i of the other.
Value LaneGathering::lane(Value vector, Value number) {
  if (Value same = splats.lookup(vector)) {
    return same;
  }
  auto part = parts.find(vector);
  if (part == parts.end()) {
    return element(arrays.lookup(vector), number);
  }
  auto [whole, first] = part->second;
  return lane(whole, arith::AddIOp::create(b, loc(), number, index(first)).getResult());
}

void LaneGathering::gather(Operation *op) {
  // Conditions of a select and offsets of a gather have as many lanes as the others: any vector will do.
  int64_t length = 0;
  for (Value value : llvm::concat<Value>(op->getOperands(), op->getResults())) {
    if (VectorType type = vectorOf(value)) {
      length = type.getNumElements();
    }
  }
  std::optional<LaneAccess> access = accessOf(op);
  bool isOther = lanes != 0 && lanes != length;
  bool isBehind =
      access && llvm::any_of(accesses, [&](const LaneAccess &each) { return !mayInterleave(each, *access, length); });
  SmallVector<Operation *> own;
  if (isOther || isBehind) {
    own = isOther ? own : takeExclusiveOperands(op);
    flush(op);
  }
  llvm::append_range(gathered, own);
  lanes = length;
  gathered.push_back(op);
  if (access) {
    accesses.push_back(*access);
  }
}

// The operations are looked at from the last to the first, so that all readers of a result have been looked at before
// the operation that computes it.
SmallVector<Operation *> LaneGathering::takeExclusiveOperands(Operation *store) {
  llvm::SmallDenseSet<Operation *> own = {store};
  for (Operation *op : llvm::reverse(gathered)) {
    auto isOwn = [&](Operation *user) { return own.contains(user); };
    if (!accessOf(op) && llvm::all_of(op->getUsers(), isOwn)) {
      own.insert(op);
    }
  }
  SmallVector<Operation *> taken, rest;
  for (Operation *op : gathered) {
    (own.contains(op) ? taken : rest).push_back(op);
  }
  gathered = std::move(rest);
  return taken;
}

void LaneGathering::copy(Value vector, Value array, Operation *user) {
  if (arrays.lookup(vector) == array) {
    return;
  }
  int64_t length = vectorOf(vector).getNumElements();
  if (lanes != 0 && lanes != length) {
    flush(user);
  }
  lanes = length;
  copies.push_back({vector, array, user});
}

bool LaneGathering::isNeededBy(Operation *user, Value vector) const {
  return !llvm::is_contained(gathered, user) &&
         llvm::none_of(copies, [&](const Copy &each) { return each.vector == vector && each.user == user; });
}

bool LaneGathering::isNotReadFrom(Value array, size_t next, ArrayRef<Copy> all) const {
  auto isArray = [&](Value value) { return arrays.lookup(value) == array && !ofLane.contains(value); };
  return llvm::none_of(ArrayRef(gathered).drop_front(next),
                       [&](Operation *op) { return llvm::any_of(op->getOperands(), isArray); }) &&
         llvm::none_of(all, [&](const Copy &each) { return each.vector && isArray(each.vector); });
}

void LaneGathering::flush(Operation *before, StringRef kind) {
  if (gathered.empty() && copies.empty()) {
    return;
  }
  b.setInsertionPoint(before);
  SmallVector<Copy> all;
  for (Operation *op : gathered) {
    for (Value result : op->getResults()) {
      if (llvm::any_of(result.getUsers(), [&](Operation *user) { return isNeededBy(user, result); })) {
        arrays[result] = newArray(vectorOf(result));
        all.push_back({result, arrays[result], before});
      }
    }
  }
  all.append(copies);
  auto loop = scf::ForOp::create(b, loc(), index(0), index(lanes), index(1));
  loop->setAttr(lanesName, b.getStringAttr(kind));
  b.setInsertionPointToStart(loop.getBody());
  ofLane.clear();
  number = loop.getInductionVar();
  for (auto [i, op] : llvm::enumerate(gathered)) {
    write(op);
    for (Copy &each : all) {
      if (each.vector && each.vector.getDefiningOp() == op && isNotReadFrom(each.array, i + 1, all)) {
        setElement(laneHere(each.vector), each.array, number);
        each.vector = Value();
      }
    }
  }
  llvm::erase_if(all, [](const Copy &each) { return !each.vector; });
  SmallVector<Value> values = llvm::map_to_vector(all, [&](const Copy &each) { return laneHere(each.vector); });
  for (auto [each, value] : llvm::zip_equal(all, values)) {
    setElement(value, each.array, number);
  }
  llvm::append_range(dead, gathered);
  gathered.clear(), accesses.clear(), copies.clear();
  lanes = 0;
}

Value LaneGathering::laneHere(Value vector) {
  if (!vectorOf(vector)) {
    return vector;
  }
  Value &value = ofLane[vector];
  if (!value) {
    value = lane(vector, number);
  }
  return value;
}

/// Returns the index of this lane's element, where that of the first lane is `first`.
Value LaneGathering::position(Value first) { return arith::AddIOp::create(b, loc(), first, number); }

void LaneGathering::write(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](vector::LoadOp load) { ofLane[load] = element(load.getBase(), position(load.getIndices()[0])); })
      .Case([&](vector::StoreOp store) {
        setElement(laneHere(store.getValueToStore()), store.getBase(), position(store.getIndices()[0]));
      })
      .Case([&](vector::MaskedLoadOp load) {
        ofLane[load] = choose(laneHere(load.getMask()), laneHere(load.getPassThru()),
                              [&] { return element(load.getBase(), position(load.getIndices()[0])); });
      })
      .Case([&](vector::GatherOp gather) {
        ofLane[gather] = choose(laneHere(gather.getMask()), laneHere(gather.getPassThru()), [&] {
          return element(gather.getBase(), shifted(gather.getOffsets()[0], laneHere(gather.getIndices())));
        });
      })
      .Case([&](vector::MaskedStoreOp store) {
        Value value = laneHere(store.getValueToStore()), at = position(store.getIndices()[0]);
        when(laneHere(store.getMask()), [&] { setElement(value, store.getBase(), at); });
      })
      .Case([&](vector::ScatterOp scatter) {
        Value value = laneHere(scatter.getValueToStore());
        Value at = shifted(scatter.getOffsets()[0], laneHere(scatter.getIndices()));
        when(laneHere(scatter.getMask()), [&] { setElement(value, scatter.getBase(), at); });
      })
      .Case([&](vector::FMAOp fma) {
        Value product = arith::MulFOp::create(b, loc(), laneHere(fma.getLhs()), laneHere(fma.getRhs()));
        ofLane[fma] = arith::AddFOp::create(b, loc(), product, laneHere(fma.getAcc()));
      })
      .Default([&](Operation *) {
        IRMapping mapping;
        for (Value operand : op->getOperands()) {
          mapping.map(operand, laneHere(operand));
        }
        Operation *one = b.clone(*op, mapping);
        one->getResult(0).setType(vectorOf(op->getResult(0)).getElementType());
        ofLane[op->getResult(0)] = one->getResult(0);
      });
}

/// Returns the index that lies `distance`, an index or an integer, behind `first`.
Value LaneGathering::shifted(Value first, Value distance) {
  Value steps =
      distance.getType().isIndex() ? distance : arith::IndexCastOp::create(b, loc(), b.getIndexType(), distance);
  return arith::AddIOp::create(b, loc(), first, steps);
}

/// Writes an if whose value is computed only where the condition holds, as a masked load has it.
Value LaneGathering::choose(Value condition, Value otherwise, llvm::function_ref<Value()> value) {
  auto branch = scf::IfOp::create(b, loc(), otherwise.getType(), condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Value taken = value();
  scf::YieldOp::create(b, loc(), taken);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc(), otherwise);
  return branch.getResult(0);
}

void LaneGathering::when(Value condition, llvm::function_ref<void()> body) {
  auto branch = scf::IfOp::create(b, loc(), condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  body();
}

} // namespace ingot::emit::cpp
