#include "compiler/lower/core/Threads.h"
#include "compiler/plan/KernelAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace ingot::lower {

Ix threadNumber(Writer &w, int32_t axis) {
  Value number = w.constant(axis, w.b.getI32Type());
  return w.ix(w.callLibrary("ingot_thread", number, w.b.getI64Type()));
}

/// Keeps calls of a function where they are: all threads of a block call it at one place.
static void keepInPlace(Writer &w, StringRef function) {
  auto module = w.b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  module.lookupSymbol(function)->setAttr(plan::passthroughName, w.b.getStrArrayAttr({"convergent"}));
}

void barrier(Writer &w) {
  w.callLibrary("ingot_barrier", {}, {});
  keepInPlace(w, "ingot_barrier");
}

Value exchange(Writer &w, Value v, int64_t distance) {
  Type type = v.getType(), i32 = w.b.getI32Type();
  unsigned bits = type.getIntOrFloatBitWidth();
  Type integer = w.b.getIntegerType(bits);
  Value number = arith::BitcastOp::create(w.b, w.loc, integer, v);
  auto exchanged = [&](Value word) {
    Value other = w.callLibrary("ingot_exchange", {word, w.constant(distance, i32)}, i32);
    keepInPlace(w, "ingot_exchange");
    return other;
  };
  if (bits <= 32) {
    Value word = bits < 32 ? arith::ExtUIOp::create(w.b, w.loc, i32, number).getResult() : number;
    word = exchanged(word);
    number = bits < 32 ? arith::TruncIOp::create(w.b, w.loc, integer, word).getResult() : word;
  } else {
    Value half = w.constant(32, integer), upper = arith::ShRUIOp::create(w.b, w.loc, number, half);
    Value words[] = {arith::TruncIOp::create(w.b, w.loc, i32, number), arith::TruncIOp::create(w.b, w.loc, i32, upper)};
    for (Value &word : words) {
      word = arith::ExtUIOp::create(w.b, w.loc, integer, exchanged(word));
    }
    upper = arith::ShLIOp::create(w.b, w.loc, words[1], half);
    number = arith::OrIOp::create(w.b, w.loc, words[0], upper);
  }
  return arith::BitcastOp::create(w.b, w.loc, type, number);
}

Buffer sharedMemory(Writer &w) {
  constexpr int64_t extent = 1 << 20; // of one type for all kernels, and more than any block shares
  Type i8 = w.b.getI8Type();
  return {w.callLibrary("ingot_shared", {}, MemRefType::get({extent}, i8)), i8};
}

} // namespace ingot::lower
