// Verifies what only stands in the subgraphs of nodes that are expanded later: what they give (onnx.Give).
#include "compiler/onnx/expanded/Construct.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/interfaces/Expansion.h"
#define GET_OP_CLASSES
#include "compiler/onnx/expanded/Construct.cpp.inc"

namespace ingot::onnx {

llvm::LogicalResult GiveOp::verify() {
  return llvm::isa<SubgraphHolder>((*this)->getParentOp()) ? llvm::success() : emitOpError("is in no subgraph");
}

void registerConstruct(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/expanded/Construct.cpp.inc"
      >();
}

} // namespace ingot::onnx
