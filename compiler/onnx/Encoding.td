// What an encoding of a tensor type that says more than the sizes (a layout) does for shape inference to work on.
#ifndef INGOT_ONNX_ENCODING
#define INGOT_ONNX_ENCODING
include "mlir/IR/OpBase.td"

def Onnx_SizedEncoding : AttrInterface<"SizedEncoding"> {
  let cppNamespace = "::ingot::onnx";
  let description = "An encoding with the texts of the sizes that depend on the model's symbols.";
  let methods = [InterfaceMethod<"The text of each axis, empty for a number; null when all are numbers.", "::mlir::ArrayAttr", "getSizes", (ins)>];
}

#endif
