#include "targets/cuda/SplitFloats.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "targets/cuda/Instructions.h"

using namespace mlir;

namespace ingot::targets::cuda {

SplitFloats::SplitFloats(lower::Writer &w, ValueRange numbers, int64_t products) {
  Type real = w.b.getF32Type();
  auto asFloat = [&](Value x) { return x.getType() == real ? x : arith::BitcastOp::create(w.b, w.loc, real, x); };
  auto rounded = [&](Value x) {
    auto name = w.b.getStringAttr("llvm.nvvm.f2tf32.rna");
    return LLVM::CallIntrinsicOp::create(w.b, w.loc, w.b.getI32Type(), name, x)->getResult(0);
  };
  for (Value number : numbers) {
    Value x = asFloat(number);
    high.push_back(rounded(x));
    if (products > 1) {
      low.push_back(rounded(arith::SubFOp::create(w.b, w.loc, x, asFloat(high.back()))));
    }
  }
}

void addSplitProducts(lower::Writer &w, ArrayRef<SplitFloats> lines, ArrayRef<SplitFloats> columns,
                      MutableArrayRef<Value> sums) {
  Type real = w.b.getF32Type();
  SmallVector<Value> all(sums.size(), w.constant(0, real));
  for (auto [line, column] : llvm::zip_equal(lines, columns)) {
    if (!line.low.empty()) {
      all = multiplyMatrices(w, real, line.low, column.high, all);
      all = multiplyMatrices(w, real, line.high, column.low, all);
    }
  }
  for (auto [line, column] : llvm::zip_equal(lines, columns)) {
    all = multiplyMatrices(w, real, line.high, column.high, all);
  }
  for (auto [sum, more] : llvm::zip_equal(sums, all)) {
    sum = arith::AddFOp::create(w.b, w.loc, sum, more);
  }
}

Value zeroIfFinite(lower::Writer &w, ValueRange numbers, Value before) {
  Value none = w.constant(0, w.b.getF32Type()), zero = before ? before : none;
  for (Value number : numbers) {
    zero = w.fma(number, none, zero);
  }
  return zero;
}

SmallVector<Value> againIfNotFinite(lower::Writer &w, Value zero, ArrayRef<int32_t> without, ValueRange values,
                                    llvm::function_ref<SmallVector<Value>(lower::Ix none)> again) {
  constexpr int64_t bitsOfCount = 11; // a block has at most 1024 threads
  Value isOne = arith::CmpFOp::create(w.b, w.loc, arith::CmpFPredicate::UNO, zero, zero);
  Value count = countThreads(w, isOne),
        isAny = w.compare(arith::CmpIPredicate::ne, count, w.constant(0, count.getType()));
  if (!without.empty()) {
    Value no = w.constant(0, isAny.getType());
    isAny = arith::SelectOp::create(w.b, w.loc, isForAny(w, without), no, isAny);
  }
  auto more = [&] {
    Value none = arith::ShRUIOp::create(w.b, w.loc, count, w.constant(bitsOfCount, count.getType()));
    return again(w.ix(none));
  };
  return w.chooseValues(isAny, more, [&] { return SmallVector<Value>(values); });
}

} // namespace ingot::targets::cuda
