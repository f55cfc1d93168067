// Helps the readers of sizes in data (readers/). A file NAME.cpp there attaches graph::ReadsSizes to some operators in
// `void attachNAME(MLIRContext &)`; it is found by the folder.
#pragma once
#include "compiler/onnx/sizes/SizesInData.h"

namespace ingot::graph {

/// Reads the operands of one op.
class SizeReader : public onnx::SizesInData {
public:
  using SizesInData::SizesInData;

  /// Makes the operand these sizes.
  void setOperand(unsigned number, llvm::ArrayRef<onnx::Size> sizes);
  /// Makes numbers of operands that should have one element, where the run has to see that they have.
  bool makeNumbers(llvm::ArrayRef<unsigned> operands);
  /// Reads an operand all of whose elements are sizes as they are.
  bool readList(unsigned operand, const onnx::Size &bound = onnx::Size::unknown());
  /// Reads operand 1, which says how much of an axis of operand 0 a result has.
  bool readAlong(int64_t axis);
  mlir::Value number(Element e) { return f.reshape(element(e), {}); }
};

} // namespace ingot::graph

#include "compiler/graph/ReadsSizes.h.inc"
