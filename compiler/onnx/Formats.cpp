// Registers the operators that kernels read and the standard does not have (Formats.td), and makes them.
#include "compiler/onnx/Formats.h"

#include "compiler/onnx/FormatsDialect.cpp.inc"

using namespace mlir;

namespace ingot::formats {

void FormatsDialect::initialize() {
#define FAMILY(Name) register##Name(*this);
#include "compiler/onnx/formats/All.inc"
#undef FAMILY
}

Value make(onnx::Formula &f, StringRef name, ArrayRef<Value> operands, ArrayRef<NamedAttribute> attributes) {
  return onnx::createOp(f.b, f.loc, ("formats." + name).str(), ValueRange(operands), attributes)->getResult(0);
}

} // namespace ingot::formats
