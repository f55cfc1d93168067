#include "targets/cuda/Ptxas.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace llvm;

namespace ingot::targets::cuda {
namespace {

Expected<std::string> findPtxas() {
  const char *named = std::getenv("INGOT_PTXAS");
  if (named && !sys::fs::can_execute(named)) {
    return createStringError("+cubin wants ptxas, and INGOT_PTXAS names '" + Twine(named) + "', which is no program");
  }
  ErrorOr<std::string> found = named ? ErrorOr<std::string>(named) : sys::findProgramByName("ptxas");
  if (!found) {
    return createStringError("+cubin wants ptxas, NVIDIA's assembler, which is not on the path: install CUDA's toolkit "
                             "or the package nvidia-cuda-nvcc of PyPI, and name the program in INGOT_PTXAS; without "
                             "+cubin the driver assembles the code where the model is loaded");
  }
  return *found;
}

/// A file that is there as long as this is.
class Scratch {
public:
  static Expected<std::unique_ptr<Scratch>> make(StringRef suffix) {
    SmallString<128> path;
    if (std::error_code error = sys::fs::createTemporaryFile("ingot-kernels", suffix, path)) {
      return createStringError(error, "no file for ptxas can be made");
    }
    return std::unique_ptr<Scratch>(new Scratch(path));
  }
  const std::string path;

private:
  explicit Scratch(StringRef path) : path(path), remover(this->path) {}
  FileRemover remover;
};

Expected<std::string> contentOf(StringRef path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> read = MemoryBuffer::getFile(path, /*IsText=*/false, false);
  if (!read) {
    return createStringError(read.getError(), "cannot read what ptxas wrote");
  }
  return (*read)->getBuffer().str();
}

/// Returns the number before `unit` in what ptxas says of a kernel; -1 where it does not say.
int64_t numberBefore(StringRef text, StringRef unit) {
  size_t end = text.find(unit);
  StringRef before = end == StringRef::npos ? "" : text.take_front(end).rtrim();
  int64_t number = -1;
  (void)!to_integer(before.take_back(before.size() - before.find_last_not_of("0123456789") - 1), number);
  return number;
}

/// Takes what `ptxas -v` says of each kernel: "Compiling entry function 'NAME' for ...", then its needs.
void readNeeds(StringRef said, ArrayRef<std::string> kernels, std::vector<target::KernelNeeds> &needs) {
  SmallVector<StringRef> parts;
  said.split(parts, "Compiling entry function '");
  for (StringRef part : ArrayRef(parts).drop_front()) {
    const auto *kernel = find(kernels, part.take_until([](char c) { return c == '\''; }));
    if (kernel != kernels.end()) {
      target::KernelNeeds &own = needs[size_t(kernel - kernels.begin())];
      own.registers = numberBefore(part, " registers");
      own.scratchBytes = numberBefore(part, " bytes stack frame");
    }
  }
}

} // namespace

Expected<target::Image> machineCode(StringRef ptx, StringRef architecture, ArrayRef<std::string> kernels,
                                    std::vector<target::KernelNeeds> needs) {
  Expected<std::string> ptxas = findPtxas();
  if (!ptxas) {
    return ptxas.takeError();
  }
  std::unique_ptr<Scratch> files[3]; // the source, what becomes of it, and what is said
  for (auto [file, suffix] : zip_equal(files, ArrayRef<StringRef>{"ptx", "cubin", "txt"})) {
    Expected<std::unique_ptr<Scratch>> made = Scratch::make(suffix);
    if (!made) {
      return made.takeError();
    }
    file = std::move(*made);
  }
  std::error_code failure;
  raw_fd_ostream(files[0]->path, failure) << ptx.drop_back();
  if (failure) {
    return createStringError(failure, "no file for ptxas can be made");
  }
  std::string architectureFlag = "-arch=" + architecture.str();
  StringRef command[] = {*ptxas, "-v", architectureFlag, files[0]->path, "-o", files[1]->path};
  std::optional<StringRef> streams[] = {StringRef(), StringRef(files[2]->path), StringRef(files[2]->path)};
  std::string why;
  int code = sys::ExecuteAndWait(*ptxas, command, std::nullopt, streams, 0, 0, &why);
  Expected<std::string> said = contentOf(files[2]->path);
  if (!said) {
    return said.takeError();
  }
  if (code) {
    return createStringError("'" + *ptxas + "' does not assemble its code for " + architecture + ": " +
                             (why.empty() ? StringRef(*said).trim().str() : why));
  }
  Expected<std::string> made = contentOf(files[1]->path);
  if (!made) {
    return made.takeError();
  }
  readNeeds(*said, kernels, needs);
  return target::Image{architecture.str(), std::move(*made), std::move(needs)};
}

} // namespace ingot::targets::cuda
