#include "compiler/entry/BuildDispatch.h"
#include "compiler/entry/BuildEntry.h"
#include "compiler/lower/core/LlvmAttributes.h"
#include "compiler/plan/IndexWidth.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "runtime_support/include/ingot.h"

using namespace mlir;
using namespace ingot::lower;

namespace ingot::entry {
namespace {

/// Writes NAME_run and NAME_plan as a row of tests, each with the call of a variant behind it.
class Dispatch {
public:
  Dispatch(ModuleOp module, const plan::ModelInfo &info, ArrayRef<VariantSizes> variants)
      : module(module), info(info), variants(variants), b(module.getContext()), loc(module.getLoc()) {}

  /// Writes NAME_run.
  void run() {
    func::FuncOp f = begin("_run");
    size_t first = info.inputs.size() + info.outputs.size();
    SmallVector<Value> symbols(f.getArguments().slice(first, info.symbols.size()));
    Value level = info.levels.empty() ? Value() : askLevel(f);
    Value given = info.hostFallback ? askDevices(f) : Value();
    for (const VariantSizes &candidate : variants) {
      Block *next = takeIf(f, fits(candidate, symbols, level, given));
      ret(call(f, variant(candidate, "_run")));
      b.setInsertionPointToStart(next);
    }
    ret(status(INGOT_ERROR_SIZE));
  }

  /// Writes NAME_plan, which calls the plan of the variant for the run's sizes. With several machines, and where
  /// devices may be missing, the workspace is the most that any of these variants needs.
  void plan() {
    func::FuncOp f = begin("_plan");
    SmallVector<Value> symbols;
    for (size_t i = 0; i < info.symbols.size(); ++i) {
      Value size = memref::LoadOp::create(b, loc, f.getArgument(0), index(i));
      bool fitsIndex = plan::indexBits(module) == 64;
      symbols.push_back(fitsIndex ? arith::IndexCastOp::create(b, loc, b.getIndexType(), size).getResult() : size);
    }
    int32_t highest = variants.front().level;
    for (const VariantSizes &candidate : variants) {
      if (candidate.level != highest) {
        break;
      }
      if (candidate.onHost) { // the variant with devices for the same sizes asks its plan, too
        continue;
      }
      Block *next = takeIf(f, fits(candidate, symbols, Value(), Value()));
      planAll(f, candidate);
      b.setInsertionPointToStart(next);
    }
    ret(status(INGOT_ERROR_SIZE));
  }

private:
  ModuleOp module;
  const plan::ModelInfo &info;
  ArrayRef<VariantSizes> variants;
  OpBuilder b;
  Location loc;

  /// Returns a function of a variant.
  func::FuncOp variant(const VariantSizes &of, StringRef what) {
    return module.lookupSymbol<func::FuncOp>(info.name + of.suffix + what.str());
  }
  /// Begins a function of the model with the types that any variant's has: the tensors of all variants are bare
  /// pointers, whatever their extents.
  func::FuncOp begin(StringRef what) {
    b.setInsertionPointToEnd(module.getBody());
    auto f = func::FuncOp::create(b, loc, info.name + what.str(), variant(variants.front(), what).getFunctionType());
    b.setInsertionPointToStart(f.addEntryBlock());
    return f;
  }

  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  Value status(int64_t value) { return arith::ConstantIntOp::create(b, loc, value, 32); }
  void ret(Value value) { func::ReturnOp::create(b, loc, value); }

  /// Ends the block with a branch on a condition. The builder goes on where it holds; the block for runs where it does
  /// not is returned.
  Block *takeIf(func::FuncOp f, Value condition) {
    Block *take = f.addBlock(), *next = f.addBlock();
    cf::CondBranchOp::create(b, loc, condition, take, ValueRange{}, next, ValueRange{});
    b.setInsertionPointToStart(take);
    return next;
  }

  /// Returns the level of the machine, from ingot_run_level. Below the lowest variant's level the run ends here.
  Value askLevel(func::FuncOp f) {
    Value level = ask("ingot_run_level", f.getArguments().back());
    Value lowest = status(info.levels.back().number);
    Block *next = takeIf(f, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, level, lowest));
    ret(status(INGOT_ERROR_TARGET));
    b.setInsertionPointToStart(next);
    return level;
  }

  /// Returns (i32) whether the run has all devices.
  Value askDevices(func::FuncOp f) {
    Value arguments[] = {f.getArguments().back(), status(static_cast<int64_t>(info.devices.size()))};
    return ask("ingot_devices_given", arguments);
  }

  /// Returns what a function of the support library returns.
  Value ask(StringRef name, ValueRange arguments) {
    OpBuilder::InsertPoint here = b.saveInsertionPoint();
    b.setInsertionPointToStart(module.getBody());
    auto function = func::FuncOp::create(b, loc, name, b.getFunctionType(TypeRange(arguments), {b.getI32Type()}));
    function.setPrivate();
    b.restoreInsertionPoint(here);
    return func::CallOp::create(b, loc, function, arguments).getResult(0);
  }

  /// Returns (i1) whether a run with these sizes on this level (null: on any) is the variant's; `given` says whether it
  /// has devices, and is null where that makes no difference.
  Value fits(const VariantSizes &candidate, ArrayRef<Value> symbols, Value level, Value given) {
    Value result = arith::ConstantIntOp::create(b, loc, 1, 1);
    if (level) {
      result = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, level, status(candidate.level));
    }
    if (given) {
      Value wanted = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, given, status(!candidate.onHost));
      result = arith::AndIOp::create(b, loc, result, wanted);
    }
    for (auto [symbol, size] : llvm::zip_equal(symbols, candidate.sizes)) {
      if (size) {
        Value wanted = symbol.getType().isIndex() ? index(*size) : arith::ConstantIntOp::create(b, loc, *size, 64);
        Value equal = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, symbol, wanted);
        result = arith::AndIOp::create(b, loc, result, equal);
      }
    }
    return result;
  }

  /// Calls a variant's function with the arguments of `f`.
  Value call(func::FuncOp f, func::FuncOp callee) {
    SmallVector<Value> operands;
    for (auto [argument, type] : llvm::zip_equal(f.getArguments(), callee.getArgumentTypes())) {
      Value operand = argument;
      if (operand.getType() != type) {
        operand = memref::ViewOp::create(b, loc, cast<MemRefType>(type), operand, index(0), ValueRange{});
      }
      operands.push_back(operand);
    }
    return func::CallOp::create(b, loc, callee, operands).getResult(0);
  }

  /// Calls the plans of all variants for the sizes of `first`, one for each level, or the two with devices and without.
  /// They differ in the workspace alone, of which the largest is kept; that without devices leaves theirs as it is.
  void planAll(func::FuncOp f, const VariantSizes &first) {
    Value result = call(f, variant(first, "_plan")), workspace = f.getArgument(2), most;
    for (const VariantSizes &other : variants) {
      if ((other.level == first.level && !other.onHost) || other.sizes != first.sizes) {
        continue;
      }
      Block *fail = takeIf(f, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, result, status(0)));
      {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(fail);
        ret(result);
      }
      Value before = memref::LoadOp::create(b, loc, workspace, index(0));
      most = most ? arith::MaxSIOp::create(b, loc, most, before).getResult() : before;
      result = call(f, variant(other, "_plan"));
    }
    if (most) { // where a plan refused, its status is returned and nobody reads the workspace
      Value last = memref::LoadOp::create(b, loc, workspace, index(0));
      memref::StoreOp::create(b, loc, arith::MaxSIOp::create(b, loc, most, last), workspace, index(0));
    }
    ret(result);
  }
};

} // namespace

void buildDispatch(ModuleOp module, const plan::ModelInfo &info, ArrayRef<VariantSizes> variants) {
  Dispatch dispatch(module, info, variants);
  dispatch.run();
  if (!info.symbols.empty() || !info.dataDependentSizes.empty()) {
    dispatch.plan();
  }
}

} // namespace ingot::entry
