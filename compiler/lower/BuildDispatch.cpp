#include "compiler/lower/BuildDispatch.h"
#include "compiler/lower/BuildEntry.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace ingot::lower {
namespace {

class Dispatch {
public:
  Dispatch(ModuleOp module, const plan::ModelInfo &info, ArrayRef<BodySizes> bodies)
      : module(module), info(info), bodies(bodies), b(module.getContext()), loc(module.getLoc()) {}

  void run() {
    func::FuncOp f = begin("_run");
    size_t first = info.inputs.size() + info.outputs.size();
    SmallVector<Value> symbols(f.getArguments().slice(first, info.symbols.size()));
    choose(f, "_run", symbols);
  }

  void plan() {
    func::FuncOp f = begin("_plan");
    SmallVector<Value> symbols;
    for (size_t i = 0; i < info.symbols.size(); ++i) {
      Value at = arith::ConstantIndexOp::create(b, loc, i);
      Value size = memref::LoadOp::create(b, loc, f.getArgument(0), at);
      symbols.push_back(arith::IndexCastOp::create(b, loc, b.getIndexType(), size));
    }
    choose(f, "_plan", symbols);
  }

private:
  ModuleOp module;
  const plan::ModelInfo &info;
  ArrayRef<BodySizes> bodies;
  OpBuilder b;
  Location loc;

  func::FuncOp body(const BodySizes &of, StringRef what) {
    return module.lookupSymbol<func::FuncOp>(info.name + of.suffix + what.str());
  }
  /// Pointers are pointers: the types are those of any body.
  func::FuncOp begin(StringRef what) {
    b.setInsertionPointToEnd(module.getBody());
    auto f = func::FuncOp::create(b, loc, info.name + what.str(), body(bodies.front(), what).getFunctionType());
    b.setInsertionPointToStart(f.addEntryBlock());
    return f;
  }

  void choose(func::FuncOp f, StringRef what, ArrayRef<Value> symbols) {
    for (const BodySizes &candidate : bodies) {
      Block *take = f.addBlock(), *next = f.addBlock();
      Value fits = arith::ConstantIntOp::create(b, loc, 1, 1);
      for (auto [symbol, size] : llvm::zip_equal(symbols, candidate.sizes)) {
        if (size) {
          Value wanted = arith::ConstantIndexOp::create(b, loc, *size);
          Value equal = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, symbol, wanted);
          fits = arith::AndIOp::create(b, loc, fits, equal);
        }
      }
      cf::CondBranchOp::create(b, loc, fits, take, ValueRange{}, next, ValueRange{});
      b.setInsertionPointToStart(take);
      call(f, body(candidate, what));
      b.setInsertionPointToStart(next);
    }
    Value refused = arith::ConstantIntOp::create(b, loc, sizeErrorKind, 32);
    func::ReturnOp::create(b, loc, refused);
  }

  void call(func::FuncOp f, func::FuncOp callee) {
    SmallVector<Value> operands;
    for (auto [argument, type] : llvm::zip_equal(f.getArguments(), callee.getArgumentTypes())) {
      Value operand = argument;
      if (operand.getType() != type) {
        Value zero = arith::ConstantIndexOp::create(b, loc, 0);
        operand = memref::ViewOp::create(b, loc, cast<MemRefType>(type), operand, zero, ValueRange{});
      }
      operands.push_back(operand);
    }
    func::ReturnOp::create(b, loc, func::CallOp::create(b, loc, callee, operands).getResults());
  }
};

} // namespace

void buildDispatch(ModuleOp module, const plan::ModelInfo &info, ArrayRef<BodySizes> bodies) {
  Dispatch dispatch(module, info, bodies);
  dispatch.run();
  dispatch.plan();
}

} // namespace ingot::lower
