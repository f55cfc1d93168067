// LLVM has no intrinsics for products and for what waits for their sums: they are inline assembly, whose operands are
// the sums as well, so that nothing that uses sums comes before the wait. The emulator knows each by what its text
// begins with (Emulated.cpp).
#include "targets/cuda/Hopper.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "targets/cuda/Instructions.h"

using namespace mlir;

namespace ingot::targets::cuda {

static Value number(lower::Writer &w, int64_t n, Type type) {
  return LLVM::ConstantOp::create(w.b, w.loc, type, w.b.getIntegerAttr(type, n));
}

static void call(lower::Writer &w, StringRef intrinsic, ValueRange operands = {}) {
  LLVM::CallIntrinsicOp::create(w.b, w.loc, w.b.getStringAttr(intrinsic), operands);
}

/// Keeps LLVM from moving accesses to memory: to it the intrinsics here look as if they touched nothing but the
/// barrier.
static void keepOrder(lower::Writer &w) {
  LLVM::InlineAsmOp::create(w.b, w.loc, Type(), ValueRange(), "", "~{memory}", /*has_side_effects=*/true,
                            /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(),
                            ArrayAttr());
}

void makeBarrier(lower::Writer &w, Value barrier, int32_t arrivals) {
  call(w, "llvm.nvvm.mbarrier.init.shared", {sharedPointer(w, barrier), number(w, arrivals, w.b.getI32Type())});
}

void arrive(lower::Writer &w, Value barrier) {
  Value operands[] = {sharedPointer(w, barrier), number(w, 1, w.b.getI32Type())};
  keepOrder(w);
  auto name = w.b.getStringAttr("llvm.nvvm.mbarrier.arrive.scope.cta.space.cta");
  LLVM::CallIntrinsicOp::create(w.b, w.loc, w.b.getI64Type(), name, operands);
}

/// The instruction gives up after a while.
void waitForPhase(lower::Writer &w, Value barrier, Value parity) {
  Value operands[] = {sharedPointer(w, barrier), parity};
  auto name = w.b.getStringAttr("llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta");
  scf::WhileOp::create(
      w.b, w.loc, TypeRange(), ValueRange(),
      [&](OpBuilder &b, Location loc, ValueRange) {
        Value isDone = LLVM::CallIntrinsicOp::create(b, loc, b.getI1Type(), name, operands)->getResult(0);
        Value one = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
        scf::ConditionOp::create(b, loc, arith::XOrIOp::create(b, loc, isDone, one), ValueRange());
      },
      [](OpBuilder &b, Location loc, ValueRange) { scf::YieldOp::create(b, loc); });
  keepOrder(w);
}

void fenceForTensorCores(lower::Writer &w) {
  keepOrder(w);
  call(w, "llvm.nvvm.fence.proxy.async.shared_cta");
}

// A descriptor has, in units of 16 bytes, where the factor begins, how far it is from one block of lines to the next
// one where these are contiguous, and from one group of eight rows of 128 bytes to the next one; then the swizzle.
constexpr int64_t unitBits = 4, rowBytes = 128, groupBytes = 8 * rowBytes;
constexpr int64_t blockAt = 16, groupAt = 32, swizzleAt = 62, swizzle128 = 1;

WarpgroupFactor WarpgroupFactor::at(lower::Writer &w, Value address, bool alongDepth) {
  Type i64 = w.b.getI64Type();
  constexpr int64_t window = 0x3FFFF; // of addresses
  Value there = LLVM::PtrToIntOp::create(w.b, w.loc, i64, sharedPointer(w, address));
  there = arith::AndIOp::create(w.b, w.loc, there, w.constant(window, i64));
  there = arith::ShRUIOp::create(w.b, w.loc, there, w.constant(unitBits, i64));
  int64_t fields = (blockBytes >> unitBits) << blockAt | (groupBytes >> unitBits) << groupAt | swizzle128 << swizzleAt;
  return {arith::OrIOp::create(w.b, w.loc, there, w.constant(fields, i64)), alongDepth};
}

WarpgroupFactor WarpgroupFactor::from(lower::Writer &w, int64_t k) const {
  int64_t bytes = k * (alongDepth ? 2 : rowBytes);
  Value there = arith::AddIOp::create(w.b, w.loc, descriptor, w.constant(bytes >> unitBits, w.b.getI64Type()));
  return {there, alongDepth};
}

void beginProducts(lower::Writer &w) { call(w, "llvm.nvvm.wgmma.fence.sync.aligned"); }
void endProducts(lower::Writer &w) { call(w, "llvm.nvvm.wgmma.commit_group.sync.aligned"); }

/// Writes an instruction that takes sums behind other operands, and gives them.
static SmallVector<Value> assemble(lower::Writer &w, const Twine &text, StringRef constraints, ValueRange operands,
                                   ValueRange sums) {
  std::string all;
  for (size_t i = 0; i < sums.size(); ++i) {
    all += isa<FloatType>(sums[i].getType()) ? "=f," : "=r,";
  }
  all += constraints;
  for (size_t i = 0; i < sums.size(); ++i) {
    all += "," + std::to_string(i);
  }
  SmallVector<Value> values(operands);
  values.append(sums.begin(), sums.end());
  auto type = LLVM::LLVMStructType::getLiteral(w.b.getContext(), SmallVector<Type>(sums.getTypes()));
  auto made = LLVM::InlineAsmOp::create(w.b, w.loc, type, values, text.str(), all, /*has_side_effects=*/true,
                                        /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
                                        LLVM::AsmDialectAttr(), ArrayAttr());
  SmallVector<Value> results;
  for (size_t i = 0; i < sums.size(); ++i) {
    results.push_back(LLVM::ExtractValueOp::create(w.b, w.loc, made.getRes(), static_cast<int64_t>(i)));
  }
  return results;
}

SmallVector<Value> multiplyByWarpgroup(lower::Writer &w, Type element, const WarpgroupFactor &left,
                                       const WarpgroupFactor &right, ValueRange sums) {
  assert((isa<FloatType>(element) || (left.alongDepth && right.alongDepth)) && "bytes lie along the depth");
  std::string registers;
  for (size_t i = 0; i < sums.size(); ++i) {
    registers += (i ? ", $" : "$") + std::to_string(i);
  }
  // Behind the registers: both factors, and whether there are sums (else they begin with 0); of floats signs, and
  // whether lines are contiguous.
  auto operand = [&](size_t i) { return ", $" + std::to_string(sums.size() + i); };
  std::string rest = operand(0) + operand(1) + operand(2), constraints = "l,l,b", types = "k32.s32.u8.s8";
  SmallVector<Value> operands = {left.descriptor, right.descriptor, number(w, 1, w.b.getI1Type())};
  if (isa<FloatType>(element)) {
    types = element.isF16() ? "k16.f32.f16.f16" : "k16.f32.bf16.bf16";
    rest += ", 1, 1" + operand(3) + operand(4), constraints += ",n,n";
    for (bool along : {left.alongDepth, right.alongDepth}) {
      operands.push_back(number(w, along ? 0 : 1, w.b.getI32Type()));
    }
  } else if (!element.isUnsignedInteger()) {
    types = "k32.s32.s8.u8";
  }
  return assemble(w, "wgmma.mma_async.sync.aligned.m64n128" + types + " {" + registers + "}" + rest + ";", constraints,
                  operands, sums);
}

SmallVector<Value> waitForProducts(lower::Writer &w, int32_t left, ValueRange sums) {
  return assemble(w, "wgmma.wait_group.sync.aligned $" + Twine(sums.size()) + ";", "n",
                  number(w, left, w.b.getI32Type()), sums);
}

} // namespace ingot::targets::cuda
