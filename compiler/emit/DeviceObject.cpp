// Compiles a device's kernels to an object by LLVM: loop IR to the LLVM dialect, a body for each kernel
// (addDeviceBodies), LLVM IR, names, machine code. Names are exchanged on the way, since the driver calls an entry by
// its kernel's name:
//
//   kernel  ->  kernel_items, internal          body of kernel  ->  kernel, external
//
// Invariant: the object refers to nothing but what DeviceObject.h promises that an image's loader provides; any other
// undefined name is an error here, not when the image is loaded.
#include "compiler/emit/DeviceObject.h"
#include "compiler/emit/Lowering.h"
#include "compiler/emit/Object.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;
using namespace ingot;

void emit::nameEntries(Module &ir, ArrayRef<std::string> kernels) {
  for (Function &function : ir) {
    if (!function.isDeclaration()) {
      function.setLinkage(GlobalValue::InternalLinkage);
    }
  }
  for (const std::string &kernel : kernels) {
    Function *entry = ir.getFunction(emit::deviceBodyName(kernel));
    ir.getFunction(kernel)->setName(Twine(kernel) + itemsSuffix);
    entry->setName(kernel);
    entry->setLinkage(GlobalValue::ExternalLinkage);
  }
}

mlir::LogicalResult emit::lowerDeviceModule(mlir::ModuleOp module, const target::MachineModel &machine) {
  forgetMachines(module);
  return lowerToLLVM(module, Machines(machine));
}

std::unique_ptr<Module> emit::translateDeviceModule(mlir::ModuleOp module, LLVMContext &context,
                                                    TargetMachine &target) {
  reportTo(context, module);
  mlir::registerBuiltinDialectTranslation(*module.getContext());
  mlir::registerLLVMDialectTranslation(*module.getContext());
  std::unique_ptr<Module> ir = mlir::translateModuleToLLVMIR(module, context, "kernels");
  if (ir) {
    ir->setTargetTriple(target.getTargetTriple());
    ir->setDataLayout(target.createDataLayout());
  }
  return ir;
}

Expected<SmallVector<char, 0>> emit::generateDeviceCode(Module &ir, TargetMachine &target,
                                                        const target::MachineModel &machine, CodeForm form) {
  optimize(ir, target);
  return writeDeviceCode(ir, target, machine, form);
}

Expected<SmallVector<char, 0>> emit::writeDeviceCode(Module &ir, TargetMachine &target,
                                                     const target::MachineModel &machine, CodeForm form) {
  callForWideArithmetic(ir, machine);
  CodeSettings settings({/*openSizes=*/false, machine.gatherLoads, /*tiles=*/false});
  SmallVector<char, 0> code;
  raw_svector_ostream stream(code);
  if (!generateCode(ir, target, form, stream)) {
    return createStringError(wrongForm);
  }
  if (ir.getContext().getDiagHandlerPtr()->HasErrors) {
    return createStringError("LLVM makes no code of its kernels");
  }
  return code;
}

Expected<SmallVector<char, 0>> emit::deviceObject(mlir::ModuleOp module, ArrayRef<std::string> kernels,
                                                  const target::MachineModel &machine) {
  std::unique_ptr<TargetMachine> target = createTargetMachine(module, machine);
  if (!target || failed(lowerDeviceModule(module, machine))) {
    return createStringError("its kernels cannot be lowered");
  }
  addDeviceBodies(module, kernels);
  LLVMContext context;
  std::unique_ptr<Module> ir = translateDeviceModule(module, context, *target);
  if (!ir) {
    return createStringError("its kernels cannot be translated");
  }
  nameEntries(*ir, kernels);
  Expected<SmallVector<char, 0>> object = generateDeviceCode(*ir, *target, machine, CodeForm::Object);
  if (!object) {
    return object.takeError();
  }
  Expected<ObjectFacts> facts = inspectObject(StringRef(object->data(), object->size()));
  if (!facts) {
    return facts.takeError();
  }
  llvm::erase_if(facts->undefined, [](StringRef name) {
    return name.starts_with("ingot_wide_") ||
           llvm::is_contained({"ingot_thread", "ingot_barrier", "ingot_shared"}, name);
  });
  if (!facts->undefined.empty()) {
    return createStringError("its kernels refer to '" + join(facts->undefined, "', '") + "'");
  }
  return object;
}
