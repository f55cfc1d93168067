// From the LLVM dialect to machine code in memory. The weights are not there yet: they have a section that takes no
// room in the object, for Object.h to fill.
#pragma once
#include "compiler/emit/DeviceCode.h"
#include "compiler/plan/Model.h"
#include "compiler/target/MachineModel.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
class raw_pwrite_stream;
} // namespace llvm

namespace ingot::emit {

/// The symbol of the weights, and the section that holds them, one of those called `constants` (target/Platform.h).
std::string weightsSymbol(llvm::StringRef model);
std::string weightsSection(llvm::StringRef model, llvm::StringRef constants);

/// LLVM's code generator for the machine; null with an error at `module` when LLVM does not know it.
std::unique_ptr<llvm::TargetMachine> createTargetMachine(mlir::ModuleOp module, const target::MachineModel &machine);

/// What LLVM says of code in the context becomes diagnostics of the module, at the function that it is about; the stack
/// size that prepareFunctions asked about is one.
void reportTo(llvm::LLVMContext &context, mlir::ModuleOp module);

/// Translates the module, which is in the LLVM dialect, and gives its symbols their final linkage.
std::unique_ptr<llvm::Module> translate(mlir::ModuleOp module, llvm::LLVMContext &context, llvm::TargetMachine &target,
                                        const plan::ModelInfo &model);

/// Adds what ingot.h describes: the ingot_model with its tensors and names, NAME_model() and the generic entry.
mlir::LogicalResult addDescriptor(mlir::ModuleOp module, llvm::Module &ir, const plan::ModelInfo &model,
                                  llvm::ArrayRef<DeviceCode> devices);

/// Returns a copy with the same order of uses, on which the choice of registers depends: code generation consumes a
/// module, and the assembly has to be the object's.
llvm::Expected<std::unique_ptr<llvm::Module>> exactCopy(const llvm::Module &ir);

/// The few passes that loop IR needs: everything else was decided by the kernel builders.
void optimize(llvm::Module &ir, llvm::TargetMachine &target);

/// Makes one body of functions that differ in numbers alone.
void shareFunctions(llvm::Module &ir);

/// Makes one body of parts of functions that differ in numbers alone.
void shareParts(llvm::Module &ir, llvm::TargetMachine &target);

/// Instructions that the machine does not have become calls of the support library.
void callForWideArithmetic(llvm::Module &ir, const target::MachineModel &machine);

/// Lets a module that calls functions of the support library refer to the symbol that has the library's version
/// (INGOT_ABI_SYMBOL).
void requireLibraryVersion(llvm::Module &ir, llvm::StringRef model);

/// Replaces the declaration of the weights, constant for the optimizer, by zeros in .bss, so that LLVM makes a local
/// symbol of the right size and never sees a byte. In ELF the symbol is called as the section it will
/// be in (Object.cpp).
void defineWeights(llvm::Module &ir, llvm::StringRef model, llvm::StringRef constants);

enum class CodeFile { Object, Assembly };
struct CodeOptions {
  bool openSizes = false;  ///< addresses depend on sizes that are known only when the model runs
  bool gatherLoads = true; ///< MachineModel::gatherLoads
  bool tiles = false;      ///< functions use AMX
};
/// Sets options of LLVM's code generator, which are the process's and have no other way in, while it lives.
class CodeSettings {
public:
  explicit CodeSettings(const CodeOptions &options);
  ~CodeSettings();
  CodeSettings(const CodeSettings &) = delete;
  CodeSettings &operator=(const CodeSettings &) = delete;

private:
  std::vector<std::pair<llvm::StringRef, bool>> before;
  void set(llvm::StringRef option, bool value);
};

/// Under the settings of whoever calls it, who says `wrongCodeFile` where it is false. Consumes the module.
bool generateCode(llvm::Module &ir, llvm::TargetMachine &target, CodeFile kind, llvm::raw_pwrite_stream &out);
inline constexpr llvm::StringLiteral wrongCodeFile = "the code generator cannot write this kind of file";

} // namespace ingot::emit
