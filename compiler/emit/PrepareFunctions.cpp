// Gives every function of a model its attributes before it becomes an LLVM function.
//
//   target-cpu, target-features   the machine for which LLVM chooses instructions, which may differ by function
//   no-builtins                   LLVM does not turn loops into calls of a C library, which may not be there
//   nounwind                      there are no tables for unwinding
//   warn-stack-size               LLVM warns of a stack frame above the platform's stackBytes
//   optsize, minsize              on platforms that want small code, or as --optimize says
//
// Stack arrays move to the entry block: within a loop each iteration would take more of the stack.
#include "compiler/emit/Lowering.h"
#include "compiler/plan/KernelAttributes.h"
#include "compiler/target/Platform.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

static void setAttributes(func::FuncOp function, const ingot::target::MachineModel &machine,
                          ingot::emit::Optimize aim) {
  Builder builder(function.getContext());
  SmallVector<Attribute> list;
  auto add = [&](StringRef key, StringRef value) { list.push_back(builder.getStrArrayAttr({key, value})); };
  if (auto present = function->getAttrOfType<ArrayAttr>(ingot::plan::passthroughName)) {
    llvm::append_range(list, present);
  }
  add("target-cpu", machine.cpu);
  if (!machine.features.empty()) {
    add("target-features", machine.features);
  }
  if (function->removeAttr(ingot::plan::tilesName)) {
    list.push_back(builder.getStringAttr(ingot::emit::usesAmx));
  }
  ingot::target::Platform platform = ingot::target::platformOf(machine);
  add("warn-stack-size", std::to_string(platform.stackBytes));
  using ingot::emit::Optimize;
  if (aim == Optimize::Balanced ? platform.smallCode : aim == Optimize::Size) {
    list.push_back(builder.getStringAttr("optsize"));
  }
  if (aim == Optimize::Size) {
    list.push_back(builder.getStringAttr("minsize"));
  }
  for (StringRef flag : {"no-builtins", "nounwind"}) {
    list.push_back(builder.getStringAttr(flag));
  }
  function->setAttr(ingot::plan::passthroughName, builder.getArrayAttr(list));
}

void ingot::emit::forgetMachines(ModuleOp module) {
  for (func::FuncOp function : module.getOps<func::FuncOp>()) {
    function->removeAttr(plan::machineName);
  }
}

void ingot::emit::prepareFunctions(ModuleOp module, const Machines &machines, Optimize aim) {
  for (func::FuncOp function : module.getOps<func::FuncOp>()) {
    if (function.isExternal()) {
      continue;
    }
    setAttributes(function, machines.of(function), aim);
    if (function.isPrivate()) {
      auto linkage = LLVM::LinkageAttr::get(module.getContext(), LLVM::linkage::Linkage::Internal);
      function->setAttr("llvm.linkage", linkage);
    }
    SmallVector<memref::AllocaOp> arrays;
    function.walk([&](memref::AllocaOp op) { arrays.push_back(op); });
    for (memref::AllocaOp array : llvm::reverse(arrays)) {
      if (array->getNumOperands() == 0) {
        array->moveBefore(&function.front(), function.front().begin());
      }
    }
  }
  // In LLVM a declaration must have external linkage, which a private symbol would not get.
  for (memref::GlobalOp global : module.getOps<memref::GlobalOp>()) {
    if (global.isExternal()) {
      SymbolTable::setSymbolVisibility(global, SymbolTable::Visibility::Public);
    }
  }
}
