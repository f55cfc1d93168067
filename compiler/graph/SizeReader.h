// Helpers that the readers of sizes in data (readers/) share. A file NAME.cpp there attaches graph::ReadsSizes to some
// operators in `void attachNAME(MLIRContext &)`; it is found by the folder.
#pragma once
#include "compiler/onnx/sizes/InData.h"

namespace ingot::graph {

/// Reads the operands of one op.
class SizeReader : public onnx::InData {
public:
  using InData::InData;

  /// The operand becomes these sizes.
  void setOperand(unsigned number, llvm::ArrayRef<onnx::Size> sizes);
  /// Operands that are one number each, where the run has to see that they are.
  bool makeNumbers(llvm::ArrayRef<unsigned> operands);
  /// An operand all of whose elements are sizes as they are.
  bool readList(unsigned operand, const onnx::Size &bound = onnx::Size::unknown());
  /// Operand 1 says how much of an axis of operand 0 a result has.
  bool readAlong(int64_t axis);
  mlir::Value number(Element e) { return f.reshape(element(e), {}); }
};

} // namespace ingot::graph

#include "compiler/graph/ReadsSizes.h.inc"
