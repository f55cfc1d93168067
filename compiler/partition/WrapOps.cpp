#include "compiler/partition/WrapOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace ingot::partition {

plan::KernelOp wrapOps(OpBuilder &b, ArrayRef<Operation *> ops, ArrayRef<Value> ins, ArrayRef<Value> outs,
                       StringRef target, plan::PieceAttr piece) {
  SmallVector<Location> locs = llvm::map_to_vector(ops, [](Operation *op) { return op->getLoc(); });
  SmallVector<Type> types(ValueRange(outs).getTypes());
  auto kernel = plan::KernelOp::create(b, b.getFusedLoc(locs), types, ins, target, piece);
  OpBuilder::InsertionGuard guard(b);
  Block *body = b.createBlock(&kernel.getBody());
  IRMapping map;
  for (Value v : ins) {
    map.map(v, body->addArgument(v.getType(), v.getLoc()));
  }
  for (Operation *op : ops) {
    for (Value v : op->getOperands()) {
      if (!map.contains(v)) {
        map.map(v, b.clone(*v.getDefiningOp())->getResult(0));
      }
    }
    b.clone(*op, map);
  }
  plan::YieldOp::create(b, ops.back()->getLoc(), llvm::map_to_vector(outs, [&](Value v) { return map.lookup(v); }));
  return kernel;
}

} // namespace ingot::partition
