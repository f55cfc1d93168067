// Converts with the patterns of all dialects at once: a memref never exists beside its lowered form, so there are no
// casts to reconcile. A pass for each dialect would take three times as long.
#include "compiler/emit/Lowering.h"
#include "compiler/plan/IndexWidth.h"
#include "compiler/plan/Run.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace {

/// Makes math.fma an llvm.fmuladd, which is fused where the function's CPU can, and else a product and a sum: llvm.fma
/// would become a call of fmaf there. It is both where the machine is not to fuse, whatever its CPU can.
struct LowerFma : ConvertOpToLLVMPattern<math::FmaOp> {
  LowerFma(const LLVMTypeConverter &types, const ingot::emit::Machines &machines)
      : ConvertOpToLLVMPattern(types, /*benefit=*/2), machines(machines) {}
  const ingot::emit::Machines &machines;

  LogicalResult matchAndRewrite(math::FmaOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Type type = getTypeConverter()->convertType(op.getType());
    if (!machines.of(op).fusedMultiplyAdd) {
      Value product = LLVM::FMulOp::create(rewriter, op.getLoc(), type, adaptor.getA(), adaptor.getB());
      rewriter.replaceOpWithNewOp<LLVM::FAddOp>(op, type, product, adaptor.getC());
      return success();
    }
    rewriter.replaceOpWithNewOp<LLVM::FMulAddOp>(op, type, adaptor.getA(), adaptor.getB(), adaptor.getC());
    return success();
  }
};

/// Makes a value that is rounded only to become an integer one instruction where the function's machine has it.
struct LowerRounding : ConvertOpToLLVMPattern<arith::FPToSIOp> {
  LowerRounding(const LLVMTypeConverter &types, const ingot::emit::Machines &machines)
      : ConvertOpToLLVMPattern(types, /*benefit=*/2), machines(machines) {}
  const ingot::emit::Machines &machines;

  LogicalResult matchAndRewrite(arith::FPToSIOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    auto rounded = op.getIn().getDefiningOp<math::RoundEvenOp>();
    if (!rounded || !rounded->hasOneUse() || !getElementTypeOrSelf(op.getIn().getType()).isF32() ||
        !getElementTypeOrSelf(op.getType()).isInteger(32) || !machines.of(op).roundsToInteger) {
      return failure();
    }
    Type type = getTypeConverter()->convertType(op.getType());
    Value x = rewriter.getRemappedValue(rounded.getOperand());
    rewriter.replaceOpWithNewOp<LLVM::LrintOp>(op, type, x);
    return success();
  }
};

/// Makes a field of an ingot_exec a load from it.
struct LowerField : ConvertOpToLLVMPattern<ingot::run::FieldOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(ingot::run::FieldOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ArrayRef<llvm::StringLiteral> names = ingot::run::execFields;
    auto number = static_cast<int32_t>(llvm::find(names, op.getField()) - names.begin());
    Type pointer = LLVM::LLVMPointerType::get(op.getContext());
    auto exec = LLVM::LLVMStructType::getLiteral(op.getContext(), SmallVector<Type>(names.size(), pointer));
    Value place =
        LLVM::GEPOp::create(rewriter, op.getLoc(), pointer, exec, adaptor.getExec(), ArrayRef<LLVM::GEPArg>{0, number});
    auto load = LLVM::LoadOp::create(rewriter, op.getLoc(), pointer, place);
    load.setInvariant(true);
    Value value = load;
    if (auto memory = dyn_cast<MemRefType>(op.getType())) {
      value = MemRefDescriptor::fromStaticShape(rewriter, op.getLoc(), *getTypeConverter(), memory, value);
    }
    rewriter.replaceOp(op, value);
    return success();
  }
};

/// Makes run.given, whether a caller gave a pointer, a comparison with null.
struct LowerGiven : ConvertOpToLLVMPattern<ingot::run::GivenOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(ingot::run::GivenOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value pointer = adaptor.getPointer();
    if (isa<MemRefType>(op.getPointer().getType())) {
      pointer = MemRefDescriptor(pointer).alignedPtr(rewriter, op.getLoc());
    }
    Value null = LLVM::ZeroOp::create(rewriter, op.getLoc(), pointer.getType());
    rewriter.replaceOpWithNewOp<LLVM::ICmpOp>(op, LLVM::ICmpPredicate::ne, pointer, null);
    return success();
  }
};

/// Converts the operands of run.over_items to the arguments of a call of the kernel; SplitCalls.cpp makes the calls.
struct ConvertOverItems : ConvertOpToLLVMPattern<ingot::run::OverItemsOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(ingot::run::OverItemsOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> operands = getTypeConverter()->promoteOperands(
        op.getLoc(), op->getOperands(), adaptor.getOperands(), rewriter, /*useBarePtrCallConv=*/true);
    rewriter.modifyOpInPlace(op, [&] { op->setOperands(operands); });
    return success();
  }
};

/// Fails for constants of indices that an index does not hold: they have 64 bits in MLIR, and would be cut off without
/// a word.
LogicalResult checkIndices(ModuleOp module) {
  int64_t most = ingot::plan::mostIndex(ingot::plan::indexBits(module));
  auto fits = [&](const APInt &number) { return number.getSExtValue() <= most && number.getSExtValue() >= -most - 1; };
  WalkResult result = module.walk([&](arith::ConstantOp constant) {
    auto list = dyn_cast<DenseIntElementsAttr>(constant.getValue());
    auto number = dyn_cast<IntegerAttr>(constant.getValue());
    bool isIndex = getElementTypeOrSelf(constant.getType()).isIndex();
    if (!isIndex || (number ? fits(number.getValue()) : !list || llvm::all_of(list.getValues<APInt>(), fits))) {
      return WalkResult::advance();
    }
    constant.emitOpError("does not fit an index of the machine: ") << constant.getValue();
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

} // namespace

LogicalResult ingot::emit::convertToLLVM(ModuleOp module, const Machines &machines) {
  MLIRContext *context = module.getContext();
  if (failed(checkIndices(module))) {
    return failure();
  }
  LowerToLLVMOptions options(context, DataLayout(module)); // the layout tells the width of an index
  options.useBarePtrCallConv = true;
  LLVMTypeConverter types(context, options);
  LLVMConversionTarget target(*context);
  target.addLegalOp<ModuleOp>();
  target.addDynamicallyLegalOp<ingot::run::OverItemsOp>(
      [&](ingot::run::OverItemsOp op) { return types.isLegal(op->getOperandTypes()); });

  RewritePatternSet patterns(context);
  arith::populateArithToLLVMConversionPatterns(types, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
  populateFuncToLLVMConversionPatterns(types, patterns);
  populateFinalizeMemRefToLLVMConversionPatterns(types, patterns);
  populateVectorToLLVMConversionPatterns(types, patterns, /*reassociateFPReductions=*/false,
                                         /*force32BitVectorIndices=*/true);
  populateMathToLLVMConversionPatterns(types, patterns);
  index::populateIndexToLLVMConversionPatterns(types, patterns);
  ub::populateUBToLLVMConversionPatterns(types, patterns);
  patterns.add<LowerField, LowerGiven, ConvertOverItems>(types);
  patterns.add<LowerFma, LowerRounding>(types, machines);
  return applyFullConversion(module, target, std::move(patterns));
}
