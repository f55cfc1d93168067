// The library is bitcode that the build has made of runtime_support/core and runtime_support/arithmetic. Which of its
// functions a model takes is found by trial, because the code generator calls some (__aeabi_fadd) of its own accord:
//
//   1. link what the module declares and does not define, and what that refers to
//   2. make an object of a copy; what is undefined there, and in the library, is linked too, from the start
//   3. until nothing is added
//
// The functions get the attributes of the model's own, and become local.
#include "compiler/emit/SupportCode.h"
#include "compiler/emit/Analyses.h"
#include "compiler/emit/CodeParts.h"
#include "compiler/emit/Object.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include <set>

using namespace llvm;
using Names = std::set<std::string>;

/// Returns the functions that a module calls and does not define.
static Names declaredIn(const Module &ir) {
  Names names;
  for (const Function &function : ir) {
    if (function.isDeclaration() && !function.isIntrinsic() && !function.use_empty()) {
      names.insert(function.getName().str());
    }
  }
  return names;
}

static void removeUnused(Module &ir) {
  PassBuilder builder;
  ingot::emit::Analyses analyses(builder);
  GlobalDCEPass().run(ir, analyses.modules);
}

/// Gives a function the machine and the aim of those of the model, in place of those of the library's build.
static void takeAttributes(Function &function, const Function &like) {
  AttributeMask others;
  for (const Attribute &attribute : function.getAttributes().getFnAttrs()) {
    if (attribute.isStringAttribute()) {
      others.addAttribute(attribute.getKindAsString());
    }
  }
  for (Attribute::AttrKind aim : {Attribute::OptimizeForSize, Attribute::MinSize}) {
    others.addAttribute(aim);
  }
  function.removeFnAttrs(others);
  for (const Attribute &attribute : like.getAttributes().getFnAttrs()) {
    bool isAim = attribute.hasAttribute(Attribute::OptimizeForSize) || attribute.hasAttribute(Attribute::MinSize);
    if (attribute.isStringAttribute() || isAim) {
      function.addFnAttr(attribute);
    }
  }
}

namespace {
/// The library, of which each trial reads the bitcode anew into the module's context.
class Library {
public:
  Library(StringRef bitcode, LLVMContext &context) : bitcode(bitcode), context(context) {}

  Expected<std::unique_ptr<Module>> read() const {
    return parseBitcodeFile(MemoryBufferRef(bitcode, "support"), context);
  }

  /// Links the functions and what they refer to, as local ones.
  Error link(Module &ir, const Names &names) const {
    Expected<std::unique_ptr<Module>> library = read();
    if (!library) {
      return library.takeError();
    }
    for (GlobalValue &value : (*library)->global_values()) {
      if (!value.isDeclaration() && !names.count(value.getName().str())) {
        value.setLinkage(GlobalValue::InternalLinkage);
      }
    }
    removeUnused(**library);
    const Function &like = *llvm::find_if(ir, [](const Function &own) { return !own.isDeclaration(); });
    for (Function &function : **library) {
      if (!function.isDeclaration()) {
        takeAttributes(function, like);
      }
    }
    for (StringRef facts : {"llvm.module.flags", "llvm.ident", "llvm.commandline"}) { // of the library's build
      if (NamedMDNode *node = (*library)->getNamedMetadata(facts)) {
        node->eraseFromParent();
      }
    }
    (*library)->setTargetTriple(ir.getTargetTriple());
    (*library)->setDataLayout(ir.getDataLayout());
    if (Linker::linkModules(ir, std::move(*library))) {
      return createStringError("the support library's code does not fit the model's");
    }
    for (const std::string &name : names) {
      if (Function *function = ir.getFunction(name); function && !function->isDeclaration()) {
        function->setLinkage(GlobalValue::InternalLinkage);
      }
    }
    return Error::success();
  }

private:
  StringRef bitcode;
  LLVMContext &context;
};
} // namespace

/// Reports calls of functions that no library has, each at a kernel that has one.
static mlir::LogicalResult checkDefined(mlir::ModuleOp module, const Module &ir, const Names &known) {
  mlir::LogicalResult result = mlir::success();
  for (const std::string &name : declaredIn(ir)) {
    if (known.count(name)) {
      continue;
    }
    mlir::Operation *place = module;
    for (const User *user : ir.getFunction(name)->users()) {
      const auto *instruction = dyn_cast<Instruction>(user);
      mlir::Operation *kernel = instruction ? module.lookupSymbol(instruction->getFunction()->getName()) : nullptr;
      place = kernel ? kernel : place;
    }
    result = place->emitError("needs the function '" + name +
                              "', which --symbols none cannot put into the object: it is in neither the core of the "
                              "support library nor a C compiler's library");
  }
  return result;
}

/// Returns what an object of a copy of the module refers to and the library has; its messages come again with the
/// module's own object.
static Names calledByCode(mlir::ModuleOp module, Module &ir, const ingot::target::MachineModel &machine,
                          const ingot::emit::CodeOptions &how, unsigned jobs, const Names &known) {
  mlir::ScopedDiagnosticHandler silent(module.getContext(), [](mlir::Diagnostic &) { return mlir::success(); });
  Expected<std::unique_ptr<Module>> copy = ingot::emit::exactCopy(ir);
  if (!copy) {
    consumeError(copy.takeError());
    return {};
  }
  auto object = ingot::emit::generateObject(module, std::move(*copy), machine, how, jobs);
  if (failed(object)) {
    return {};
  }
  Expected<ingot::emit::ObjectFacts> facts = ingot::emit::inspectObject(StringRef(object->data(), object->size()));
  if (!facts) {
    consumeError(facts.takeError());
    return {};
  }
  Names names;
  llvm::copy_if(facts->undefined, std::inserter(names, names.end()),
                [&](const std::string &name) { return known.count(name) > 0; });
  return names;
}

mlir::LogicalResult ingot::emit::addSupportCode(mlir::ModuleOp module, std::unique_ptr<Module> &ir,
                                                const target::MachineModel &machine, const CodeOptions &how,
                                                unsigned jobs) {
  StringRef bitcode = supportBitcode(ir->getTargetTriple().getArch());
  if (bitcode.empty()) {
    return module.emitError("--symbols none: this build of ingot has no code of the support library for ")
           << machine.spec << " (it was built without clang)";
  }
  Library library(bitcode, ir->getContext());
  Expected<std::unique_ptr<Module>> whole = library.read();
  if (!whole) {
    return module.emitError(toString(whole.takeError()));
  }
  Names known;
  for (const Function &function : **whole) {
    if (!function.isDeclaration() && !function.hasLocalLinkage()) {
      known.insert(function.getName().str());
    }
  }
  if (failed(checkDefined(module, *ir, known))) {
    return mlir::failure();
  }
  for (Names needed = declaredIn(*ir);;) {
    size_t before = needed.size();
    Expected<std::unique_ptr<Module>> linked = exactCopy(*ir);
    Error error = linked ? library.link(**linked, needed) : linked.takeError();
    if (error) {
      return module.emitError(toString(std::move(error)));
    }
    callForWideArithmetic(**linked, machine);
    needed.merge(declaredIn(**linked));
    if (needed.size() == before) {
      needed.merge(calledByCode(module, **linked, machine, how, jobs, known));
    }
    if (needed.size() == before) {
      ir = std::move(*linked);
      return mlir::success();
    }
  }
}
