#include "compiler/pipeline/Dialects.h"
#include "compiler/graph/ReadSizes.h"
#include "compiler/onnx/Formats.h"
#include "compiler/plan/Plan.h"
#include "compiler/plan/Run.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace ingot::pipeline {

void registerDialects(DialectRegistry &registry) {
  registry.insert<onnx::OnnxDialect, formats::FormatsDialect, plan::PlanDialect, run::RunDialect, func::FuncDialect,
                  arith::ArithDialect, math::MathDialect, scf::SCFDialect, cf::ControlFlowDialect,
                  memref::MemRefDialect, vector::VectorDialect, LLVM::LLVMDialect, DLTIDialect>();
  graph::attachReaders(registry);
}

} // namespace ingot::pipeline
