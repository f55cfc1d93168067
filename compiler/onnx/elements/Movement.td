// The base class of ops that move elements to places known at compile time.
#ifndef INGOT_ONNX_MOVEMENT
#define INGOT_ONNX_MOVEMENT
include "compiler/onnx/Onnx.td"

/// Operands beyond the first `data` ones say where elements go and must be constants.
class Onnx_Move<string mnemonic, int inputs, int dataOperands = 1, list<Trait> traits = []>
    : Onnx_Op<mnemonic, inputs, traits # [Onnx_Evaluable, Onnx_Parametric, Onnx_ViewInterface, DeclareOpInterfaceMethods<Onnx_Mover>]> {
  code own = "";
  let results = (outs AnyTensor:$y);
  let memberDeclarations = [{
    bool isParameter(unsigned operand) { return }] # !if(!eq(dataOperands, -1), "false", "operand >= " # dataOperands) # [{; }
    ::std::optional<::ingot::support::Size> viewOffset() { return contiguousOffset(*this); }
    ::llvm::LogicalResult evaluate(::llvm::ArrayRef<::mlir::ElementsAttr> operands, ::llvm::SmallVectorImpl<::mlir::ElementsAttr> &results) {
      auto moves = movement();
      return moves ? evaluateMovement(*this, *moves, operands, results) : ::llvm::failure();
    }
  }] # own;
}
defvar upgrades = "static ::llvm::LogicalResult upgrade(::ingot::onnx::Node &node);";
#endif
