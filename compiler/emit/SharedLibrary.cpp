// The shared library is position independent code with no dependency: undefined symbols are an error, the support
// library's are hidden, and there is no build id or path that would make two links differ.
#include "compiler/emit/SharedLibrary.h"
#include "lld/Common/Driver.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)

using namespace llvm;

std::string ingot::emit::findRuntimeLibrary() {
  static int anchor;
  SmallString<256> installed(sys::path::parent_path(sys::fs::getMainExecutable(nullptr, &anchor)));
  sys::path::append(installed, "..", "lib", "libingot_rt.a");
  for (StringRef path : {installed.str(), StringRef(INGOT_BUILT_RUNTIME)}) {
    if (sys::fs::exists(path)) {
      return path.str();
    }
  }
  return "";
}

Error ingot::emit::linkSharedLibrary(const std::string &object, const std::string &runtime, const std::string &model,
                                     const std::string &output) {
  if (runtime.empty()) {
    return createStringError("libingot_rt.a is neither beside the compiler in ../lib nor in its build folder");
  }
  std::string name = "--soname=" + model + ".so";
  std::string messages;
  raw_string_ostream stream(messages);
  const char *arguments[] = {"ld.lld",
                             "-shared",
                             name.c_str(),
                             "-o",
                             output.c_str(),
                             object.c_str(),
                             runtime.c_str(),
                             "--exclude-libs=ALL",
                             "--gc-sections",
                             "--no-undefined",
                             "--hash-style=gnu",
                             "--build-id=none",
                             "-z",
                             "noexecstack",
                             "-z",
                             "relro",
                             "-z",
                             "now",
                             "--threads=1"};
  lld::Result result = lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0) {
    return createStringError("linking " + output + " failed: " + StringRef(messages).trim());
  }
  return Error::success();
}
