// Generates the object of a model in parts, by several threads. A large module is written as bitcode once, with the
// order of uses, on which the choice of registers depends; each part reads the functions that are its own into a
// context of its own and makes an object of them. What is local to the object is global and hidden among the parts, and
// local again in the object that the linker makes of theirs. The parts are pieces of the module as it stands, so the
// order of the functions is what it would be without them.
//
// The variables, of which a model with thousands of inputs has many for each, belong to the first part. The others read
// a second bitcode that declares those which functions name, so that no part costs more than its functions.
//
// Invariant: the object is the same for any number of threads. How many parts there are depends on the module alone
// (dealOut), threads take one after the other, and objects and messages are put together in the order of the parts.
#include "compiler/emit/CodeParts.h"
#include "compiler/emit/LinkPieces.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"
#include <atomic>
#include <thread>

using namespace llvm;
using Bytes = SmallVector<char, 0>;

/// Instructions of a part, which cost more than it takes to read, write and link it; and the most parts, enough for any
/// number of cores that kernels of a model keep busy.
static constexpr size_t leastInstructions = 2000, mostParts = 32;

namespace {
/// A part of the module.
struct Part {
  StringSet<> functions;
  std::unique_ptr<TargetMachine> target;
  Bytes object;
  std::vector<std::pair<DiagnosticSeverity, std::string>> messages;
};
} // namespace

/// Divides the functions, in their order, among parts of about equally many instructions.
static std::vector<Part> dealOut(const Module &ir) {
  size_t all = 0;
  for (const Function &function : ir) {
    all += function.getInstructionCount();
  }
  size_t count =
      ir.getTargetTriple().isOSBinFormatELF() ? std::clamp<size_t>(all / leastInstructions, 1, mostParts) : 1;
  std::vector<Part> parts(1);
  size_t before = 0;
  for (const Function &function : ir) {
    if (function.isDeclaration()) {
      continue;
    }
    if (before * count >= all * parts.size()) {
      parts.emplace_back();
    }
    parts.back().functions.insert(function.getName());
    before += function.getInstructionCount();
  }
  return parts;
}

/// Gives other parts what is local to the module; its names.
static std::vector<std::string> share(Module &ir) {
  std::vector<std::string> names;
  for (GlobalValue &value : ir.global_values()) {
    if (value.hasLocalLinkage()) {
      if (!value.hasName()) {
        value.setName("ingot.shared"); // a number is added where it is taken
      }
      names.push_back(value.getName().str());
      value.setLinkage(GlobalValue::ExternalLinkage);
      value.setVisibility(GlobalValue::HiddenVisibility);
      value.setDSOLocal(true);
    }
  }
  return names;
}

static void note(const DiagnosticInfo *info, void *part) {
  std::string text;
  raw_string_ostream stream(text);
  DiagnosticPrinterRawOStream printer(stream);
  info->print(printer);
  static_cast<Part *>(part)->messages.push_back({info->getSeverity(), text});
}

static Bytes bitcodeOf(const Module &ir) {
  Bytes bitcode;
  raw_svector_ostream stream(bitcode);
  WriteBitcodeToFile(ir, stream, /*ShouldPreserveUseListOrder=*/true);
  return bitcode;
}

/// Makes declarations of all variables, and removes those that no function names.
static void declareVariables(Module &ir) {
  for (GlobalVariable &variable : make_early_inc_range(ir.globals())) {
    if (variable.hasAppendingLinkage()) { // a list of what linkers keep, which cannot be declared
      variable.eraseFromParent();
    } else {
      variable.setInitializer(nullptr);
    }
  }
  for (GlobalVariable &variable : make_early_inc_range(ir.globals())) {
    variable.removeDeadConstantUsers();
    if (variable.use_empty()) {
      variable.eraseFromParent();
    }
  }
}

/// Makes the part's object.
static void generate(Part &part, ArrayRef<char> bitcode) {
  LLVMContext context;
  context.setDiagnosticHandlerCallBack(note, &part);
  Expected<std::unique_ptr<Module>> ir =
      getLazyBitcodeModule({StringRef(bitcode.data(), bitcode.size()), "module"}, context);
  if (!ir) {
    part.messages.push_back({DS_Error, toString(ir.takeError())});
    return;
  }
  for (Function &function : **ir) {
    if (function.isMaterializable() && !part.functions.contains(function.getName())) {
      function.deleteBody();
    }
  }
  if (Error error = (*ir)->materializeAll()) {
    part.messages.push_back({DS_Error, toString(std::move(error))});
    return;
  }
  raw_svector_ostream stream(part.object);
  if (!ingot::emit::generateCode(**ir, *part.target, ingot::emit::CodeFile::Object, stream)) {
    part.messages.push_back({DS_Error, ingot::emit::wrongCodeFile.str()});
  }
}

/// Makes the objects of all parts, as threads come to them; the first part is read from `whole`, the others from
/// `functions`.
static void generate(MutableArrayRef<Part> parts, ArrayRef<char> whole, ArrayRef<char> functions, unsigned jobs) {
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i = next++; i < parts.size(); i = next++) {
      generate(parts[i], i == 0 ? whole : functions);
    }
  };
  size_t threads = std::min<size_t>(jobs ? jobs : std::max(1U, std::thread::hardware_concurrency()), parts.size());
  std::vector<std::thread> others;
  while (others.size() + 1 < threads) {
    others.emplace_back(work);
  }
  work();
  llvm::for_each(others, [](std::thread &thread) { thread.join(); });
}

/// Reports the messages of LLVM in the order of the parts; failure if one of them is an error.
static mlir::LogicalResult reportMessages(mlir::ModuleOp module, ArrayRef<Part> parts) {
  bool failed = false;
  for (const Part &part : parts) {
    for (const auto &[severity, text] : part.messages) {
      failed |= severity == DS_Error;
      if (severity == DS_Error) {
        module.emitError(text);
      } else if (severity == DS_Warning) {
        module.emitWarning(text);
      }
    }
  }
  return mlir::success(!failed);
}

mlir::FailureOr<Bytes> ingot::emit::generateObject(mlir::ModuleOp module, std::unique_ptr<Module> ir,
                                                   const target::MachineModel &machine, const CodeOptions &options,
                                                   unsigned jobs) {
  CodeSettings settings(options);
  std::vector<Part> parts = dealOut(*ir);
  for (Part &part : parts) {
    part.target = createTargetMachine(module, machine);
    if (!part.target) {
      return mlir::failure();
    }
  }
  if (parts.size() == 1) {
    raw_svector_ostream stream(parts[0].object);
    if (!generateCode(*ir, *parts[0].target, CodeFile::Object, stream)) {
      return module.emitError(wrongCodeFile);
    }
    return std::move(parts[0].object);
  }
  std::vector<std::string> shared = share(*ir);
  Bytes whole = bitcodeOf(*ir);
  declareVariables(*ir);
  Bytes functions = bitcodeOf(*ir);
  ir.reset();
  ::generate(parts, whole, functions, jobs);
  if (failed(reportMessages(module, parts))) {
    return mlir::failure();
  }
  auto objects = llvm::map_to_vector(parts, [](const Part &part) { return ArrayRef<char>(part.object); });
  Expected<Bytes> object = linkObjects(objects, shared);
  if (!object) {
    return module.emitError(toString(object.takeError()));
  }
  return std::move(*object);
}
