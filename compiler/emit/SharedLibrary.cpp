// Links NAME.so. The shared library is position independent code with no dependency: undefined symbols are an error,
// the support library's are hidden, and there is no build id or path that would make two links differ. Only a model
// that decodes images depends on libraries of the system: those that libingot_image.a was built with.
//
// The support library is that of the model's architecture: of the host's beside the compiler in ../lib, of another one
// in a folder below it that is called after the triple, or in the build folder of a compiler that is not installed.
#include "compiler/emit/SharedLibrary.h"
#include "compiler/emit/Linker.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

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

/// What a model that decodes images is linked with besides.
static Expected<std::vector<std::string>> imageLibraries(StringRef triple) {
  std::vector<std::string> files = {ingot::emit::findRuntimeFile(triple, "libingot_image.a")};
  if (files.front().empty()) {
    return createStringError("the model decodes images, and libingot_image.a for " + triple +
                             " is neither beside the compiler in ../lib nor in its build folder");
  }
  SmallVector<StringRef> libraries;
  StringRef(INGOT_IMAGE_LIBRARIES).split(libraries, ':', -1, /*KeepEmpty=*/false);
  for (StringRef library : libraries) {
    if (!sys::fs::exists(library)) {
      return createStringError("the model decodes images, and " + library + " is not there");
    }
    files.push_back(library.str());
  }
  return files;
}

Error ingot::emit::linkSharedLibrary(const std::string &object, StringRef triple, const std::string &model,
                                     const std::string &output, bool decodesImages) {
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
  std::vector<std::string> images;
  if (decodesImages) {
    Expected<std::vector<std::string>> files = imageLibraries(triple);
    if (!files) {
      return files.takeError();
    }
    images = std::move(*files);
  }
  std::vector<const char *> arguments = {"-shared",
                                         name.c_str(),
                                         "-o",
                                         output.c_str(),
                                         object.c_str(),
                                         runtime.c_str(),
                                         "--exclude-libs=ALL",
                                         "--gc-sections",
                                         "--no-undefined",
                                         "--hash-style=gnu",
                                         "-z",
                                         "noexecstack",
                                         "-z",
                                         "relro",
                                         "-z",
                                         "now"};
  for (const std::string &file : images) {
    arguments.push_back(file.c_str());
  }
  return link(Format::Elf, arguments, "linking " + output);
}
