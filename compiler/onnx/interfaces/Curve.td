// Declares facts about elementwise operators: bounds of the numbers that they compute, and whether they take many
// instructions.
#ifndef INGOT_ONNX_CURVE
#define INGOT_ONNX_CURVE
include "mlir/IR/OpBase.td"

def Onnx_Curve : OpInterface<"Curve"> {
  let cppNamespace = "::ingot::onnx";
  let description = "An elementwise op whose results are bounded where its operands are.";
  let methods = [
    InterfaceMethod<"A bound of the results' magnitudes; infinity: there is none. `operand` gives that of an operand, 0 for one left out.", "double", "magnitude",
      (ins "::llvm::function_ref<double(unsigned)>":$operand)>,
    InterfaceMethod<[{
      How far the result may be from the op's own, where only bytes are left of it and integers compute it (lower/bytes/ByteCurve.h). Nothing: it is
      so short that this would not pay.}],
    "::std::optional<double>", "errorOfIntegers", (ins), "", [{ return ::std::nullopt; }]>];
}

/// The trait of ops of which an element takes so many instructions that a loop of its own pays, in which vectors do not
/// wait for one another.
def Onnx_LongFormula : NativeOpTrait<"LongFormula"> {
  let cppNamespace = "::ingot::onnx";
}
#endif
