#include "targets/cuda/FewRows.h"
#include "compiler/lower/core/Threads.h"
#include "compiler/lower/core/Vectors.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace ingot::targets::cuda {

using lower::Ix;

Ix FewRows::column() const { return remainder(lower::threadNumber(w), columns / lanes) * lanes; }
Ix FewRows::share() const { return floorDiv(lower::threadNumber(w), columns / lanes); }

Value FewRows::sumOver(lower::Writer &w, Value sum, int64_t from, int64_t to) {
  for (int64_t distance = from; distance < to; distance *= 2) {
    sum = combine(w, lower::Combine::Add, sum, lower::exchange(w, sum, distance));
  }
  return sum;
}

void FewRows::finish(ValueRange sums, llvm::function_ref<void(int64_t, Ix, Value, Value)> finish) {
  Ix thread = lower::threadNumber(w), lane = remainder(thread, warp), first = column();
  lower::Buffer parts =
      w.scratch(lower::sharedMemory(w), 0, getElementTypeOrSelf(sums.front().getType()), warps * columns);
  Value isFirstShare = w.compare(arith::CmpIPredicate::slt, lane, columns / lanes);
  Value isFirstWarp = w.compare(arith::CmpIPredicate::slt, thread, warp);
  for (auto [row, sum] : llvm::enumerate(sums)) {
    SmallVector<Value> own;
    for (int64_t i = 0; i < lanes; ++i) {
      Value one = lanes == 1 ? sum : vector::ExtractOp::create(w.b, w.loc, sum, i).getResult();
      own.push_back(sumOver(w, one, columns / lanes, warp));
    }
    lower::barrier(w); // all have read what the row before left
    w.ifThen(isFirstShare, [&] {
      for (auto [i, one] : llvm::enumerate(own)) {
        w.store(one, parts, floorDiv(thread, warp) * columns + first + static_cast<int64_t>(i));
      }
    });
    lower::barrier(w);
    SmallVector<Value> all;
    for (int64_t i = 0; i < warps; ++i) {
      all.push_back(w.load(parts, lane + i * columns));
    }
    finish(static_cast<int64_t>(row), lane, isFirstWarp, tree(w, lower::Combine::Add, all));
  }
}

} // namespace ingot::targets::cuda
