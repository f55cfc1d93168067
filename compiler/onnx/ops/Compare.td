// Declares comparisons, whose results are booleans.
include "compiler/onnx/Onnx.td"

class Onnx_Comparison<string mnemonic, Type type = Onnx_Numbers> : Onnx_Binary<mnemonic, type> {
  let memberDeclarations = [{
    ::mlir::Type resultElement() { return ::mlir::IntegerType::get(getContext(), 1); }
    static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node);
  }];
}
def Onnx_EqualOp : Onnx_Comparison<"Equal", AnyTensor>, Since<19>;
def Onnx_LessOp : Onnx_Comparison<"Less">, Since<13>;
def Onnx_GreaterOp : Onnx_Comparison<"Greater">, Since<13>;
def Onnx_LessOrEqualOp : Onnx_Comparison<"LessOrEqual">, Since<16>;
def Onnx_GreaterOrEqualOp : Onnx_Comparison<"GreaterOrEqual">, Since<16>;
