#include "compiler/lower/Indexing.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ingot::lower {

bool hasNoPlaces(const onnx::Lookup &lookup) {
  return llvm::any_of(lookup.parts, [](const onnx::Lookup::Part &part) { return part.size.is(0); });
}

Ix lookedUp(Build &build, const onnx::Lookup &lookup, const Access &indices, ArrayRef<Ix> at) {
  Writer &w = build.w;
  Ix place = indices.at(at), sum = 0;
  for (const onnx::Lookup::Part &part : lookup.parts) {
    Value index = w.load(indices.buffer, place + part.offset);
    if (!index.getType().isInteger(64)) {
      index = arith::ExtSIOp::create(w.b, w.loc, w.b.getI64Type(), index);
    }
    Value size = w.integer(part.size, w.b.getI64Type());
    Value negative =
        arith::CmpIOp::create(w.b, w.loc, arith::CmpIPredicate::slt, index, w.constant(0, w.b.getI64Type()));
    Value wrapped = arith::AddIOp::create(w.b, w.loc, index, size);
    index = arith::SelectOp::create(w.b, w.loc, negative, wrapped, index);
    build.failIf(arith::CmpIOp::create(w.b, w.loc, arith::CmpIPredicate::uge, index, size));
    index = arith::MinUIOp::create(w.b, w.loc, index, w.integer(part.size - 1, w.b.getI64Type())); // goes on inside
    sum = sum + w.ix(index) * Ix(part.stride);
  }
  return sum;
}

} // namespace ingot::lower
