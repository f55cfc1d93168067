// Does what the object leaves to LLVM's optimizer, so that the source reads well: constants are folded, equal
// expressions are computed once, and dead ones are dropped.
#include "compiler/emit/Lowering.h"
#include "compiler/emit/cpp/Cpp.h"
#include "compiler/emit/cpp/Expression.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace ingot::emit::cpp {

/// Makes fused products a product and a sum, since std::fma is a call where there is no instruction. Where there is
/// one, compilers fuse both.
static void splitFusedProducts(ModuleOp module) {
  module.walk([](math::FmaOp fma) {
    OpBuilder b(fma);
    Value product = arith::MulFOp::create(b, fma.getLoc(), fma.getA(), fma.getB());
    Value sum = arith::AddFOp::create(b, fma.getLoc(), product, fma.getC());
    fma.replaceAllUsesWith(sum);
    fma.erase();
  });
}

/// Drops hints. How far ahead to prefetch is tuned for one machine, and source is for any; C++17 cannot say how a
/// pointer is aligned, nor that a store goes past the caches. Plain stores need no fence behind them.
static void dropHints(ModuleOp module) {
  module.walk([](LLVM::FenceOp fence) { fence.erase(); });
  module.walk([](memref::PrefetchOp prefetch) { prefetch.erase(); });
  module.walk([](memref::AssumeAlignmentOp aligned) {
    aligned.replaceAllUsesWith(aligned.getMemref());
    aligned.erase();
  });
}

/// Drops intrinsics without a use, since MLIR does not know that their result is their only effect. Returns whether
/// there was one.
static bool dropUnusedIntrinsics(ModuleOp module) {
  SmallVector<Operation *> unused;
  module.walk([&](Operation *op) {
    if (op->getName().getStringRef() == "llvm.call_intrinsic" && op->use_empty()) {
      unused.push_back(op);
    }
  });
  for (Operation *op : unused) {
    op->erase();
  }
  return !unused.empty();
}

/// Makes lanes of even and of odd numbers shuffles like others.
static void splitDeinterleaved(ModuleOp module) {
  module.walk([](vector::DeinterleaveOp op) {
    OpBuilder b(op);
    for (auto [first, result] : llvm::enumerate(op->getResults())) {
      SmallVector<int64_t> mask;
      for (int64_t i = 0; i < cast<VectorType>(result.getType()).getNumElements(); ++i) {
        mask.push_back(2 * i + int64_t(first));
      }
      Value source = op.getSource();
      result.replaceAllUsesWith(vector::ShuffleOp::create(b, op.getLoc(), source, source, mask));
    }
    op.erase();
  });
}

/// Makes the number whose bits are the lanes of a mask a sum of powers of two, since C++ has no vectors of bits. A
/// number of fewer bits than 32 is no type of C++, either, and is only extended to one of 32 bits.
static void addUpMaskBits(ModuleOp module) {
  SmallVector<std::pair<vector::ExtractOp, Value>> found;
  module.walk([&](vector::ExtractOp extract) {
    auto bits = extract.getSource().getDefiningOp<vector::BitCastOp>();
    if (bits && bits.getSourceVectorType().getElementType().isInteger(1) &&
        bits.getResultVectorType().getNumElements() == 1) {
      found.emplace_back(extract, bits.getSource());
    }
  });
  for (auto [extract, mask] : found) {
    OpBuilder b(extract);
    Location loc = extract.getLoc();
    auto type = cast<VectorType>(mask.getType()).clone(b.getI32Type());
    SmallVector<int32_t> powers;
    for (int64_t lane = 0; lane < type.getNumElements(); ++lane) {
      powers.push_back(static_cast<int32_t>(uint32_t(1) << lane));
    }
    Value each = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, ArrayRef<int32_t>(powers)));
    Value none = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
    Value set = arith::SelectOp::create(b, loc, mask, each, none);
    Value sum = vector::ReductionOp::create(b, loc, vector::CombiningKind::OR, set);
    if (extract.getType() == sum.getType()) {
      extract.replaceAllUsesWith(sum);
    }
    for (Operation *user : llvm::make_early_inc_range(extract->getUsers())) {
      cast<arith::ExtUIOp>(user).replaceAllUsesWith(sum);
      user->erase();
    }
    extract.erase();
  }
}

/// Moves small arrays to the start of the function: they live as long as it does, in whatever loop they are used.
static void raiseArrays(ModuleOp module) {
  for (func::FuncOp function : module.getOps<func::FuncOp>()) {
    SmallVector<memref::AllocaOp> arrays;
    function.walk([&](memref::AllocaOp array) { arrays.push_back(array); });
    for (memref::AllocaOp array : llvm::reverse(arrays)) {
      array->moveBefore(&function.front(), function.front().begin());
    }
  }
}

/// Whether vectors occur that compilers have no type for.
static bool hasOtherVectors(func::FuncOp function) {
  auto isOther = [](Type type) {
    auto vector = dyn_cast<VectorType>(type);
    return vector && typeName(vector).empty();
  };
  WalkResult found = function.walk([&](Operation *op) {
    return llvm::any_of(op->getResultTypes(), isOther) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found.wasInterrupted();
}

/// Makes loops over lanes, where vectors are not to be types, or are none of those that compilers have.
static LogicalResult formLaneLoops(ModuleOp module, const target::MachineModel &machine) {
  for (func::FuncOp function : module.getOps<func::FuncOp>()) {
    if (machine.vectorTypes && !hasOtherVectors(function)) {
      continue;
    }
    PassManager passes(module.getContext(), func::FuncOp::getOperationName());
    passes.addPass(createCanonicalizerPass());
    passes.addPass(createCSEPass());
    if (failed(lanesToLoops(function)) || failed(passes.run(function))) {
      return failure();
    }
  }
  return success();
}

LogicalResult prepare(ModuleOp module, const target::MachineModel &machine) {
  target::MachineModel plain = machine;
  plain.f16Conversions = false;
  plain.scaleByPowerOfTwo = false; // LLVM alone has the intrinsic
  forgetMachines(module);
  if (failed(expandMath(module, Machines(plain))) || failed(simplifyVectors(module))) {
    return failure();
  }
  splitFusedProducts(module);
  splitDeinterleaved(module);
  addUpMaskBits(module);
  dropHints(module);
  PassManager passes(module.getContext());
  // A comparison of what is computed twice folds; compilers warn of comparing a value with itself.
  passes.addPass(createCSEPass());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  if (failed(passes.run(module)) || (dropUnusedIntrinsics(module) && failed(passes.run(module)))) {
    return failure();
  }
  if (failed(simplifyVectors(module))) { // canonical forms have made vectors of more dimensions again
    return failure();
  }
  raiseArrays(module);
  return formLaneLoops(module, machine);
}

} // namespace ingot::emit::cpp
