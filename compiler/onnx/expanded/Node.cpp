#include "compiler/onnx/expanded/Node.h"
#include "compiler/onnx/Family.h"
#define GET_OP_CLASSES
#include "compiler/onnx/expanded/Node.cpp.inc"

namespace ingot::onnx {

void registerNode(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/expanded/Node.cpp.inc"
      >();
}

} // namespace ingot::onnx
