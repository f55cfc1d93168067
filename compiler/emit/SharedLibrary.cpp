// The shared library is position independent code with no dependency: undefined symbols are an error, the support
// library's are hidden, and there is no build id or path that would make two links differ.
#include "compiler/emit/SharedLibrary.h"
#include "lld/Common/Driver.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

LLD_HAS_DRIVER(elf)

using namespace llvm;

/// "aarch64-linux-gnu": without the vendor, which says nothing of the code.
static std::string folderOf(const Triple &triple) {
  StringRef environment = triple.getEnvironmentName();
  return (triple.getArchName() + "-" + triple.getOSName() + (environment.empty() ? "" : "-") + environment).str();
}

std::string ingot::emit::findRuntimeFile(StringRef text, StringRef name) {
  static int anchor;
  Triple triple(text), host(sys::getProcessTriple());
  bool here = triple.getArch() == host.getArch() && triple.getOS() == host.getOS();
  SmallString<256> installed(sys::path::parent_path(sys::fs::getMainExecutable(nullptr, &anchor)));
  sys::path::append(installed, "..", "lib");
  for (StringRef folder : {installed.str(), StringRef(INGOT_BUILT_RUNTIME)}) {
    SmallString<256> path(folder);
    sys::path::append(path, here ? "" : folderOf(triple), name);
    if (sys::fs::exists(path)) {
      return path.str().str();
    }
  }
  return "";
}

Error ingot::emit::linkSharedLibrary(const std::string &object, StringRef triple, const std::string &model,
                                     const std::string &output) {
  if (!Triple(triple).isOSBinFormatELF()) {
    return createStringError("--emit shared makes ELF libraries, and " + triple +
                             " has another format; link NAME.a there");
  }
  std::string runtime = findRuntimeFile(triple, "libingot_rt.a");
  if (runtime.empty()) {
    return createStringError("libingot_rt.a for " + triple +
                             " is neither beside the compiler in ../lib nor in its build folder");
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
