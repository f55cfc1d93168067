// Rewrites the ops that kernel builders use for convenience to ops that the LLVM dialect has: vectors of more than one
// dimension, transposes, masks, transfers, views with strides, affine arithmetic and divisions that round to one side.
// For example
//
//   %y = arith.addf %a, %b : vector<2x8xf32>   =>   two arith.addf : vector<8xf32>
//
// MLIR's patterns do the work. They are collected, which is the dear part, only where one walk finds such an op: most
// modules have none.
#include "compiler/emit/Lowering.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

/// Whether the conversion to the LLVM dialect cannot take the op as it is.
static bool needsRewrite(Operation *op) {
  if (isa<affine::AffineDialect>(op->getDialect()) ||
      isa<memref::SubViewOp, memref::CollapseShapeOp, memref::ExpandShapeOp, memref::ReinterpretCastOp,
          vector::TransposeOp, vector::ShapeCastOp, vector::MultiDimReductionOp, vector::TransferReadOp,
          vector::TransferWriteOp, vector::CreateMaskOp, vector::ConstantMaskOp, vector::StepOp, vector::InterleaveOp,
          vector::DeinterleaveOp, vector::ExtractStridedSliceOp, vector::InsertStridedSliceOp, arith::CeilDivSIOp,
          arith::CeilDivUIOp, arith::FloorDivSIOp>(op)) {
    return true;
  }
  auto isDeep = [](Type type) {
    auto vector = dyn_cast<VectorType>(type);
    return vector && vector.getRank() > 1;
  };
  return isa<vector::VectorDialect>(op->getDialect()) &&
         (llvm::any_of(op->getOperandTypes(), isDeep) || llvm::any_of(op->getResultTypes(), isDeep));
}

LogicalResult ingot::emit::simplifyVectors(ModuleOp module) {
  SmallVector<Operation *> found;
  module.walk([&](Operation *op) {
    if (needsRewrite(op)) {
      found.push_back(op);
    }
  });
  if (found.empty()) {
    return success();
  }
  RewritePatternSet patterns(module.getContext());
  vector::populateVectorMultiReductionLoweringPatterns(patterns, vector::VectorMultiReductionLowering::InnerParallel);
  vector::populateVectorBroadcastLoweringPatterns(patterns);
  vector::populateVectorMaskOpLoweringPatterns(patterns);
  vector::populateVectorMaskMaterializationPatterns(patterns, /*force32BitVectorIndices=*/true);
  vector::populateVectorShapeCastLoweringPatterns(patterns);
  vector::populateVectorTransposeLoweringPatterns(patterns, vector::VectorTransposeLowering::Shuffle16x16);
  vector::populateVectorTransferPermutationMapLoweringPatterns(patterns);
  vector::populateVectorTransferLoweringPatterns(patterns);
  vector::populateVectorGatherLoweringPatterns(patterns);
  vector::populateVectorInsertExtractStridedSliceTransforms(patterns);
  vector::populateVectorRankReducingFMAPattern(patterns);
  vector::populateVectorBitCastLoweringPatterns(patterns);
  vector::populateVectorStepLoweringPatterns(patterns);
  vector::populateVectorInterleaveLoweringPatterns(patterns);
  vector::populateVectorInterleaveToShufflePatterns(patterns);
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  memref::populateExpandStridedMetadataPatterns(patterns);
  populateAffineToStdConversionPatterns(patterns);
  GreedyRewriteConfig config;
  config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
  return applyOpPatternsGreedily(found, std::move(patterns), config);
}
