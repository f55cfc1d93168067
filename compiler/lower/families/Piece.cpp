// Builds a kernel whose code its target brought (target/Piece.h), as a call of that code with the addresses in arrays
// on the stack.
#include "compiler/lower/Family.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime_support/include/ingot.h"

using namespace mlir;

namespace ingot::lower {
namespace {

class PieceFamily final : public KernelFamily {
public:
  SmallVector<TypeID> roots() const override { return {}; } // the kernel op itself says that it is a piece

  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &) const override {
    KernelShape shape;
    shape.scratchBytes = kernel.getPiece()->getScratch().getValue();
    shape.checked = true;
    shape.error = INGOT_ERROR_PIECE;
    return shape;
  }

  LogicalResult build(Build &build, const KernelShape &) const override {
    Writer &w = build.w;
    plan::KernelOp kernel = build.group.kernel;
    SmallVector<Value> ins, outs, sizes;
    for (Value v : kernel.getBody().getArguments()) {
      ins.push_back(w.address(build.group.buffer(v)));
    }
    for (unsigned i = 0; i < kernel.getNumResults(); ++i) {
      outs.push_back(w.address(build.group.result(i)));
    }
    for (const support::Size &size : kernel.getPiece()->getSizes().getValues()) {
      sizes.push_back(w.integer(size, w.b.getI64Type()));
    }
    auto module = kernel->getParentOfType<ModuleOp>();
    auto callee = module.lookupSymbol<func::FuncOp>(kernel.getPiece()->getFunction().getAttr());
    if (!callee) {
      return kernel.emitError("the function of a piece is not declared: ") << kernel.getPiece()->getFunction();
    }
    Buffer scratch = build.scratch ? w.scratch(build.scratch, 0, w.b.getI8Type(), 1) : w.local(w.b.getI8Type(), 1);
    Value arguments[] = {list(w, ins, w.b.getIndexType()), list(w, outs, w.b.getIndexType()), scratch.memref,
                         list(w, sizes, w.b.getI64Type())};
    Value status = func::CallOp::create(w.b, w.loc, callee, arguments).getResult(0);
    Value zero = w.constant(0, w.b.getI32Type());
    build.failIf(w.compare(arith::CmpIPredicate::ne, status, zero), INGOT_ERROR_PIECE);
    return success();
  }

private:
  /// Returns an array on the stack with these values.
  static Value list(Writer &w, ArrayRef<Value> values, Type element) {
    Buffer all = w.local(element, std::max<int64_t>(1, static_cast<int64_t>(values.size())));
    for (auto [i, v] : llvm::enumerate(values)) {
      w.store(v, all, static_cast<int64_t>(i));
    }
    return all.memref;
  }
};

} // namespace

std::unique_ptr<KernelFamily> createPieceFamily() { return std::make_unique<PieceFamily>(); }

} // namespace ingot::lower
