// Links NAME.wasm. The stack lies in front of all data, so that one that is too short ends a run (with a trap) and
// changes nothing; it has 256 KiB, of which kernels take a few, and is the module's alone.
#include "compiler/emit/WasmModule.h"
#include "compiler/emit/Linker.h"
#include "compiler/emit/SharedLibrary.h"

llvm::Error ingot::emit::linkWasmModule(const std::string &object, llvm::StringRef triple, const std::string &model,
                                        bool sharesMemory, const std::string &output) {
  std::string runtime = findRuntimeFile(triple, "libingot_rt_core.a"), exportModel = "--export=" + model + "_model";
  if (runtime.empty()) {
    return llvm::createStringError(
        "libingot_rt_core.a for " + triple +
        " is neither beside the compiler in ../lib nor in its build folder: a build of ingot "
        "makes it where clang-22 is installed");
  }
  std::vector<const char *> arguments = {"--no-entry",
                                         "--strip-all",
                                         "--stack-first",
                                         "-z",
                                         "stack-size=262144",
                                         exportModel.c_str(),
                                         "--export=ingot_plan",
                                         "--export=ingot_run",
                                         "--export=ingot_found_dims",
                                         "--export=ingot_sizes_elements",
                                         "--export=ingot_error_text",
                                         "--export=ingot_module_exec",
                                         "--export=__heap_base"};
  if (sharesMemory) { // the support library's core has no atomic instructions, and needs none
    arguments.insert(arguments.end(),
                     {"--shared-memory", "--import-memory", "--max-memory=1073741824", "--no-check-features",
                      "--export=__stack_pointer", "--export=ingot_module_share", "--export=ingot_module_help"});
  }
  arguments.insert(arguments.end(), {"-o", output.c_str(), object.c_str(), runtime.c_str()});
  return link(Format::Wasm, arguments, "linking " + output);
}
