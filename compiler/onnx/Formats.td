// The formats that kernels read and the standard does not have: operators on bytes without zero points, on bfloat16, on weights of few
// bits in words. No model can name them. Decompositions and the forms that a device wants (integer/) leave them.
#ifndef INGOT_FORMATS
#define INGOT_FORMATS
include "compiler/onnx/Onnx.td"

def Formats_Dialect : Dialect {
  let name = "formats";
  let cppNamespace = "::ingot::formats";
  let summary = "operators in the formats of kernels";
  let extraClassDeclaration = [{
    /// Registers ops; called by the register<Family>() functions of formats/.
    template <typename... Ops> void add() { addOperations<Ops...>(); }
  }];
}

class Formats_Op<string mnemonic, list<Trait> traits = []>
    : Op<Formats_Dialect, mnemonic, traits # [Pure, DeclareOpInterfaceMethods<Onnx_InferTypes>]> {
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
#endif
