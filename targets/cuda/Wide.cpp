#include "targets/cuda/Wide.h"
#include "compiler/lower/core/Vectors.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace ingot::targets::cuda {

using lower::Ix;

static int64_t bytesOf(Type element) { return std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8); }

int64_t wideLanes(TypeRange types) {
  constexpr int64_t bytes = 16, most = 8; // more lanes would be more registers than long formulas have
  int64_t widest = bytes / most;
  for (Type type : types) {
    widest = std::max(widest, bytesOf(lower::memoryType(getElementTypeOrSelf(type))));
  }
  return bytes / widest;
}

int64_t wideLanes(plan::KernelOp kernel) {
  SmallVector<Type> types(kernel->getOperandTypes());
  llvm::append_range(types, kernel->getResultTypes());
  return wideLanes(types);
}

void Wide::requireMultiple(Ix number, int64_t multiple) {
  if (number.known()) {
    isNever |= number.number() % multiple != 0;
  } else if (!isNever) {
    Value own = w.value(remainder(number, multiple));
    rest = rest ? arith::OrIOp::create(w.b, w.loc, rest, own).getResult() : own;
  }
}

void Wide::requireBegin(lower::Buffer buffer) {
  int64_t bytes = bytesOf(cast<MemRefType>(buffer.memref.getType()).getElementType());
  requireMultiple(isNever ? Ix(0) : w.ix(w.address(buffer)), lanes * bytes);
}

void Wide::require(const lower::Space &space, ArrayRef<const lower::Access *> accesses) {
  isNever |= space.sizes.empty(); // there is one element
  if (space.sizes.size() > 1) {   // else what is left over comes last
    require(space.sizes.back());
  }
  for (const lower::Access *access : accesses) {
    bool repeats = access->laneStride.is(0);
    isNever |= !repeats && !access->laneStride.is(1);
    if (repeats || isNever) {
      continue;
    }
    requireBegin(access->buffer);
    require(access->offset);
    for (const Ix &stride : ArrayRef(access->strides).drop_back()) {
      require(stride);
    }
  }
}

std::optional<Value> Wide::condition() {
  if (isNever) {
    return std::nullopt;
  }
  return rest ? w.compare(arith::CmpIPredicate::eq, rest, w.value(Ix(0))) : w.constant(1, w.b.getI1Type());
}

void writeWhereWide(lower::Writer &w, std::optional<Value> condition, llvm::function_ref<void()> vectors,
                    llvm::function_ref<void()> elements) {
  if (!condition) {
    return elements();
  }
  auto aligned = [&] {
    vectors();
    alignVectors(*w.b.getInsertionBlock()->getParent());
  };
  w.ifElse(*condition, aligned, elements);
}

SmallVector<const lower::Access *> accessesOf(const lower::Space &space) {
  SmallVector<const lower::Access *> all;
  for (const auto &[value, access] : space.accesses) {
    all.push_back(&access);
  }
  for (const lower::Access &access : space.results) {
    all.push_back(&access);
  }
  return all;
}

void alignVectors(Region &region) {
  auto bytesOfVector = [](VectorType type) { return type.getNumElements() * bytesOf(type.getElementType()); };
  region.walk([&](vector::LoadOp load) { load.setAlignment(bytesOfVector(load.getVectorType())); });
  region.walk([&](vector::StoreOp store) { store.setAlignment(bytesOfVector(store.getVectorType())); });
}

} // namespace ingot::targets::cuda
