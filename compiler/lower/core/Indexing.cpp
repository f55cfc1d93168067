#include "compiler/lower/core/Indexing.h"
#include "compiler/onnx/ElementTypes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ingot::lower {

Access walked(Buffer buffer, ArrayRef<support::Size> strides) {
  return {support::Strided<support::Size>(0, strides), buffer, 1};
}

void wherePlaces(Build &build, const onnx::Lookup &lookup, Ix count, llvm::function_ref<void()> body) {
  Writer &w = build.w;
  auto compare = [&](arith::CmpIPredicate how, Ix a) -> Value { return w.compare(how, a, 0); };
  Ix least = 1; // at most 0 where some axis has no place
  for (const onnx::Lookup::Part &part : lookup.parts) {
    if (!part.size.atLeast(1)) {
      least = min(least, part.size);
    }
  }
  if (least.is(1)) {
    return body();
  }
  Value none = compare(arith::CmpIPredicate::sle, least), any = compare(arith::CmpIPredicate::sgt, count);
  build.failIf(arith::AndIOp::create(w.b, w.loc, none, any));
  if (!least.known()) {
    w.ifThen(compare(arith::CmpIPredicate::sgt, least), body);
  }
}

Ix lookedUp(Build &build, const onnx::Lookup &lookup, const Access &indices, ArrayRef<Ix> at) {
  Writer &w = build.w;
  Ix place = indices.at(at), sum = 0;
  for (const onnx::Lookup::Part &part : lookup.parts) {
    Value index = w.load(indices.buffer, place + part.offset);
    if (!onnx::isInt(index.getType(), 64)) {
      index = arith::ExtSIOp::create(w.b, w.loc, w.b.getI64Type(), index);
    }
    Value size = w.integer(part.size, w.b.getI64Type());
    Value negative = w.compare(arith::CmpIPredicate::slt, index, w.constant(0, w.b.getI64Type()));
    Value wrapped = arith::AddIOp::create(w.b, w.loc, index, size);
    index = arith::SelectOp::create(w.b, w.loc, negative, wrapped, index);
    build.failIf(w.compare(arith::CmpIPredicate::uge, index, size));
    // The kernel goes on with a place inside.
    index = arith::MinUIOp::create(w.b, w.loc, index, w.integer(part.size - 1, w.b.getI64Type()));
    sum = sum + w.ix(index) * Ix(part.stride);
  }
  return sum;
}

} // namespace ingot::lower
