// Gives one meaning to what MLIR, LLVM and C++ leave to machines, in a module whose results are to have the same bits
// on all of them:
//
//   a float that no integer holds    Some machines make it the nearest integer, others the smallest one. Here it
//   becomes
//                                    the smallest one, as NaN does; an unsigned integer of a number below zero wraps
//                                    around.
//   the bits of a NaN                Machines make NaN of either sign, and choose between those of two operands. What
//                                    is stored, rounded to a narrower float or looked at as an integer is one NaN.
#include "compiler/emit/Lowering.h"
#include "compiler/emit/math/FloatBuilder.h"
#include "compiler/support/Attributes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using ingot::emit::FloatBuilder;

static Value toSigned(const FloatBuilder &f, Value x, Type type) {
  double end = std::ldexp(1.0, int(getElementTypeOrSelf(type).getIntOrFloatBitWidth()) - 1);
  Value fits = f.both(f.greater(x, -end), f.less(x, end));
  Value inside = f.select(fits, x, f.constant(-end));
  return arith::FPToSIOp::create(f.opBuilder(), f.location(), type, inside);
}

/// Moves numbers from half of the range on into the signed range, and sets the first bit of what they become.
static Value toUnsigned(const FloatBuilder &f, Value x, Type type) {
  OpBuilder &b = f.opBuilder();
  auto element = cast<IntegerType>(getElementTypeOrSelf(type));
  double half = std::ldexp(1.0, int(element.getWidth()) - 1);
  Value isLarge = f.either(f.greater(x, half), f.equal(x, half));
  Value low = toSigned(f, f.select(isLarge, f.sub(x, f.constant(half)), x), type);
  auto constant = [&](const APInt &n) -> Value {
    TypedAttr attr = b.getIntegerAttr(element, n);
    if (auto vector = dyn_cast<VectorType>(type)) {
      attr = DenseElementsAttr::get(vector, Attribute(attr));
    }
    return arith::ConstantOp::create(b, f.location(), attr);
  };
  unsigned width = element.getWidth();
  Value top = f.select(isLarge, constant(APInt::getSignMask(width)), constant(APInt::getZero(width)));
  return arith::XOrIOp::create(b, f.location(), low, top);
}

/// Compares integers: a comparison of x with itself is one that optimizers may fold, for whom all NaN are equal.
static Value withOneNaN(const FloatBuilder &f, Value x) {
  int64_t infinity = f.isDouble() ? 0x7ff0000000000000 : 0x7f800000;
  int64_t quiet = f.isDouble() ? 0x7ff8000000000000 : 0x7fc00000;
  Value bits = f.bits(x), magnitude = f.andBits(bits, f.isDouble() ? INT64_MAX : INT32_MAX);
  Value isNaN = arith::CmpIOp::create(f.opBuilder(), f.location(), arith::CmpIPredicate::sgt, magnitude,
                                      f.bitsConstant(infinity));
  return f.fromBits(f.select(isNaN, f.bitsConstant(quiet), bits));
}

/// Returns the operand by which the bits of a float leave the registers: into memory, into an integer, or into a
/// narrower float. Null for other ops, and where what leaves is only copied.
static OpOperand *leavingFloat(Operation &op) {
  OpOperand *leaving = llvm::TypeSwitch<Operation *, OpOperand *>(&op)
                           .Case([](memref::StoreOp store) { return &store.getValueMutable(); })
                           .Case([](vector::StoreOp store) { return &store.getValueToStoreMutable(); })
                           .Case([](vector::MaskedStoreOp store) { return &store.getValueToStoreMutable(); })
                           .Case([](vector::ScatterOp store) { return &store.getValueToStoreMutable(); })
                           .Case([](arith::TruncFOp narrow) { return &narrow.getInMutable(); })
                           .Case([](arith::BitcastOp cast) { return &cast.getInMutable(); })
                           .Default([](Operation *) { return nullptr; });
  Type element = leaving ? getElementTypeOrSelf(leaving->get().getType()) : Type();
  Operation *made = leaving ? leaving->get().getDefiningOp() : nullptr;
  bool isCopied =
      isa_and_nonnull<memref::LoadOp, vector::LoadOp, vector::MaskedLoadOp, vector::GatherOp, arith::ConstantOp>(made);
  return element && (element.isF32() || element.isF64()) && !isCopied ? leaving : nullptr;
}

void ingot::emit::makeDefined(ModuleOp module) {
  if (!module->hasAttr(support::reproducibleName)) {
    return;
  }
  SmallVector<Operation *> conversions;
  SmallVector<OpOperand *> leaving;
  module.walk([&](Operation *op) {
    if (isa<arith::FPToSIOp, arith::FPToUIOp>(op)) {
      conversions.push_back(op);
    } else if (OpOperand *operand = leavingFloat(*op)) {
      leaving.push_back(operand);
    }
  });
  for (OpOperand *operand : leaving) {
    OpBuilder b(operand->getOwner());
    Value x = operand->get();
    operand->set(withOneNaN(FloatBuilder(b, operand->getOwner()->getLoc(), x.getType(), /*ldexp=*/false), x));
  }
  for (Operation *op : conversions) {
    OpBuilder b(op);
    Value x = op->getOperand(0), result = op->getResult(0);
    FloatBuilder f(b, op->getLoc(), x.getType(), /*ldexp=*/false);
    result.replaceAllUsesWith((isa<arith::FPToSIOp>(op) ? toSigned : toUnsigned)(f, x, result.getType()));
    op->erase();
  }
}
