#include "compiler/lower/Indexing.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ingot::lower {

bool hasNoPlaces(const onnx::Lookup &lookup) {
  return llvm::any_of(lookup.parts, [](const onnx::Lookup::Part &part) { return part.size == 0; });
}

Ix lookedUp(Build &build, const onnx::Lookup &lookup, const Access &indices, ArrayRef<Ix> at) {
  Writer &w = build.w;
  Ix place = indices.at(at), sum = 0;
  for (const onnx::Lookup::Part &part : lookup.parts) {
    Value index = w.load(indices.buffer, place + part.offset);
    if (!index.getType().isInteger(64)) {
      index = arith::ExtSIOp::create(w.b, w.loc, w.b.getI64Type(), index);
    }
    auto constant = [&](int64_t v) { return w.constant(static_cast<double>(v), w.b.getI64Type()); };
    Value size = constant(part.size);
    Value negative = arith::CmpIOp::create(w.b, w.loc, arith::CmpIPredicate::slt, index, constant(0));
    Value wrapped = arith::AddIOp::create(w.b, w.loc, index, size);
    index = arith::SelectOp::create(w.b, w.loc, negative, wrapped, index);
    build.failIf(arith::CmpIOp::create(w.b, w.loc, arith::CmpIPredicate::uge, index, size));
    index = arith::MinUIOp::create(w.b, w.loc, index, constant(part.size - 1)); // goes on inside the tensor
    sum = sum + w.ix(index) * part.stride;
  }
  return sum;
}

} // namespace ingot::lower
