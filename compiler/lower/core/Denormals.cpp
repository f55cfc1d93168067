// A multiply-add of which an operand or the result is denormal (below 2^-126 in float32) is done by microcode on x86,
// and takes about a hundred times as long. Trained weights have such numbers by the thousand, where weight decay has
// worn down channels that nothing needs, and so have states that fade away in silence. In a sum of products they do not
// count: what is left out of a sum of n products is at most n * 2^-126 times the largest factor.
//
// So kernels of products whose weights tell of it, and recurrences, begin with two bits of the control word set and end
// with the word as it was; what follows the products in registers is done so, too. All other kernels keep denormal
// numbers: some divide small numbers by small numbers.
#include "compiler/lower/core/Denormals.h"
#include "compiler/lower/LowerKernels.h"
#include "compiler/lower/core/Instructions.h"
#include "compiler/lower/core/LlvmAttributes.h"
#include "compiler/lower/core/Writer.h"
#include "compiler/onnx/OpWork.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/ops/Recurrent.h"
#include "compiler/plan/KernelAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <cstring>

using namespace mlir;

namespace ingot::lower {

/// Whether some elements are no zeros, but so small that their products with usual numbers may be denormal. In vectors:
/// each level of a library reads all weights.
static bool isWorn(ElementsAttr constant) {
  constexpr uint32_t magnitude = 0x7FFFFFFF, least = (127 - 100) << 23; // the bits of 2^-100
  constexpr size_t lanes = 8;
  using Words = uint32_t __attribute__((vector_size(lanes * sizeof(uint32_t))));
  if (!constant || !constant.getElementType().isF32()) {
    return false;
  }
  std::vector<char> storage;
  ArrayRef<char> bytes = onnx::bytesOf(constant, storage);
  Words found = {};
  for (size_t at = 0; at < bytes.size(); at += sizeof(Words)) {
    Words bits = {}; // zeros behind the last element
    std::memcpy(&bits, bytes.data() + at, std::min(sizeof bits, bytes.size() - at));
    found |= Words((bits & magnitude) - 1 < least - 1); // of zero it is the largest number
  }
  return llvm::any_of(llvm::seq(lanes), [&](size_t lane) { return found[lane] != 0; });
}

bool meetsDenormals(plan::KernelOp kernel, const target::MachineModel &machine) {
  if (!machine.has(Instruction::StoreControl) || kernel->getParentOfType<ModuleOp>()->hasAttr(plan::strictName)) {
    return false;
  }
  bool isProduct = false, isRecurrence = false;
  kernel->walk([&](Operation *op) {
    bool ofFloats = op->getNumResults() && isa<FloatType>(getElementTypeOrSelf(op->getResult(0).getType()));
    isRecurrence |= ofFloats && isa<onnx::RecurrenceOp>(op);
    isProduct |= ofFloats && onnx::multiplyAddsOf(op);
  });
  return isRecurrence ||
         (isProduct && llvm::any_of(kernel.getIns(), [](Value v) { return isWorn(onnx::constantOf(v)); }));
}

void takeDenormalsForZeros(func::FuncOp function, const target::MachineModel &machine) {
  Writer w(OpBuilder::atBlockBegin(&function.front()), function.getLoc(), machine);
  Type i32 = w.b.getI32Type();
  Buffer before = w.local(i32, 1), inside = w.local(i32, 1);
  Value old = pointerTo(w.b, w.loc, w.address(before));
  instruction(w, Instruction::StoreControl, old);
  w.store(arith::OrIOp::create(w.b, w.loc, w.load(before, 0), w.constant(machine.denormalBits, i32)), inside, 0);
  instruction(w, Instruction::LoadControl, pointerTo(w.b, w.loc, w.address(inside)));
  w.b.setInsertionPoint(function.front().getTerminator());
  instruction(w, Instruction::LoadControl, old);
}

} // namespace ingot::lower
