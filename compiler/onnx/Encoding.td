// Declares what an encoding of a tensor type that says more than the sizes (a layout) does for shape inference to work
// on.
#ifndef INGOT_ONNX_ENCODING
#define INGOT_ONNX_ENCODING
include "mlir/IR/OpBase.td"

def Onnx_SizedEncoding : AttrInterface<"SizedEncoding"> {
  let cppNamespace = "::ingot::onnx";
  let description = "An encoding with the sizes of a tensor, some of which depend on the model's symbols.";
  let methods = [InterfaceMethod<"The size of each axis; none when the shape says all that is known.",
    "::llvm::ArrayRef<::ingot::support::Size>", "axisSizes", (ins)>];
}

#endif
