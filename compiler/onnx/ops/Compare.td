// Comparisons; results are booleans.
include "compiler/onnx/Onnx.td"

class Onnx_Comparison<string mnemonic, Type type = Onnx_Numbers> : Onnx_Binary<mnemonic, type> {
  let more = [{
    ::mlir::Type resultElement() { return ::mlir::IntegerType::get(getContext(), 1); }
    static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node);
  }];
}
def Onnx_EqualOp : Onnx_Comparison<"Equal", AnyTensor>;
def Onnx_LessOp : Onnx_Comparison<"Less">;
def Onnx_GreaterOp : Onnx_Comparison<"Greater">;
def Onnx_LessOrEqualOp : Onnx_Comparison<"LessOrEqual">;
def Onnx_GreaterOrEqualOp : Onnx_Comparison<"GreaterOrEqual">;
